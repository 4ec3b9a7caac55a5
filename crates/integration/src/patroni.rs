//! A PostgreSQL that fails over: Patroni on several servers with synchronous replication, and etcd. Debian's programs, with
//! the settings that `docs/guide/postgresql.md` names.

use std::{
    net::Ipv4Addr,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;
use tokio::task::block_in_place;

use crate::{
    account::Account,
    client, postgres,
    process::{Process, free_port, start_at_a_port},
};

const ETCD: &str = "/usr/bin/etcd";
const PATRONI: &str = "/usr/bin/patroni";
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(200);

/// The servers.
pub struct Patroni {
    servers: Vec<Server>,
    /// Ends after the servers.
    _etcd: Process,
    account: Account,
    folder: TempDir,
}

/// A server with its Patroni.
struct Server {
    patroni: Option<Process>,
    /// The port of its interface.
    tells_at: u16,
    port: u16,
}

/// The part of a machine that ends.
#[derive(Debug, Clone, Copy)]
pub enum Killed {
    /// The processes of PostgreSQL.
    Postgres,
    /// Those of Patroni, too, as if the machine were gone.
    Machine,
}

impl Patroni {
    /// Starts so many servers, and waits until one of them is a synchronous standby.
    pub async fn start(count: usize) -> Self {
        let folder = TempDir::with_prefix("headwater-patroni-").unwrap();
        let account = Account::unprivileged(&["postgres"]);
        account.take_over(folder.path());
        let peers = free_port(Ipv4Addr::LOCALHOST.into());
        let data = folder.path().join("etcd");
        let etcd = |port: u16| {
            let mut etcd = account.command(Path::new(ETCD));
            etcd.arg("--data-dir").arg(&data).arg("--unsafe-no-fsync");
            for (option, port) in [("client", port), ("peer", peers)] {
                let url = format!("http://127.0.0.1:{port}");
                etcd.arg(format!("--listen-{option}-urls={url}"));
                let advertised = match option {
                    "client" => "--advertise-client-urls",
                    _ => "--initial-advertise-peer-urls",
                };
                etcd.arg(format!("{advertised}={url}"));
            }
            etcd.arg(format!(
                "--initial-cluster=default=http://127.0.0.1:{peers}"
            ));
            etcd
        };
        let (etcd, etcd_port) = start_at_a_port("etcd", "ready to serve client requests", etcd);
        let mut patroni = Self {
            servers: Vec::new(),
            _etcd: etcd,
            account,
            folder,
        };
        for number in 0..count {
            let [tells_at, port] = [0; 2].map(|_| free_port(Ipv4Addr::LOCALHOST.into()));
            let text = patroni.configuration(number, etcd_port, tells_at, port);
            std::fs::write(patroni.file(number), text).unwrap();
            let process = Some(patroni.begun(number));
            patroni.servers.push(Server {
                patroni: process,
                tells_at,
                port,
            });
        }
        patroni.until_whole().await;
        patroni
    }

    /// The URL of all servers, of which the one that takes writes is meant.
    pub fn url(&self) -> String {
        let ports = self.servers.iter().map(|server| server.port);
        let hosts: Vec<_> = ports.map(|port| format!("127.0.0.1:{port}")).collect();
        let hosts = hosts.join(",");
        format!(
            "postgres://postgres@{hosts}/postgres?target_session_attrs=read-write&sslmode=disable"
        )
    }

    /// Kills the server that takes writes, and returns its number.
    pub async fn kill_primary(&mut self, killed: Killed) -> usize {
        let number = self.primary().await;
        if let Killed::Machine = killed {
            self.servers[number].patroni = None;
        }
        let file = self.data(number).join("postmaster.pid");
        let text = std::fs::read_to_string(file).unwrap();
        let postmaster = text.lines().next().unwrap().trim().to_owned();
        // It would take the death of a child for a crash, and tell the others.
        signal("STOP", std::slice::from_ref(&postmaster));
        let mut all = children(&postmaster);
        all.push(postmaster);
        signal("KILL", &all);
        number
    }

    /// Brings a server back whose machine was gone, and waits until the cluster is whole.
    pub async fn heal(&mut self, number: usize) {
        if self.servers[number].patroni.is_none() {
            self.servers[number].patroni = Some(block_in_place(|| self.begun(number)));
        }
        self.until_whole().await;
    }

    /// Waits until one server takes writes, all others follow it, and one of them synchronously.
    async fn until_whole(&self) {
        loop {
            let members = self.members().await;
            let streams = |member: &&Value| {
                ["running", "streaming"].contains(&member["state"].as_str().unwrap_or_default())
            };
            let is = |role: &str| members.iter().any(|member| member["role"] == role);
            let all = members.iter().filter(streams).count();
            if all == self.servers.len() && is("leader") && is("sync_standby") {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn primary(&self) -> usize {
        loop {
            let members = self.members().await;
            let leader = members.iter().find(|member| member["role"] == "leader");
            let port = leader.and_then(|leader| leader["port"].as_u64());
            let mut servers = self.servers.iter();
            if let Some(number) = servers.position(|server| Some(server.port.into()) == port) {
                return number;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// The servers, as the first of them sees them that answers.
    async fn members(&self) -> Vec<Value> {
        for server in &self.servers {
            let url = format!("http://127.0.0.1:{}/cluster", server.tells_at);
            if let Ok(answer) = client::direct().get(&url).send().await
                && let Ok(text) = answer.text().await
                && let Ok(cluster) = serde_json::from_str::<Value>(&text)
                && let Some(members) = cluster["members"].as_array()
            {
                return members.clone();
            }
        }
        Vec::new()
    }

    fn begun(&self, number: usize) -> Process {
        let mut patroni = self.account.command(Path::new(PATRONI));
        patroni.arg(self.file(number));
        let has_begun = |line: &str| line.contains("Lock owner").then_some(());
        Process::start("patroni", &mut patroni, has_begun).0
    }

    fn file(&self, number: usize) -> PathBuf {
        self.folder.path().join(format!("server-{number}.yml"))
    }

    fn data(&self, number: usize) -> PathBuf {
        self.folder.path().join(format!("server-{number}"))
    }

    fn configuration(&self, number: usize, etcd: u16, tells_at: u16, port: u16) -> String {
        let (data, folder) = (self.data(number), self.folder.path().display());
        let (data, programs) = (data.display(), postgres::programs());
        let programs = programs.display();
        format!(
            "scope: headwater
name: server-{number}
restapi: {{listen: 127.0.0.1:{tells_at}, connect_address: 127.0.0.1:{tells_at}}}
etcd3: {{host: 127.0.0.1:{etcd}}}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 5
    retry_timeout: 5
    primary_start_timeout: 0
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
  initdb: [encoding: UTF8, locale: C, data-checksums]
postgresql:
  listen: 127.0.0.1:{port}
  connect_address: 127.0.0.1:{port}
  data_dir: {data}
  bin_dir: {programs}
  pgpass: {folder}/pgpass-{number}
  authentication:
    superuser: {{username: postgres, password: of-the-tests}}
    replication: {{username: replicator, password: of-the-tests}}
  parameters: {{unix_socket_directories: {folder}, shared_buffers: 32MB, fsync: 'off'}}
  pg_hba: [host all all 127.0.0.1/32 trust, host replication all 127.0.0.1/32 trust, local all all trust]
"
        )
    }
}

impl Drop for Patroni {
    fn drop(&mut self) {
        for number in 0..self.servers.len() {
            self.servers[number].patroni = None;
            let file = self.data(number).join("postmaster.pid");
            if let Ok(text) = std::fs::read_to_string(file)
                && let Some(postmaster) = text.lines().next()
            {
                signal("QUIT", &[postmaster.trim().to_owned()]);
            }
        }
    }
}

/// The processes that one has started.
fn children(of: &str) -> Vec<String> {
    let is_child = |process: &String| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        // The name, in brackets, may have spaces.
        let after = stat.rsplit_once(") ").map_or("", |(_, after)| after);
        after.split(' ').nth(1) == Some(of)
    };
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let processes = processes.filter_map(|entry| entry.file_name().into_string().ok());
    processes.filter(is_child).collect()
}

fn signal(name: &str, processes: &[String]) {
    let mut kill = Command::new("kill");
    // Some may have ended by themselves.
    let _ = kill.args(["-s", name, "--"]).args(processes).output();
}
