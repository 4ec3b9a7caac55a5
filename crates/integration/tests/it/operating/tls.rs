//! A node that speaks HTTPS itself.

use headwater_integration::{CertificateFiles, Client, Node, headwater_in};
use reqwest::{Version, tls::TlsInfo};
use serde_json::json;

use crate::code::{EMITTER, INBOX};

/// A new connection to a node, which trusts the authority of the tests and tells of the handshake.
fn visitor(files: &CertificateFiles) -> reqwest::ClientBuilder {
    let authority = std::fs::read(files.authority()).unwrap();
    let authority = reqwest::Certificate::from_pem(&authority).unwrap();
    reqwest::Client::builder()
        .no_proxy()
        .tls_certs_only([authority])
        .tls_info(true)
}

/// The certificate that the node shows to a new client.
async fn shown(node: &Node, files: &CertificateFiles) -> Vec<u8> {
    let client = visitor(files).build().unwrap();
    let answer = client.get(format!("{}/healthz", node.url())).send().await;
    let answer = answer.unwrap();
    assert_eq!(answer.status(), 200);
    let handshake = answer.extensions().get::<TlsInfo>().unwrap();
    handshake.peer_certificate().unwrap().to_vec()
}

#[tokio::test]
async fn everything_is_served_with_the_certificate() {
    let files = CertificateFiles::new();
    let node = Node::builder().encrypted(&files).start().await;
    let source = node.deploy(INBOX, json!({})).await;
    assert!(
        source.endpoint().starts_with(&node.url()),
        "{}",
        source.endpoint()
    );
    node.post(source.endpoint(), json!({"n": 1})).await.is(200);
    node.events_until(&source, |events| !events.is_empty())
        .await;
    let emitter = node.deploy(EMITTER, json!({})).await;
    let mut stream = node.follow(&format!("{}/sse", emitter.path()), None).await;
    node.run(&emitter, json!({"emits": [["now", {}]]})).await;
    assert_eq!(stream.payloads(1).await, [json!("now")]);

    let url = format!("{}/healthz", node.url());
    for (client, version) in [
        (visitor(&files), Version::HTTP_2),
        (visitor(&files).http1_only(), Version::HTTP_11),
    ] {
        let answer = client.build().unwrap().get(&url).send().await.unwrap();
        assert_eq!(answer.version(), version);
    }
}

#[tokio::test]
async fn commands_reach_the_node_that_wrote_down_its_address() {
    let files = CertificateFiles::new();
    let node = Node::builder().encrypted(&files).start().await;
    let authority = files.authority().display().to_string();
    let mut listing = node.command(&["list", "sources", "--ca-file", &authority]);
    listing
        .env_remove("HEADWATER_URL")
        .env_remove("HEADWATER_API_KEY");
    let listed = listing.output().await.unwrap();
    assert!(listed.status.success(), "{listed:?}");
    let distrustful = node.cli(&["list", "sources"]).await;
    assert_ne!(distrustful.code, 0);
}

#[tokio::test]
async fn a_new_certificate_is_shown_from_the_next_connection_on() {
    let files = CertificateFiles::new();
    let node = Node::builder().encrypted(&files).start().await;
    let first = files.shown();
    assert_eq!(shown(&node, &files).await, first);
    let held = Client::new(node.url(), None);
    held.get("//healthz").await.is(200);
    files.renew();
    assert_ne!(files.shown(), first);
    assert_eq!(shown(&node, &files).await, files.shown());
    held.get("//healthz").await.is(200);
}

#[tokio::test]
async fn a_pair_that_does_not_fit_is_told_and_kept_out() {
    let (files, others) = (CertificateFiles::new(), CertificateFiles::new());
    let node = Node::builder().encrypted(&files).start().await;
    let first = files.shown();
    std::fs::copy(others.cert(), files.cert()).unwrap();
    assert_eq!(shown(&node, &files).await, first);
    let told = node.output_with("the former one stays in use");
    assert!(told.contains("--tls-key"), "{told}");
    std::fs::remove_file(files.key()).unwrap();
    assert_eq!(shown(&node, &files).await, first);
    std::fs::copy(others.key(), files.key()).unwrap();
    assert_eq!(shown(&node, &files).await, others.shown());
}

#[tokio::test]
async fn a_request_without_tls_is_told_so() {
    let files = CertificateFiles::new();
    let node = Node::builder().encrypted(&files).start().await;
    let mut plain = node.raw().await;
    let request = b"POST /v1/sources HTTP/1.1\r\nHost: node\r\nContent-Length: 2\r\n\r\n{}";
    plain.send(request).await.unwrap();
    let answer = plain.rest().await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert!(answer.contains("https://"), "{answer}");
}

#[tokio::test]
async fn a_handshake_that_does_not_come_is_given_up() {
    let files = CertificateFiles::new();
    let builder = Node::builder().encrypted(&files);
    let node = builder.flag("--head-timeout=1s").start().await;
    let mut silent = node.raw().await;
    let mut slow = node.raw().await;
    // The head of a handshake's first record, whose rest does not follow.
    slow.send(&[0x16, 3, 1, 2, 0]).await.unwrap();
    node.get("//healthz").await.is(200);
    for held in [&mut silent, &mut slow] {
        assert_eq!(held.rest().await, "");
    }
}

#[tokio::test]
async fn a_start_without_a_usable_pair_is_refused_by_the_name_of_the_option() {
    let files = CertificateFiles::new();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("no.pem"), "no PEM").unwrap();
    let cert = format!("--tls-cert={}", files.cert().display());
    let key = format!("--tls-key={}", files.key().display());
    for (flags, told) in [
        (vec![&*cert], "--tls-key: must be given with --tls-cert"),
        (vec![&*key], "--tls-cert: must be given with --tls-key"),
        (
            vec![&*cert, "--tls-key=none.pem"],
            "--tls-key: cannot read none.pem",
        ),
        (vec!["--tls-cert=no.pem", &*key], "--tls-cert: no.pem: "),
        (vec![&*cert, "--tls-key=no.pem"], "--tls-key: no.pem: "),
    ] {
        let arguments = [
            vec!["serve", "--listen=127.0.0.1:0", "--data-dir=data"],
            flags,
        ];
        let seen = headwater_in(folder.path(), &arguments.concat()).await;
        assert_eq!(seen.code, 2, "{}", seen.stderr);
        assert!(seen.stderr.contains(told), "{}", seen.stderr);
        assert!(!folder.path().join("data").exists());
    }
}
