//! A node: the real binary with a data folder of its own, reached over HTTP.

use std::{
    net::SocketAddr,
    ops::Deref,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
    sync::Arc,
};

use tempfile::TempDir;

use crate::{
    binary,
    client::Client,
    database::{DATABASE_URL, Database},
    disk::Disk,
    https,
    process::{self, Process},
    receiver::Receiver,
};

const API_KEY: &str = "hw_0123456789abcdef-of-the-tests";
/// The text that a node prints before its URL, once it serves.
const READY: &str = "is ready on ";
/// Settings of the machine that a node under test keeps: where the runtime is.
const KEPT: [&str; 2] = ["HEADWATER_DENO", "HEADWATER_CACHE_DIR"];

/// How to start a node.
#[derive(Debug, Default)]
pub struct NodeBuilder {
    flags: Vec<String>,
    environment: Vec<(String, String)>,
    disk: Option<Disk>,
    data_dir: Option<TempDir>,
    api_key: Option<Option<String>>,
    has_own_address: bool,
    /// 0: the node chooses one.
    port: u16,
    trusts_authority: bool,
    open_files: Option<u32>,
    program: Option<PathBuf>,
    database: Option<Arc<Database>>,
}

/// A running node; dropping it kills it. Requests go to it directly: `node.get("/users/me")`.
pub struct Node {
    process: Process,
    client: Client,
    address: SocketAddr,
    /// Given back before the folder it is in is removed.
    _disk: Option<Disk>,
    data_dir: TempDir,
    flags: Vec<String>,
    environment: Vec<(String, String)>,
    open_files: Option<u32>,
    program: PathBuf,
    api_key: String,
    /// Deleted once the process has ended.
    database: Option<Arc<Database>>,
}

impl NodeBuilder {
    /// Adds a flag of `serve`.
    #[must_use]
    pub fn flag(mut self, flag: &str) -> Self {
        self.flags.push(flag.to_owned());
        self
    }

    /// Lets components reach servers of the test.
    #[must_use]
    pub fn private_network(self) -> Self {
        self.flag("--allow-private-network=127.0.0.0/8")
    }

    /// Trusts the authority that issues the certificates of servers of the test.
    #[must_use]
    pub fn trusting_authority(mut self) -> Self {
        self.trusts_authority = true;
        self
    }

    /// Leads the hosts of a server of the test to it, and trusts its certificate.
    #[must_use]
    pub fn reaching(mut self, server: &Receiver) -> Self {
        self = self.trusting_authority();
        for host in server.hosts() {
            self.flags
                .push(format!("--resolve={host}={}", server.address()));
        }
        self
    }

    /// Listens on a loopback address that no other test uses, so that nobody takes its port while it is
    /// down.
    #[must_use]
    pub fn own_address(mut self) -> Self {
        self.has_own_address = true;
        self
    }

    /// Knows its port before it is started, as nodes that tell others of it do.
    pub(crate) fn at_a_port_of_its_own(mut self) -> Self {
        self.port = process::free_port(self.listens_at().ip());
        self
    }

    /// The address that it is to listen on.
    pub(crate) fn listens_at(&self) -> SocketAddr {
        let [_, second, third, fourth] = std::process::id().to_be_bytes();
        let ip = match self.has_own_address {
            true => [127, 128 | second, third, fourth],
            false => [127, 0, 0, 1],
        };
        SocketAddr::from((ip, self.port))
    }

    /// Adds an environment variable of the node.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Lets the process open no more files than these.
    #[must_use]
    pub fn open_files(mut self, most: u32) -> Self {
        self.open_files = Some(most);
        self
    }

    /// Is of another version of the program.
    #[must_use]
    pub fn program(mut self, path: &Path) -> Self {
        self.program = Some(path.to_owned());
        self
    }

    fn folder(&mut self) -> &Path {
        let new = || TempDir::with_prefix("headwater-node-").unwrap();
        self.data_dir.get_or_insert_with(new).path()
    }

