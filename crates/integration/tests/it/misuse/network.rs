//! Reaching the machine that the node runs on: refused, whatever the address is called.

use std::collections::BTreeSet;

use headwater_integration::{Node, NodeBuilder, Receiver};
use serde_json::{Value, json};

use super::neighbour::Street;

/// Calls the port by every way and name, and tells what came of each. The paths say which it was.
const CODE: &str = r#"
import http from "node:http";
import net from "node:net";

const hosts = [
  "127.0.0.1", "127.1", "127.9.9.9", "2130706433", "0x7f000001", "0177.0.0.1",
  "localhost", "LOCALHOST", "localhost.", "anything.localhost",
  "::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "0.0.0.0", "::",
];
const bracketed = (host) => (host.includes(":") ? `[${host}]` : host);

const ways = {
  fetch: async (host, port) => {
    const response = await fetch(`http://${bracketed(host)}:${port}/fetch/${encodeURIComponent(host)}`);
    await response.text();
    return response.status;
  },
  net: (host, port) =>
    new Promise((resolve, reject) => {
      const connection = net.connect({ host, port }, () => {
        connection.write(`GET /net/${encodeURIComponent(host)} HTTP/1.0\r\n\r\n`);
      });
      connection.on("data", () => resolve(200));
      connection.on("error", reject);
      connection.on("close", () => reject(new Error("closed")));
    }),
  http: (host, port) =>
    new Promise((resolve, reject) => {
      const path = `/http/${encodeURIComponent(host)}`;
      const request = http.get({ host, port, path }, (response) => {
        response.resume();
        response.on("end", () => resolve(response.statusCode));
      });
      request.on("error", reject);
    }),
  deno: async (hostname, port) => {
    const connection = await Deno.connect({ hostname, port });
    try {
      const request = `GET /deno/${encodeURIComponent(hostname)} HTTP/1.0\r\n\r\n`;
      await connection.write(new TextEncoder().encode(request));
      await connection.read(new Uint8Array(64));
      return 200;
    } finally {
      connection.close();
    }
  },
};

export default {
  name: "Inward",
  version: "0.0.1",
  props: { http: "$.interface.http" },
  async run({ port, path }) {
    if (path) return this.$emit("behaved");
    const reached = {};
    for (const [way, call] of Object.entries(ways)) {
      for (const host of hosts) {
        reached[`${way}/${host}`] = await call(host, port).catch((error) => String(error?.message ?? error));
      }
    }
    return reached;
  },
};
"#;

/// The result of each attempt, and the requests that the server has heard.
async fn attempts(node: NodeBuilder) -> (Vec<(String, Value)>, BTreeSet<String>) {
    let mut street = Street::of(node, CODE).await;
    let server = Receiver::start().await;
    let port: u16 = server.url().rsplit(':').next().unwrap().parse().unwrap();
    let report = street.node.run(&street.source, json!({"port": port})).await;
    let value = report["outcome"]["value"]
        .as_object()
        .unwrap_or_else(|| panic!("{report:#}"))
        .clone();
    street.assert_unharmed().await;
    street.end().await;
    let heard = server
        .received()
        .iter()
        .map(|request| request.path.clone())
        .collect();
    (value.into_iter().collect(), heard)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_name_of_this_machine_can_be_reached_by_default() {
    let (attempts, heard) = attempts(Node::builder()).await;
    assert_eq!(attempts.len(), 60, "{attempts:#?}");
    let reached: Vec<_> = attempts
        .iter()
        .filter(|(_, outcome)| outcome.is_number())
        .collect();
    assert!(reached.is_empty(), "{reached:#?}");
    assert!(heard.is_empty(), "{heard:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_can_be_reached_when_the_node_allows_it() {
    let (attempts, heard) = attempts(Node::builder().private_network()).await;
    // So the test above would have seen it.
    for way in ["fetch", "net", "http", "deno"] {
        for host in ["127.0.0.1", "localhost"] {
            let name = format!("{way}/{host}");
            let outcome = attempts
                .iter()
                .find(|(attempt, _)| *attempt == name)
                .unwrap();
            assert_eq!(outcome.1, 200, "{attempts:#?}");
            assert!(
                heard.contains(&format!("/{way}/{host}")),
                "{name}: {heard:#?}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_nodes_own_port_is_this_machine_too() {
    let node = Node::start().await;
    let source = node.deploy(CODE, json!({})).await;
    let port: u16 = node.url().rsplit(':').next().unwrap().parse().unwrap();
    let report = node.run(&source, json!({"port": port})).await;
    let attempts = report["outcome"]["value"]
        .as_object()
        .unwrap_or_else(|| panic!("{report:#}"));
    assert!(
        attempts.values().all(|outcome| !outcome.is_number()),
        "{attempts:#?}"
    );
}
