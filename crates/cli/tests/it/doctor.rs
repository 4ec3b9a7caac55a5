//! `doctor`, and how the other commands fail when something is wrong with node or key.

use serde_json::json;

use crate::node::Node;

#[tokio::test]
async fn everything_in_order_is_exit_code_0() {
    let node = Node::start().await;
    node.on("GET /healthz", |_| (200, json!({"status": "ok"})));
    node.on("GET /readyz", |_| {
        let checks = json!({"store": "ok", "engine": {"status": "ok", "deno": "2.9.6"}});
        (200, json!({"status": "ok", "checks": checks}))
    });
    node.data("GET /v1/users/me", json!({"id": "u_1"}));
    let seen = node.run(&["doctor"]).await;
    assert_eq!(seen.code, 0, "{}", seen.stdout);
    assert!(seen.stdout.contains("deno 2.9.6"), "{}", seen.stdout);
    assert!(seen.stdout.contains("user u_1"), "{}", seen.stdout);
}

#[tokio::test]
async fn each_failure_says_what_to_do_next() {
    let node = Node::start().await;
    node.on("GET /healthz", |_| (200, json!({"status": "ok"})));
    node.on("GET /readyz", |_| {
        let checks = json!({"store": "ok", "engine": "Deno is not there yet"});
        (503, json!({"status": "unavailable", "checks": checks}))
    });
    node.on("GET /v1/users/me", |_| {
        (
            401,
            json!({"error": {"code": "unauthenticated", "message": "unknown key"}}),
        )
    });
    let seen = node.run(&["doctor", "--json"]).await;
    assert_eq!(seen.code, 1);
    let failed: Vec<_> = seen
        .json()
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["result"] == "failed")
        .map(|check| {
            assert_ne!(check["next"], "");
            check["check"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(failed, ["ready", "ready: engine", "key"]);
}

#[tokio::test]
async fn a_node_that_is_not_there_is_told_with_what_to_do() {
    let node = Node::start().await;
    let nowhere = ["--url", "http://127.0.0.1:1"];
    for command in ["list", "doctor"] {
        let seen = node.run(&[&nowhere[..], &[command]].concat()).await;
        assert_eq!(seen.code, 1);
        let told = format!("{}{}", seen.stdout, seen.stderr);
        assert!(
            told.contains("cannot reach the node at http://127.0.0.1:1/"),
            "{told}"
        );
        assert!(told.contains("headwater serve"), "{told}");
        let is_doctor = command == "doctor";
        assert_eq!(told.contains("`headwater doctor`"), !is_doctor, "{told}");
        assert_eq!(told.matches("cannot reach").count(), 1, "{told}");
    }
}

#[tokio::test]
async fn the_key_is_found_in_the_data_folder() {
    let node = Node::start().await;
    node.list("GET /v1/users/me/sources", json!([]));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("api-key"), "from-file\n").unwrap();
    let mut command = node.command(&["list", "--data-dir", folder.path().to_str().unwrap()]);
    command.env_remove("HEADWATER_API_KEY");
    assert!(command.output().await.unwrap().status.success());
    let received = node.received("GET /v1/users/me/sources");
    assert_eq!(
        received[0].authorization.as_deref(),
        Some("Bearer from-file")
    );
}

#[tokio::test]
async fn a_data_folder_that_is_not_there_is_told() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("nope");
    let mut command = node.command(&["list", "--data-dir", missing.to_str().unwrap()]);
    command
        .env("HOME", folder.path())
        .env_remove("HEADWATER_URL")
        .env_remove("HEADWATER_API_KEY");
    let output = command.output().await.unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    let told = format!("there is no data folder {}", missing.display());
    assert!(stderr.contains(&told), "{stderr}");
}

#[tokio::test]
async fn completions_need_no_node() {
    let node = Node::start().await;
    let seen = node
        .run(&["--url", "http://127.0.0.1:1", "completions", "bash"])
        .await;
    assert_eq!(seen.code, 0);
    assert!(seen.stdout.contains("headwater"));
}

#[tokio::test]
async fn every_command_has_a_manual_page_with_its_examples() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    let seen = node.run(&["man", pages.to_str().unwrap()]).await;
    assert_eq!(seen.code, 0, "{}", seen.stderr);
    for page in [
        "headwater.1",
        "headwater-listen.1",
        "headwater-webhooks-verify.1",
    ] {
        assert!(pages.join(page).is_file(), "{page}");
    }
    let listen = std::fs::read_to_string(pages.join("headwater-listen.1")).unwrap();
    assert!(listen.contains("http://localhost:4242/hooks"), "{listen}");
    let help = node.run(&["listen", "--help"]).await;
    assert!(
        help.stdout.contains("Examples:\n  headwater listen orders"),
        "{}",
        help.stdout
    );
}
