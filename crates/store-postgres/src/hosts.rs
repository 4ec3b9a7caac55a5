//! The hosts of a database, of which one serves: connections begin with the one that served last, and one that does not answer
//! holds up only those that were begun before it was known. `docs/guide/postgresql.md` says how they are given.

use std::{
    future::Future,
    mem,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use deadpool_postgres::Connect;
use tokio::task::JoinHandle;
use tokio_postgres::{
    Client, Config, Error,
    config::{Host, TargetSessionAttrs},
};
use tokio_postgres_rustls::MakeRustlsConnect;

type Connected = Result<(Client, JoinHandle<()>), Error>;

/// The hosts in their order.
#[derive(Clone)]
pub(crate) struct Hosts(Arc<Inside>);

struct Inside {
    /// The way to each.
    configs: Vec<Config>,
    tls: MakeRustlsConnect,
    /// The number of the one that is tried first.
    first: AtomicUsize,
}

impl Hosts {
    /// Those of a URL.
    pub(crate) fn of(config: &Config, tls: MakeRustlsConnect) -> Self {
        Self(Arc::new(Inside {
            configs: each(config),
            tls,
            first: AtomicUsize::new(0),
        }))
    }

    async fn connect_to_one(self) -> Connected {
        let Inside { configs, tls, .. } = &*self.0;
        let begin = self.0.first.load(Relaxed);
        let mut last = None;
        for turn in 0..configs.len() {
            let number = (begin + turn) % configs.len();
            let passing_by = PassingBy {
                hosts: &self,
                number,
            };
            match configs[number].connect(tls.clone()).await {
                Ok((client, connection)) => {
                    mem::forget(passing_by);
                    self.0.first.store(number, Relaxed);
                    let conversation = tokio::spawn(async move {
                        if let Err(error) = connection.await {
                            tracing::debug!(%error, "a connection to the database ended");
                        }
                    });
                    return Ok((client, conversation));
                }
                Err(error) => last = Some(error),
            }
        }
        Err(last.expect("a database has a host"))
    }
}

/// A host that does not answer, or refuses: the next connection begins with the one after it. Whoever waits for it may give up
/// before it does.
struct PassingBy<'a> {
    hosts: &'a Hosts,
    number: usize,
}

impl Drop for PassingBy<'_> {
    fn drop(&mut self) {
        let Inside { configs, first, .. } = &*self.hosts.0;
        let next = (self.number + 1) % configs.len();
        // Another connection may have found one that serves.
        let _ = first.compare_exchange(self.number, next, Relaxed, Relaxed);
    }
}

impl Connect for Hosts {
    fn connect(&self, _: &Config) -> Pin<Box<dyn Future<Output = Connected> + Send + '_>> {
        Box::pin(self.clone().connect_to_one())
    }
}

/// The same with one host each. One whose numbers of hosts, addresses and ports do not fit is left to be refused.
fn each(config: &Config) -> Vec<Config> {
    let (hosts, addresses, ports) = (
        config.get_hosts(),
        config.get_hostaddrs(),
        config.get_ports(),
    );
    let count = hosts.len().max(addresses.len());
    let fits = |given: usize| given <= 1 || given == count;
    let are_whole = hosts.is_empty() || addresses.is_empty() || hosts.len() == addresses.len();
    if count < 2 || !fits(ports.len()) || !are_whole {
        return vec![config.clone()];
    }
    let one = |number| {
        let mut one = without_hosts(config);
        match hosts.get(number) {
            Some(Host::Tcp(host)) => _ = one.host(host),
            Some(Host::Unix(folder)) => _ = one.host_path(folder),
            None => {}
        }
        if let Some(address) = addresses.get(number) {
            one.hostaddr(*address);
        }
        if let Some(port) = ports.get(number).or(ports.first()) {
            one.port(*port);
        }
        if one.get_target_session_attrs() == TargetSessionAttrs::Any {
            // One of them is to be had that takes writes.
            one.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        one
    };
    (0..count).map(one).collect()
}

/// Everything that does not say where the database is.
fn without_hosts(config: &Config) -> Config {
    let mut copy = Config::new();
    if let Some(user) = config.get_user() {
        copy.user(user);
    }
    if let Some(name) = config.get_dbname() {
        copy.dbname(name);
    }
    if let Some(options) = config.get_options() {
        copy.options(options);
    }
    if let Some(name) = config.get_application_name() {
        copy.application_name(name);
    }
    if let Some(password) = config.get_password() {
        copy.password(password);
    }
    if let Some(time) = config.get_connect_timeout() {
        copy.connect_timeout(*time);
    }
    if let Some(time) = config.get_tcp_user_timeout() {
        copy.tcp_user_timeout(*time);
    }
    if let Some(time) = config.get_keepalives_interval() {
        copy.keepalives_interval(time);
    }
    if let Some(count) = config.get_keepalives_retries() {
        copy.keepalives_retries(count);
    }
    copy.ssl_mode(config.get_ssl_mode())
        .ssl_negotiation(config.get_ssl_negotiation())
        .keepalives(config.get_keepalives())
        .keepalives_idle(config.get_keepalives_idle())
        .target_session_attrs(config.get_target_session_attrs())
        .channel_binding(config.get_channel_binding())
        .load_balance_hosts(config.get_load_balance_hosts());
    copy
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(url: &str) -> Vec<(Vec<Host>, Vec<u16>)> {
        let configs = each(&url.parse().unwrap());
        let place = |config: &Config| (config.get_hosts().to_vec(), config.get_ports().to_vec());
        configs.iter().map(place).collect()
    }

    fn tcp(name: &str) -> Vec<Host> {
        vec![Host::Tcp(name.to_owned())]
    }

    #[test]
    fn each_host_has_its_own_port_and_everything_else() {
        let url = "postgres://ada:hush@a:1,b:2/events?connect_timeout=3";
        assert_eq!(places(url), [(tcp("a"), vec![1]), (tcp("b"), vec![2])]);
        let configs = each(&url.parse().unwrap());
        for config in &configs {
            assert_eq!(config.get_user(), Some("ada"));
            assert_eq!(config.get_password(), Some(&b"hush"[..]));
            assert_eq!(config.get_dbname(), Some("events"));
            let writes = TargetSessionAttrs::ReadWrite;
            assert_eq!(config.get_target_session_attrs(), writes);
        }
        let shared = "host=a,b port=7 user=ada";
        assert_eq!(places(shared), [(tcp("a"), vec![7]), (tcp("b"), vec![7])]);
    }

    #[test]
    fn one_host_is_left_as_it_was_given() {
        let url = "postgres://ada@a/events";
        let config: Config = url.parse().unwrap();
        assert_eq!(each(&config), [config]);
    }
}