    /// Puts a file into its data folder.
    #[must_use]
    pub fn file(mut self, path: &str, text: &str) -> Self {
        let path = self.folder().join(path);
        std::fs::create_dir_all(path.parent().expect("files are in the folder")).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// Gives its data folder a disk of its own of so many MiB. `None` where this process may not mount one.
    #[must_use]
    pub fn small_disk(mut self, mib: u32) -> Option<Self> {
        let folder = self.folder();
        self.disk = Some(Disk::mount(folder, mib)?);
        Some(self)
    }

    /// Puts what a node that has stopped left of its store into its data folder: the main file alone.
    #[must_use]
    pub fn store_file_of(mut self, other: &Node) -> Self {
        let folder = self.folder();
        std::fs::copy(
            other.data_dir().join("headwater.db"),
            folder.join("headwater.db"),
        )
        .unwrap();
        self
    }

    /// Begins with what `headwater restore` makes of a backup.
    #[must_use]
    pub fn restored_from(mut self, backup: &Path) -> Self {
        let folder = self.folder();
        let mut restore = Command::new(binary::path());
        restore
            .arg("restore")
            .arg(backup)
            .arg("--data-dir")
            .arg(folder);
        assert!(restore.status().unwrap().success());
        self
    }

    /// Begins with a copy of another node's data folder, as it is this moment.
    #[must_use]
    pub fn copy_of(self, other: &Node) -> Self {
        self.copy_of_folder(other.data_dir())
    }

    /// Begins with a copy of a data folder.
    #[must_use]
    pub fn copy_of_folder(mut self, other: &Path) -> Self {
        let folder = self.folder();
        let mut copy = Command::new("cp");
        copy.arg("-a").arg(other.join(".")).arg(folder);
        assert!(copy.status().unwrap().success());
        self
    }

    /// Leaves it to the node to make its first key.
    #[must_use]
    pub fn without_key(mut self) -> Self {
        self.api_key = Some(None);
        self
    }

    /// Has its store in that database.
    #[must_use]
    pub fn database(mut self, database: &Arc<Database>) -> Self {
        self.database = Some(Arc::clone(database));
        self
    }

    /// Starts it and waits until it serves.
    pub async fn start(self) -> Node {
        self.start_until(serves).await
    }

    /// Starts it and waits until it prints a line in which `is_there` finds its address.
    pub(crate) async fn start_until(
        mut self,
        is_there: impl Fn(&str) -> Option<SocketAddr> + Send + 'static,
    ) -> Node {
        let mut given = self.environment.iter();
        if !given.any(|(name, _)| name == DATABASE_URL) {
            self.database = self.database.or_else(Database::asked_for);
            let url = self.database.as_ref().map(|database| database.url());
            self.environment
                .extend(url.map(|url| (DATABASE_URL.to_owned(), url)));
        }
        let listen = self.listens_at();
        let data_dir = self
            .data_dir
            .unwrap_or_else(|| TempDir::with_prefix("headwater-node-").unwrap());
        if self.trusts_authority {
            let file = data_dir.path().join("authority-of-the-tests.pem");
            std::fs::write(&file, https::authority()).unwrap();
            self.flags
                .push(format!("--ca-certificate={}", file.display()));
        }
        let given = self.api_key.unwrap_or_else(|| Some(API_KEY.to_owned()));
        let environment: Vec<_> = given
            .iter()
            .map(|key| ("HEADWATER_API_KEY".to_owned(), key.clone()))
            .chain(self.environment)
            .collect();
        let program = self.program.unwrap_or_else(binary::path);
        let command = command(&program, listen, data_dir.path(), self.open_files);
        let (process, address) = serve(command, &self.flags, &environment, is_there).await;
        let api_key = given.unwrap_or_else(|| read_key(data_dir.path()));
        let client = Client::new(url(&self.flags, address), Some(api_key.clone()));
        Node {
            process,
            client,
            address,
            _disk: self.disk,
            data_dir,
            flags: self.flags,
            environment,
            open_files: self.open_files,
            program,
            api_key,
            database: self.database,
        }
    }
}

/// The command that serves; its flags follow.
fn command(
    program: &Path,
    listen: SocketAddr,
    data_dir: &Path,
    open_files: Option<u32>,
) -> Command {
    let mut command = match open_files {
        None => Command::new(program),
        Some(most) => {
            let mut command = Command::new("sh");
            let script = format!("ulimit -n {most} && exec \"$0\" \"$@\"");
            command.args(["-c", &script]).arg(program);
            command
        }
    };
    command
        .args([
            "serve",
            "--listen",
            &listen.to_string(),
            "--warm-workers",
            "1",
            "--data-dir",
        ])
        .arg(data_dir);
    command
}

/// Starts the binary; a thread of its own waits, so that the servers of the test go on meanwhile.
async fn serve(
    mut command: Command,
    flags: &[String],
    environment: &[(String, String)],
    is_there: impl Fn(&str) -> Option<SocketAddr> + Send + 'static,
) -> (Process, SocketAddr) {
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("HEADWATER_") && !KEPT.contains(&&*name) {
            command.env_remove(&*name);
        }
    }
    command
        .args(flags)
        .envs(environment.iter().map(|(name, value)| (name, value)));
    let started =
        tokio::task::spawn_blocking(move || Process::start("the node", &mut command, is_there));
    started
        .await
        .unwrap_or_else(|failed| std::panic::resume_unwind(failed.into_panic()))
}

