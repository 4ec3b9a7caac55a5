//! Where host names lead, and whose certificates are trusted: `--resolve` and `--ca-certificate`.

use headwater_integration::{Node, Receiver, Reply, Seen};
use serde_json::{Value, json};

use crate::code::EMITTER;

/// Reaches the same URL by every way there is.
const CALLER: &str = r#"
import https from "node:https";
import tls from "node:tls";
import { fetch as undici } from "undici@7.16.0";
const host = "api.example.com";
const tried = (promise) => promise.then((value) => value, (error) => `${error.cause?.message ?? error.message}`);
const viaHttps = (url) => new Promise((resolve, reject) => https.get(url, (response) => {
  let text = ""; response.on("data", (data) => text += data).on("end", () => resolve(text)); }).on("error", reject));
const viaTls = (host) => new Promise((resolve, reject) => {
  const socket = tls.connect(443, host, () => { resolve(`${socket.servername} ${socket.authorized}`); socket.destroy(); });
  socket.on("error", reject); });
export default { name: "Caller", key: "tests-caller", version: "0.0.1", type: "action", props: { host: "string" },
  async run() {
    const url = `https://${this.host}/x`;
    return {
      fetch: await tried(fetch(url).then((response) => response.text())),
      undici: await tried(undici(url).then((response) => response.text())),
      https: await tried(viaHttps(url)),
      tls: await tried(viaTls(this.host)),
      environment: Object.keys(process.env).filter((name) => name.includes("RESOLVE")),
    };
  } };"#;

async fn server() -> Receiver {
    let server = Receiver::secure(&["api.example.com"]).await;
    server.answer(|request| {
        let host = request.headers["host"].to_str().unwrap();
        Reply {
            body: format!("{host}{}", request.path),
            ..Reply::status(200)
        }
    });
    server
}

async fn call(node: &Node, host: &str) -> Value {
    node.save(CALLER).await;
    node.returned("tests-caller", json!({"host": host})).await
}

#[tokio::test]
async fn a_host_leads_to_an_address_for_every_client_and_tls_asks_for_the_host() {
    let server = server().await;
    let elsewhere = format!("--resolve=other.example.com={}", server.address());
    let node = Node::builder()
        .private_network()
        .reaching(&server)
        .flag(&elsewhere)
        .start()
        .await;
    let answer = "api.example.com/x";
    let reached = json!({
        "fetch": answer, "undici": answer, "https": answer, "tls": "api.example.com true", "environment": [],
    });
    assert_eq!(call(&node, "api.example.com").await, reached);

    // A right to an address gives no right to a name.
    let refused = call(&node, "other.example.com").await;
    for way in ["fetch", "undici", "https", "tls"] {
        let reason = refused[way].as_str().unwrap();
        assert!(reason.contains("altnames"), "{way}: {reason}");
    }

    let runtime = &node.get("//readyz").await.is(200).json()["checks"]["runtime"];
    let counts = (&runtime["routes"], &runtime["ca_certificates"]);
    assert_eq!(counts, (&json!(2), &json!(1)));
}

#[tokio::test]
async fn a_certificate_of_an_unknown_authority_is_refused() {
    let server = server().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("headwater.toml");
    let route = format!("resolve = [\"api.example.com={}\"]\n", server.address());
    std::fs::write(&file, route).unwrap();
    let node = Node::builder()
        .private_network()
        .flag(&format!("--config={}", file.display()))
        .start()
        .await;
    let refused = call(&node, "api.example.com").await;
    for way in ["fetch", "undici", "https", "tls"] {
        let reason = refused[way].as_str().unwrap();
        assert!(reason.contains("certificate"), "{way}: {reason}");
    }
    assert_eq!(server.received().len(), 0);
}

