//! A node: the real release binary with a data folder of its own, and its API.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{io::AsyncWriteExt as _, net::TcpStream, process::Command};

use crate::{
    process::{self, Process},
    receiver::now_ms,
    wire::{self, Connection},
};

/// The key of the first user.
pub(crate) const API_KEY: &str = "hw_benches";
const ANY_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
/// Environment of the machine that a node keeps: where Deno is.
const KEPT: [&str; 2] = ["HEADWATER_DENO", "HEADWATER_CACHE_DIR"];

/// Longer than a node works on after any load.
const PATIENCE: Duration = Duration::from_secs(300);
/// The time between two looks at an event.
const LOOK: Duration = Duration::from_millis(5);
/// The time between two looks at all metrics, which a node counts anew.
const GLANCE: Duration = Duration::from_millis(50);

/// A running node; dropping it kills it.
pub(crate) struct Node {
    process: Process,
    address: SocketAddr,
    data_dir: TempDir,
    program: Program,
    /// The API, as the node's first user.
    pub(crate) api: Api,
}

/// A build of the node, and how it is started.
struct Program {
    binary: PathBuf,
    descriptors: Option<u32>,
    /// The value of the variable that sets its clock.
    clock: Option<String>,
}

impl Program {
    fn of(binary: &Path) -> Self {
        Self {
            binary: binary.to_owned(),
            descriptors: None,
            clock: None,
        }
    }

    fn command(&self) -> Command {
        let mut command = match self.descriptors {
            None => Command::new(&self.binary),
            Some(descriptors) => {
                // The shell becomes the node, so that its process id is the node's.
                let limited = format!("ulimit -n {descriptors} && exec \"$0\" \"$@\"");
                let mut command = Command::new("sh");
                command.args(["-c", &limited]).arg(&self.binary);
                command
            }
        };
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("HEADWATER_") && !KEPT.contains(&&*name) {
                command.env_remove(&*name);
            }
        }
        if let Some(clock) = &self.clock {
            command.env("HEADWATER_TEST_CLOCK", clock);
        }
        command
    }
}

/// A connection to a node's API.
pub(crate) struct Api {
    connection: Connection,
    address: SocketAddr,
    key: String,
}

/// A deployed source.
pub(crate) struct Source {
    pub(crate) id: String,
    /// The path of its endpoint; empty without an HTTP interface.
    pub(crate) path: String,
}

impl Node {
    /// Starts a node of that build with these flags besides.
    pub(crate) async fn start(binary: &Path, flags: &[&str]) -> Result<Self> {
        Self::start_program(Program::of(binary), flags).await
    }

    /// The same with a bound on what the node may have open.
    pub(crate) async fn start_limited(
        binary: &Path,
        descriptors: Option<u32>,
        flags: &[&str],
    ) -> Result<Self> {
        let program = Program {
            descriptors,
            ..Program::of(binary)
        };
        Self::start_program(program, flags).await
    }

    /// The same with a clock that runs so many times as fast as time.
    pub(crate) async fn start_fast(binary: &Path, speed: f64, flags: &[&str]) -> Result<Self> {
        let program = Program {
            clock: Some(format!("{speed}@{:.0}", now_ms())),
            ..Program::of(binary)
        };
        Self::start_program(program, flags).await
    }

    /// Starts one that listens at an address which others have to know before.
    pub(crate) async fn start_at(
        binary: &Path,
        address: SocketAddr,
        flags: &[&str],
    ) -> Result<Self> {
        let folder = Self::new_folder()?;
        Self::start_in(folder, Program::of(binary), address, flags).await
    }

    async fn start_program(program: Program, flags: &[&str]) -> Result<Self> {
        Self::start_in(Self::new_folder()?, program, ANY_PORT, flags).await
    }

    fn new_folder() -> Result<TempDir> {
        // On the disk of the build: a folder for temporary files may be memory, which syncs for free.
        let folder = process::own_path()?.with_file_name("bench-data");
        std::fs::create_dir_all(&folder)?;
        Ok(TempDir::new_in(folder)?)
    }

    async fn start_in(
        data_dir: TempDir,
        program: Program,
        listen: SocketAddr,
        flags: &[&str],
    ) -> Result<Self> {
        let mut command = program.command();
        command
            .env("HEADWATER_API_KEY", API_KEY)
            .args(["serve", "--listen", &listen.to_string(), "--data-dir"])
            .arg(data_dir.path())
            .args(flags);
        let (process, address) = Process::start(&mut command).await?;
        let api = Api::open(address, API_KEY).await?;
        Ok(Self {
            process,
            address,
            data_dir,
            program,
            api,
        })
    }

    /// The same node again after `kill -9`; also how long it took to be ready.
    pub(crate) async fn restart(self, flags: &[&str]) -> Result<(Self, Duration)> {
        let Self {
            process,
            data_dir,
            program,
            ..
        } = self;
        process.kill().await?;
        let begun = Instant::now();
        let node = Self::start_in(data_dir, program, ANY_PORT, flags).await?;
        Ok((node, begun.elapsed()))
    }

