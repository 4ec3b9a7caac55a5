//! That Deno keeps to the network policy: every way of writing a private address, every way of connecting.

use std::process::Stdio;

use headwater_engine::network::NetworkPolicy;
use tokio::{net::TcpListener, process::Command};

use crate::support::deno;

const PROBE: &str = r#"
import net from "node:net";
import http from "node:http";
const port = Number(Deno.args[0]);
const inUrl = (host) => host.includes(":") ? `[${host}]` : host;
const event = (target) => new Promise((done, failed) => { target.on("error", failed); target.on("connect", done); target.on("response", done); });
const ways = {
  fetch: (host) => fetch(`http://${inUrl(host)}:${port}/`).then((response) => response.text()),
  net: (host) => event(net.connect(port, host)),
  http: (host) => event(http.get({ host, port })),
  connect: async (hostname) => (await Deno.connect({ hostname, port })).close(),
};
const hosts = ["localhost", "LOCALHOST.", "127.0.0.1", "::1", "::ffff:127.0.0.1", "::", "0.0.0.0", "2130706433", "0177.0.0.1", "0x7f.1", "127.1"];
for (const host of hosts) {
  for (const [way, reach] of Object.entries(ways)) {
    try { await reach(host); console.log("reached", way, host); } catch { /* refused */ }
  }
}
Deno.exit(0);
"#;

/// The answer that the probe got of servers on this machine, of IPv6 too where it has that.
async fn reached(policy: &NetworkPolicy) -> Vec<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let six = TcpListener::bind(("::1", port)).await.ok();
    let app = axum::Router::new().fallback(|| async { "here" });
    for listener in [Some(listener), six].into_iter().flatten() {
        let app = app.clone();
        tokio::spawn(async move { axum::serve(listener, app).await });
    }
    let folder = tempfile::tempdir().unwrap();
    let probe = folder.path().join("probe.mjs");
    std::fs::write(&probe, PROBE).unwrap();
    let mut command = Command::new(deno().await);
    command.args([
        "run",
        "--quiet",
        "--no-config",
        "--no-prompt",
        "--allow-net",
    ]);
    let denied = policy.deny_net_ranges();
    if !denied.is_empty() {
        command.arg(format!("--deny-net={}", denied.join(",")));
    }
    let output = command
        .arg(&probe)
        .arg(port.to_string())
        .env_clear()
        .env("DENO_DIR", folder.path())
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn no_spelling_of_a_private_address_is_reached_by_default_or_where_nothing_is() {
    for policy in [NetworkPolicy::PublicOnly, NetworkPolicy::Nothing] {
        let found = reached(&policy).await;
        assert_eq!(found, Vec::<String>::new(), "{policy:?}");
    }
}

#[tokio::test]
async fn an_allowed_range_is_reached_and_its_neighbours_are_not() {
    let found = reached(&"127.0.0.1/32".parse().unwrap()).await;
    for way in ["fetch", "net", "http", "connect"] {
        assert!(
            found.contains(&format!("reached {way} 127.0.0.1")),
            "{found:?}"
        );
    }
    assert!(
        !found
            .iter()
            .any(|line| line.ends_with(" 0.0.0.0") || line.ends_with(" ::")),
        "{found:?}"
    );
}

#[tokio::test]
async fn everything_is_reached_when_all_is_allowed() {
    let found = reached(&NetworkPolicy::All).await;
    assert!(found.len() > 8, "{found:?}");
    if TcpListener::bind("[::1]:0").await.is_ok() {
        assert!(found.contains(&"reached fetch ::1".to_owned()), "{found:?}");
    }
}
