//! Every page in both themes and three widths: for everybody to use, nothing cut off, and nothing against its policy. With
//! `HEADWATER_TEST_LOOKS=1` pictures are left in the target folder, for eyes. A section is a test of its own, so that they run
//! side by side.

mod rest;
mod sections;

use std::path::PathBuf;

use headwater_integration::{Chromium, Look, Node, Tab, tell};

/// Set where somebody wants to look at the pictures: taking them is a quarter of the work.
const PICTURES: &str = "HEADWATER_TEST_LOOKS";

/// The narrowest comes first: a page that loads there has its menu closed.
const WIDTHS: [u32; 3] = [360, 768, 1440];
/// The width at which pages are read without scrolling sideways when somebody magnifies them fourfold (WCAG 1.4.10).
const MAGNIFIED: u32 = 320;

/// Things that have moved since the page was shown, without anybody who pressed something, the score of that (0: nothing did),
/// and the milliseconds until the largest thing was shown.
const PAINTED: &str = "const of = (type) => new Promise((done) => {
      new PerformanceObserver((list) => done(list.getEntries())).observe({ type, buffered: true });
      setTimeout(() => done([]), 1000);
    });
    const largest = (await of('largest-contentful-paint')).at(-1)?.startTime ?? 0;
    const observer = new PerformanceObserver(() => {});
    observer.observe({ type: 'layout-shift', buffered: true });
    const shifts = observer.takeRecords().filter((one) => !one.hadRecentInput);
    const told = ({ node, previousRect: then, currentRect: now }) =>
      `${node?.nodeName} ${node?.textContent.trim().slice(0, 40)}: ${then.x},${then.y} to ${now.x},${now.y}`;
    return { largest: Math.round(largest), score: shifts.reduce((sum, one) => sum + one.value, 0),
      moved: shifts.flatMap((one) => one.sources.map(told)) };";
/// The score from which people see that a page moves.
const MOVES: f64 = 0.01;

/// A page, by the name of its picture.
pub(super) type Page = (&'static str, String);

pub(super) fn pictures() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target");
    let folder = target.unwrap_or(root).join("pictures");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Looks at the pages of a node, each loaded once, and fails with all that is wrong with them.
pub(super) async fn look_at(node: &Node, pages: &[Page]) {
    let browser = Chromium::start().await;
    let tab = browser.signed_in(node).await;
    let mut faults = Vec::new();
    for (name, path) in pages {
        tab.look(look(WIDTHS[0], false)).await;
        tab.open(path).await;
        let painted = tab.run(PAINTED).await;
        tell(&format!("{name}: shown after {} ms", painted["largest"]));
        if painted["score"].as_f64().unwrap() >= MOVES {
            faults.push(format!("{name}: moves while it loads: {painted:#}"));
        }
        faults.extend(every_look(&tab, name).await);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Looks at the page that is shown, and tells all that is wrong with it.
pub(super) async fn every_look(tab: &Tab<'_>, name: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if tab.sees("h1").await == "The node failed" {
        faults.push(format!("{name}: the node failed"));
    }
    for width in WIDTHS {
        for is_dark in [false, true] {
            tab.look(look(width, is_dark)).await;
            let theme = if is_dark { "dark" } else { "light" };
            let found = faults_of(tab, width, is_dark).await.into_iter();
            faults.extend(found.map(|fault| format!("{name}, {width} px, {theme}: {fault}")));
            if std::env::var_os(PICTURES).is_some() {
                let file = pictures().join(format!("{name}-{width}-{theme}.png"));
                std::fs::write(file, tab.picture().await).unwrap();
            }
        }
    }
    tab.look(look(MAGNIFIED, false)).await;
    let sideways = scrolls_sideways(tab, MAGNIFIED).await.into_iter();
    faults.extend(sideways.map(|fault| format!("{name}, {MAGNIFIED} px: {fault}")));
    let problems = tab.problems().await.into_iter();
    faults.extend(problems.map(|problem| format!("{name}: {problem}")));
    faults
}

fn look(width: u32, is_dark: bool) -> Look {
    Look { width, is_dark }
}

/// Everything that is wrong with the page as it looks now. Only colours differ between the themes.
async fn faults_of(tab: &Tab<'_>, width: u32, is_dark: bool) -> Vec<String> {
    let mut faults = match is_dark {
        false => tab.barriers().await,
        true => tab.barriers_of_colour().await,
    };
    faults.extend(scrolls_sideways(tab, width).await);
    faults
}

async fn scrolls_sideways(tab: &Tab<'_>, width: u32) -> Option<String> {
    let across = tab.evaluate("document.documentElement.scrollWidth").await;
    if across.as_u64().unwrap() <= u64::from(width) {
        return None;
    }
    let widest = tab.widest(width).await;
    Some(format!("scrolls sideways, {across} px: {widest}"))
}
