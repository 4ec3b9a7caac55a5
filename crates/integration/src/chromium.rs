//! A real browser, driven from outside: Chromium without a window, with a profile of its own.

mod hand;

use std::{
    mem::ManuallyDrop,
    path::PathBuf,
    process::Command,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use thirtyfour::{
    CapabilitiesHelper as _, ChromiumLikeCapabilities as _, DesiredCapabilities, Key, WebDriver,
    prelude::ElementQueryable as _,
};

use crate::{node::Node, process::Process};

/// Chromium without what draws windows: a page takes it a third less of the processors' time.
const BROWSER: &str = "/usr/bin/chromium-headless-shell";
/// The driver's name for it.
const BROWSER_NAME: &str = "chrome-headless-shell";
/// The line with which the driver says where it listens.
const STARTED: &str = "ChromeDriver was started successfully on port ";
/// Generous: the machine may do a lot besides.
const FOUND_WITHIN: Duration = Duration::from_secs(30);
const ASKED_EVERY: Duration = Duration::from_millis(50);
/// How often something is tried that other things of the machine or of the page may spoil.
const TRIES: usize = 10;
/// The driver's last words when it has no port.
const PORT_TAKEN: &str = "port not available";

/// Notes everything that a page does wrong, and the streams that it has open, from before its first script on.
const WATCH: &str = r#"
    window.__problems = [];
    const note = (kind, text) => window.__problems.push(`${kind}: ${text}`);
    document.addEventListener("securitypolicyviolation", (event) =>
        note("policy", `${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
    window.addEventListener("error", (event) => note("error", event.message));
    window.addEventListener("unhandledrejection", (event) => note("rejection", String(event.reason)));
    window.__streams = new Set();
    window.EventSource = class extends EventSource {
        constructor(...given) { super(...given); window.__streams.add(this); }
        close() { super.close(); window.__streams.delete(this); }
    };
"#;

/// How a browser looks at pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// In pixels.
    pub width: u32,
    /// Whether the person prefers light letters on dark ground.
    pub is_dark: bool,
}

/// A browser. Dropping it ends it.
pub struct Chromium {
    /// Never dropped: it would ask the driver to end the session, and wait for two minutes. The processes are killed.
    driver: ManuallyDrop<WebDriver>,
    _process: Process,
    _profile: Profile,
}

/// A driver of browsers, and its port. It takes a free port of IPv6 and wants the same one of IPv4, which another process
/// may have: it ends then, and another try finds another.
fn chromedriver() -> (Process, u16) {
    let is_ready = |line: &str| {
        let (_, port) = line.split_once(STARTED)?;
        port.trim_end_matches('.').parse().ok()
    };
    let start = || {
        let mut command = Command::new("chromedriver");
        Process::attempt("chromedriver", command.arg("--port=0"), is_ready)
    };
    for _ in 0..TRIES {
        match start() {
            Err(error) if error.contains(PORT_TAKEN) => {}
            started => return started.unwrap_or_else(|error| panic!("{error}")),
        }
    }
    panic!("chromedriver finds no port in {TRIES} tries");
}

/// The folder of a browser's profile. Dropping it ends the browser that still has it: one outlives a driver that is killed,
/// as it is by a test that fails.
struct Profile(TempDir);

impl Profile {
    fn new() -> Self {
        Self(TempDir::with_prefix("headwater-chromium-").unwrap())
    }

    fn flag(&self) -> String {
        format!("--user-data-dir={}", self.0.path().display())
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        let flag = self.flag();
        for process in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let command = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            let mut arguments = command.split(|byte| *byte == 0);
            let pid = process
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok());
            if let Some(pid) = pid.and_then(Pid::from_raw)
                && arguments.any(|argument| argument == flag.as_bytes())
            {
                // It may have ended by itself.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}

/// The one page that a browser shows.
pub struct Tab<'a> {
    browser: &'a Chromium,
    base: String,
}

impl Chromium {
    /// Starts a browser.
    pub async fn start() -> Self {
        Self::with_flags(&[]).await
    }

    /// A browser that reaches the node at the address that it says it has, which is one of HTTP without a port.
    pub async fn reaching(url: &str, node: &Node) -> Self {
        let host = url.trim_start_matches("http://");
        let mapped = format!("MAP {host}:80 {}", node.address());
        Self::with_flags(&[format!("--host-resolver-rules={mapped}")]).await
    }

    async fn with_flags(flags: &[String]) -> Self {
        let (process, port) = tokio::task::spawn_blocking(chromedriver).await.unwrap();
        let profile = Profile::new();
        let mut capabilities = DesiredCapabilities::chrome();
        for argument in [
            // The tests may run as root.
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--disable-gpu",
            "--hide-scrollbars",
            "--force-color-profile=srgb",
        ] {
            capabilities.add_arg(argument).unwrap();
        }
        for flag in flags.iter().chain([&profile.flag()]) {
            capabilities.add_arg(flag).unwrap();
        }
        capabilities.set_binary(BROWSER).unwrap();
        capabilities.set("browserName", BROWSER_NAME).unwrap();
        let url = format!("http://127.0.0.1:{port}");
        let driver = WebDriver::new(url, capabilities).await.unwrap();
        let browser = Self {
            driver: ManuallyDrop::new(driver),
            _process: process,
            _profile: profile,
        };
        let watch = json!({"source": WATCH});
        browser
            .command("Page.addScriptToEvaluateOnNewDocument", watch)
            .await;
        browser
    }

    /// The page, which is signed in to that node.
    pub async fn signed_in(&self, node: &Node) -> Tab<'_> {
        let tab = self.at(node);
        tab.open("/signin").await;
        tab.write("#key", node.api_key()).await;
        tab.press("button.primary").await;
        // The page that signs in has no menu.
        tab.sees(".sidebar").await;
        tab
    }

    /// The page, on that node.
    pub fn at(&self, node: &Node) -> Tab<'_> {
        Tab {
            browser: self,
            base: node.url(),
        }
    }

    async fn command(&self, name: &str, parameters: Value) -> Value {
        let done = self.driver.cdp().send_raw(name, parameters).await;
        done.unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

impl Tab<'_> {
    fn driver(&self) -> &WebDriver {
        &self.browser.driver
    }

    /// Opens a page of the node.
    pub async fn open(&self, path: &str) {
        let url = match path.starts_with("http") {
            true => path.to_owned(),
            false => format!("{}{path}", self.base),
        };
        let opened = self.driver().goto(&url).await;
        opened.unwrap_or_else(|error| panic!("{url}: {error}"));
    }

    /// The path and the query of the page that is shown.
    pub async fn path(&self) -> String {
        let url = self.driver().current_url().await.unwrap();
        match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        }
    }

    /// Waits until the page with this path, and query, is shown.
    pub async fn arrives_at(&self, path: &str) {
        let deadline = Instant::now() + FOUND_WITHIN;
        while self.path().await != path {
            let is_late = Instant::now() >= deadline;
            assert!(!is_late, "not at {path}, but at {}", self.path().await);
        }
    }

    /// Waits until an element is there, and returns its text.
    pub async fn sees(&self, selector: &str) -> String {
        // The page may go while it is read; the one that comes is meant.
        for _ in 0..TRIES {
            if let Ok(text) = self.element(selector).await.text().await {
                return text;
            }
        }
        panic!("`{selector}` at {} cannot be read", self.path().await);
    }

    /// Waits until an element contains the text.
    pub async fn sees_text(&self, selector: &str, text: &str) {
        let wanted = text.to_owned();
        let found = self
            .driver()
            .query(thirtyfour::By::Css(selector))
            .with_filter(move |element: thirtyfour::WebElement| {
                let wanted = wanted.clone();
                async move {
                    Ok(element
                        .text()
                        .await
                        .is_ok_and(|text| text.contains(&wanted)))
                }
            })
            .wait(FOUND_WITHIN, ASKED_EVERY)
            .first()
            .await;
        if found.is_err() {
            panic!(
                "no `{selector}` with `{text}` at {}: {}",
                self.path().await,
                self.text().await
            );
        }
    }

    async fn element(&self, selector: &str) -> thirtyfour::WebElement {
        let query = self.driver().query(thirtyfour::By::Css(selector));
        match query.wait(FOUND_WITHIN, ASKED_EVERY).first().await {
            Ok(element) => element,
            Err(_) => panic!(
                "no `{selector}` at {}: {}",
                self.path().await,
                self.text().await
            ),
        }
    }

    /// The text of the whole page.
    pub async fn text(&self) -> String {
        let body = self.driver().find(thirtyfour::By::Css("body")).await;
        match body {
            Ok(body) => body.text().await.unwrap_or_default(),
            Err(error) => error.to_string(),
        }
    }

    /// The number of elements that are there now.
    pub async fn count(&self, selector: &str) -> usize {
        let found = self.driver().find_all(thirtyfour::By::Css(selector)).await;
        found.unwrap_or_default().len()
    }

    /// Presses keys, which go to the element that has the focus.
    pub async fn type_keys(&self, keys: impl Into<thirtyfour::TypingData>) {
        let keys = self.driver().action_chain().send_keys(keys);
        keys.perform().await.unwrap();
    }

    /// Presses a key while others are held, in the element that has the focus.
    pub async fn chord(&self, keys: impl Into<thirtyfour::TypingData>) {
        let active = self.driver().active_element().await.unwrap();
        active.send_keys(keys).await.unwrap();
    }

    /// Selects all of the field that has the focus, as Ctrl+A does.
    pub async fn select_all(&self) {
        let keys = self.driver().action_chain().key_down(Key::Control);
        let keys = keys.send_keys("a").key_up(Key::Control);
        keys.perform().await.unwrap();
    }

    /// Goes to the tab that was opened as the nth, counted from 0. The page that it shows gets the focus.
    pub async fn goes_to_tab(&self, nth: usize) {
        let deadline = Instant::now() + FOUND_WITHIN;
        let tab = loop {
            let tabs = self.driver().windows().await.unwrap();
            match tabs.get(nth) {
                Some(tab) => break tab.clone(),
                None => assert!(Instant::now() < deadline, "no tab {nth} was opened"),
            }
        };
        self.driver().switch_to_window(tab).await.unwrap();
        self.evaluate("void window.dispatchEvent(new Event('focus'))")
            .await;
    }

    /// Waits until so many tabs are left.
    pub async fn has_tabs(&self, count: usize) {
        let deadline = Instant::now() + FOUND_WITHIN;
        while self.driver().windows().await.unwrap().len() != count {
            assert!(Instant::now() < deadline, "there are not {count} tabs");
        }
    }

    /// Lets pages run no script of theirs from now on.
    pub async fn run_no_script(&self) {
        self.browser
            .command(
                "Emulation.setScriptExecutionDisabled",
                json!({"value": true}),
            )
            .await;
    }

    /// The value of an expression of the page.
    pub async fn evaluate(&self, expression: &str) -> Value {
        let script = format!("return {expression};");
        let returned = self.driver().execute(script, Vec::new()).await;
        let returned = returned.unwrap_or_else(|error| panic!("{expression}: {error}"));
        returned.json().clone()
    }

    /// The value that an asynchronous function of the page returns.
    pub async fn run(&self, body: &str) -> Value {
        let script = format!(
            "const done = arguments[arguments.length - 1]; (async () => {{ {body} }})().then(done, (error) => done({{ error: String(error) }}));"
        );
        let returned = self.driver().execute_async(script, Vec::new()).await;
        returned
            .unwrap_or_else(|error| panic!("{body}: {error}"))
            .json()
            .clone()
    }

    /// Changes how the person looks at the pages from now on.
    pub async fn look(&self, look: Look) {
        let theme = if look.is_dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": theme}]);
        self.browser
            .command("Emulation.setEmulatedMedia", json!({"features": features}))
            .await;
        let metrics = json!({
            "width": look.width, "height": 900, "deviceScaleFactor": 1, "mobile": look.width < 500,
        });
        self.browser
            .command("Emulation.setDeviceMetricsOverride", metrics)
            .await;
    }

    /// A picture of the upper left of the page in light colours, as PNG.
    pub async fn picture_of(&self, width: u32, height: u32) -> Vec<u8> {
        let metrics = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
        });
        self.browser
            .command("Emulation.setDeviceMetricsOverride", metrics)
            .await;
        self.picture().await
    }

    /// Everything that pages did wrong since the last one was opened: against their policy, or by throwing.
    pub async fn problems(&self) -> Vec<String> {
        let noted = self.evaluate("window.__problems ?? []").await;
        let noted = noted.as_array().cloned().unwrap_or_default();
        noted
            .iter()
            .map(|problem| problem.as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// Some of the elements that reach beyond the right edge of a window of that width, the innermost last.
    pub async fn widest(&self, width: u32) -> String {
        let expression = format!(
            "[...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > {width} + 1
                && !one.parentElement.closest('.tabs, .tree, .log, .graph, pre, .unseen'))
                .slice(-3).map((one) => one.cloneNode(false).outerHTML.slice(0, 120)).join(' ')"
        );
        let found = self.evaluate(&expression).await;
        found.as_str().unwrap_or_default().to_owned()
    }

    /// The number of streams that the page has open.
    pub async fn streams(&self) -> u64 {
        let count = self.evaluate("window.__streams.size").await;
        count.as_u64().unwrap_or_default()
    }

    /// Lets the page believe that its tab is in the background, or in front again.
    pub async fn cover(&self, is_hidden: bool) {
        let script = format!(
            "void (Object.defineProperty(document, 'hidden', {{ configurable: true, value: {is_hidden} }}), \
             document.dispatchEvent(new Event('visibilitychange')))"
        );
        self.evaluate(&script).await;
    }

    /// The bytes that scripts of the page hold, once the rest is collected.
    pub async fn heap_bytes(&self) -> u64 {
        self.browser
            .command("HeapProfiler.collectGarbage", json!({}))
            .await;
        let used = self.browser.command("Runtime.getHeapUsage", json!({}));
        used.await["usedSize"].as_f64().unwrap() as u64
    }

    /// The barriers that keep people from using the page, by axe's rules of WCAG 2.2 A and AA, each with its first place.
    pub async fn barriers(&self) -> Vec<String> {
        self.found_by_axe("{ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }")
            .await
    }

    /// Those of them that depend on colours.
    pub async fn barriers_of_colour(&self) -> Vec<String> {
        self.found_by_axe(
            "{ runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } }",
        )
        .await
    }

    async fn found_by_axe(&self, options: &str) -> Vec<String> {
        if self.evaluate("typeof axe").await == "undefined" {
            self.load_axe().await;
        }
        let script = format!(
            "const result = await axe.run(document, {options});
             return result.violations.map((one) => `${{one.id}}: ${{one.nodes[0].html}} ${{one.nodes[0].failureSummary}}`);"
        );
        let found = self.run(&script).await;
        let found = found
            .as_array()
            .unwrap_or_else(|| panic!("axe did not run: {found}"));
        found
            .iter()
            .map(|one| one.as_str().unwrap_or_default().to_owned())
            .collect()
    }

    async fn load_axe(&self) {
        let axe = std::env::var_os("HEADWATER_TEST_AXE").map(PathBuf::from);
        let axe = axe.expect("`cargo xtask test` sets HEADWATER_TEST_AXE to axe-core's axe.min.js");
        let script = std::fs::read_to_string(&axe).unwrap();
        self.driver().execute(script, Vec::new()).await.unwrap();
    }

    /// A picture of the whole page, as PNG.
    pub async fn picture(&self) -> Vec<u8> {
        self.driver().screenshot_as_png().await.unwrap()
    }
}