/// The address in the line that a node prints once it serves.
pub(crate) fn serves(line: &str) -> Option<SocketAddr> {
    let (_, url) = line.split_once(READY)?;
    let (_, address) = url.split_once("://")?;
    // In a log of JSON objects the text ends with a quote.
    let address = address.split('"').next()?;
    address.trim().parse().ok()
}

fn read_key(data_dir: &Path) -> String {
    let key =
        std::fs::read_to_string(data_dir.join("api-key")).expect("the node keeps its first key");
    key.trim().to_owned()
}

fn url(flags: &[String], address: SocketAddr) -> String {
    match https::is_spoken(flags) {
        true => format!("https://{address}"),
        false => format!("http://{address}"),
    }
}

impl Node {
    /// How to start a node, beginning with the defaults.
    pub fn builder() -> NodeBuilder {
        NodeBuilder::default()
    }

    /// A node with the defaults: components reach no private network.
    pub async fn start() -> Self {
        Self::builder().start().await
    }

    /// Its address, without a trailing slash.
    pub fn url(&self) -> String {
        url(&self.flags, self.address)
    }

    /// The address of its port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The first user's key.
    pub fn api_key(&self) -> &str {
        &self.api_key
    }

    /// Its data folder.
    pub fn data_dir(&self) -> &Path {
        self.data_dir.path()
    }

    /// The URL of its database, if its store is not in its data folder.
    pub fn database_url(&self) -> Option<String> {
        self.database.as_ref().map(|database| database.url())
    }

    /// The files of its store.
    pub fn store_files(&self) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.data_dir())
            .unwrap()
            .map(|entry| entry.unwrap().path());
        files
            .filter(|path| {
                path.file_name()
                    .unwrap()
                    .to_string_lossy()
                    .starts_with("headwater.db")
            })
            .collect()
    }

    /// Takes the address at which it serves now, if it has said so.
    pub(crate) fn at_the_address_that_it_said(mut self) -> Self {
        let output = self.output_with(READY);
        let address = output.lines().find_map(serves);
        self.address = address.expect("the address is in the line");
        self.client = Client::new(self.url(), Some(self.api_key.clone()));
        self
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Its output since it was started last.
    pub fn output(&self) -> String {
        self.process.output()
    }

    /// Its output up to now, as soon as a line of it has this text.
    #[track_caller]
    pub fn output_with(&self, text: &str) -> String {
        self.process.output_with(text)
    }

    /// Kills it with SIGKILL: nothing of it gets to say goodbye. `restart` starts it again.
    pub fn kill_9(&mut self) {
        self.process.kill();
    }

    /// Starts it again with the same folder, flags and address, killing it first if it still runs.
    pub async fn restart(&mut self) {
        self.process.kill();
        let folder = self.data_dir.path();
        let command = command(&self.program, self.address, folder, self.open_files);
        let (process, _) = serve(command, &self.flags, &self.environment, serves).await;
        self.process = process;
        // Connections of the former process are of no use.
        self.client = Client::new(self.url(), Some(self.api_key.clone()));
    }

    /// Is of this version of the program from the next `restart` on.
    pub fn upgrade(&mut self) {
        self.program = binary::path();
    }

    /// Sets an environment variable from the next `restart` on.
    pub fn add_env(&mut self, name: &str, value: &str) {
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    /// Asks it to stop with SIGTERM; `wait` waits until it has.
    pub fn ask_to_stop(&self) {
        self.process.signal("TERM");
    }

    /// Sends it a signal.
    pub fn signal(&self, name: &str) {
        self.process.signal(name);
    }

    /// Waits until it has ended.
    pub async fn wait(&mut self) -> ExitStatus {
        self.process.wait().await
    }

    /// Asks it to stop and waits until it has.
    pub async fn terminate(&mut self) -> ExitStatus {
        self.ask_to_stop();
        self.wait().await
    }
}

impl Deref for Node {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}