#[tokio::test]
async fn a_webhook_of_an_internal_authority_is_trusted_once_the_node_is_told() {
    let server = Receiver::secure(&["127.0.0.1"]).await;
    let builder = Node::builder().private_network();
    let node = builder.trusting_authority().start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    node.webhook_for(&source.id, &server.url()).await;
    node.run(&source, json!({"emits": [[{"n": 1}, {}]]})).await;
    let received = server.until(|received| !received.is_empty()).await;
    assert_eq!(received[0].json(), json!({"n": 1}));

    let node = Node::builder().private_network().start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let id = node.webhook_for(&source.id, &server.url()).await;
    node.run(&source, json!({"emits": [[{"n": 2}, {}]]})).await;
    let attempted = |all: &[Value]| all.len() == 1 && all[0]["attempts"][0]["error"].is_string();
    let listed = node.deliveries_until(&id, attempted).await;
    let error = listed[0]["attempts"][0]["error"].as_str().unwrap();
    assert!(error.contains("certificate"), "{error}");
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn what_cannot_be_meant_is_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("empty.pem"), "").unwrap();
    let node = Node::start().await;
    for (flag, said) in [
        (
            "--resolve=api.example.com",
            "is not a host name with an IP address",
        ),
        (
            "--resolve=api.example.com=127.0.0.1",
            "--allow-private-network=127.0.0.1",
        ),
        ("--ca-certificate=empty.pem", "BEGIN CERTIFICATE"),
    ] {
        let arguments = ["serve", "--listen=127.0.0.1:0", "--data-dir=data", flag];
        let seen = node.cli_in(folder.path(), &arguments).await;
        assert_eq!(seen.code, 2, "{flag}: {}", seen.stderr);
        assert!(seen.stderr.contains(said), "{flag}: {}", seen.stderr);
    }
}

/// A node behind a proxy whose certificate is of the operator's own authority.
#[tokio::test]
async fn commands_trust_an_internal_authority_once_they_are_told() {
    let server = Receiver::secure(&["localhost"]).await;
    server.answer(|_| Reply::json(&json!({"data": {"username": "ada", "id": "u_1"}})));
    let url = format!("https://localhost:{}", server.address().port());
    // Its authority is in the file that the node was given.
    let node = Node::builder().trusting_authority().start().await;
    let file = node.data_dir().join("authority-of-the-tests.pem");
    let describe = async |variable: Option<&str>, flags: &[&str]| {
        let arguments = [
            flags,
            &["describe", "dc_0000000000000000000001", "--url", &url],
        ]
        .concat();
        let mut command = node.command(&arguments);
        command.envs(variable.map(|name| (name, &file)));
        Seen::from(command.output().await.unwrap())
    };
    let refused = describe(None, &[]).await;
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("certificate"), "{}", refused.stderr);
    assert!(server.received().is_empty());
    for variable in ["HEADWATER_CA_FILE", "SSL_CERT_FILE"] {
        server.clear();
        describe(Some(variable), &[]).await;
        assert!(!server.received().is_empty(), "{variable}");
    }
    let flag = format!("--ca-file={}", file.display());
    server.clear();
    describe(None, &[&flag]).await;
    assert!(!server.received().is_empty());
    for (file, said) in [
        ("none.pem", "cannot read"),
        ("/dev/null", "BEGIN CERTIFICATE"),
    ] {
        let refused = describe(None, &["--ca-file", file]).await;
        assert_eq!(refused.code, 2);
        for said in ["--ca-file", said, "give the PEM file"] {
            assert!(refused.stderr.contains(said), "{}", refused.stderr);
        }
    }
}

/// Tools sign such certificates as an authority's, or not; the certificate itself is all that people have.
#[tokio::test]
async fn commands_trust_the_certificate_that_a_node_has_signed_itself() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    for is_authority in [true, false] {
        let (server, pem) = Receiver::self_signed(&["localhost"], is_authority).await;
        server.answer(|_| Reply::json(&json!({"data": {"username": "ada", "id": "u_1"}})));
        let file = folder.path().join("node.pem");
        std::fs::write(&file, pem).unwrap();
        let describe = async |host: &str, flags: &[&str]| {
            let url = format!("https://{host}:{}", server.address().port());
            let arguments = ["describe", "dc_0000000000000000000001", "--url", &url[..]];
            node.cli(&[flags, &arguments[..]].concat()).await
        };
        let refused = describe("localhost", &[]).await;
        assert!(refused.stderr.contains("--ca-file"), "{}", refused.stderr);
        let given = ["--ca-file", file.to_str().unwrap()];
        // It is for that name alone.
        let other = describe("127.0.0.1", &given).await;
        assert!(other.stderr.contains("certificate"), "{}", other.stderr);
        assert!(server.received().is_empty(), "{is_authority}");
        describe("localhost", &given).await;
        assert!(!server.received().is_empty(), "{is_authority}");
    }
}