    pub(crate) fn process(&self) -> &Process {
        &self.process
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn data_dir(&self) -> &Path {
        self.data_dir.path()
    }

    /// Worker processes, warm ones too.
    pub(crate) fn workers(&self) -> usize {
        process::children(self.process.pid()).len()
    }

    /// A connection on which the request for a stream has been sent.
    pub(crate) async fn stream(&self, path: &str) -> Result<TcpStream> {
        let headers = format!("authorization: Bearer {API_KEY}\r\n");
        let request = wire::request("GET", self.address, path, &headers, "");
        let mut stream = TcpStream::connect(self.address).await?;
        stream.write_all(&request).await?;
        Ok(stream)
    }

    /// A further connection to the API.
    pub(crate) async fn connect(&self) -> Result<Api> {
        self.connect_with(API_KEY).await
    }

    /// The API as whoever has that key.
    pub(crate) async fn connect_with(&self, key: &str) -> Result<Api> {
        Api::open(self.address, key).await
    }

    /// Waits until a gauge of its metrics is 0.
    pub(crate) async fn until_none(&self, gauge: &str) -> Result<()> {
        let mut connection = Connection::open(self.address).await?;
        let request = wire::request("GET", self.address, "/metrics", "", "");
        let until = Instant::now() + PATIENCE;
        loop {
            let (_, metrics) = connection.exchange(&request).await?;
            let metrics = String::from_utf8_lossy(metrics);
            let mut gauges = metrics.lines().filter_map(|line| line.split_once(' '));
            let found = gauges.find(|(name, _)| *name == gauge);
            let (_, value) = found.with_context(|| format!("the node has no `{gauge}`"))?;
            if value == "0" {
                return Ok(());
            }
            if Instant::now() > until {
                bail!("`{gauge}` is still {value}");
            }
            tokio::time::sleep(GLANCE).await;
        }
    }

    /// A new user's API.
    pub(crate) async fn user(&mut self, name: &str) -> Result<Api> {
        let user = json!({ "username": name, "email": format!("{name}@example.com") });
        let user = self.api.call("POST", "/v1/users", &user).await?;
        self.connect_with(text(&user, "api_key")?).await
    }

    /// Bytes that its store takes on disk.
    pub(crate) fn stored_bytes(&self) -> u64 {
        let files = ["headwater.db", "headwater.db-wal"];
        let sizes = files.map(|file| std::fs::metadata(self.data_dir().join(file)));
        sizes.into_iter().flatten().map(|file| file.len()).sum()
    }
}

impl Api {
    async fn open(address: SocketAddr, key: &str) -> Result<Self> {
        Ok(Self {
            connection: Connection::open(address).await?,
            address,
            key: key.to_owned(),
        })
    }

    /// A further connection, as the same user.
    pub(crate) async fn again(&self) -> Result<Self> {
        Self::open(self.address, &self.key).await
    }

    /// A request; the `data` of its answer, null if there is none.
    pub(crate) async fn call(&mut self, method: &str, path: &str, body: &Value) -> Result<Value> {
        let headers = format!("authorization: Bearer {}\r\n", self.key);
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let request = wire::request(method, self.address, path, &headers, &body);
        if self.connection.is_closed() {
            // The node ends connections that nobody has used for a while.
            self.connection = Connection::open(self.address).await?;
        }
        let (status, answer) = self.connection.exchange(&request).await?;
        if !(200..300).contains(&status) {
            bail!(
                "{method} {path} was answered with {status}: {}",
                String::from_utf8_lossy(answer)
            );
        }
        if answer.is_empty() {
            return Ok(Value::Null);
        }
        let mut answer: Value = serde_json::from_slice(answer)?;
        Ok(match answer.get_mut("data") {
            Some(data) => data.take(),
            None => answer,
        })
    }

    /// Saves code; the component's id.
    pub(crate) async fn save(&mut self, code: &str) -> Result<String> {
        let saved = self
            .call("POST", "/v1/components", &json!({ "component_code": code }))
            .await?;
        Ok(text(&saved, "id")?.to_owned())
    }

    /// Deploys a saved component.
    pub(crate) async fn deploy(&mut self, component: &str) -> Result<Source> {
        self.deploy_with(component, json!({})).await
    }

    /// The same with values of props.
    pub(crate) async fn deploy_with(&mut self, component: &str, props: Value) -> Result<Source> {
        let request = json!({ "component_id": component, "configured_props": props });
        let source = self.call("POST", "/v1/sources", &request).await?;
        let props = source["configured_props"].as_object();
        let mut urls = props
            .into_iter()
            .flatten()
            .filter_map(|(_, prop)| prop["endpoint_url"].as_str());
        // `http://host/path`
        let path = urls.next().and_then(|url| url.splitn(4, '/').nth(3));
        let path = path.map(|path| format!("/{path}")).unwrap_or_default();
        Ok(Source {
            id: text(&source, "id")?.to_owned(),
            path,
        })
    }

    /// Waits until the source's newest event says that it is number `count`.
    pub(crate) async fn wait_for_count(&mut self, source: &Source, count: usize) -> Result<()> {
        let path = format!(
            "/v1/sources/{}/event_summaries?limit=1&expand=event",
            source.id
        );
        let deadline = Instant::now() + PATIENCE;
        loop {
            let newest = self.call("GET", &path, &Value::Null).await?;
            let number = newest[0]["event"]["n"].as_u64();
            if number >= Some(count as u64) {
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!("the node did not finish its runs: {number:?} of {count}");
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

fn text<'a>(value: &'a Value, field: &str) -> Result<&'a str> {
    value[field]
        .as_str()
        .with_context(|| format!("no `{field}` in {value}"))
}
