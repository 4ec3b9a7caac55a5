//! `login`, `logout` and profiles: the key that a command uses, and the message where there is none.

use std::path::Path;

use serde_json::{Value, json};

use crate::node::{Node, Received, Seen};

fn user(node: &Node) {
    node.on("GET /v1/users/me", |request| {
        answer(request, json!({"username": "ada"}))
    });
    node.on("GET /v1/users/me/sources", |request| {
        answer(request, json!([]))
    });
}

fn answer(request: &Received, data: Value) -> (u16, Value) {
    match request.authorization.as_deref() {
        Some("Bearer mine" | "Bearer other") => (200, json!({"page_info": {}, "data": data})),
        _ => (
            401,
            json!({"error": {"code": "unauthenticated", "message": "no"}}),
        ),
    }
}

/// The binary without a node's address or key, but with a home.
async fn run(home: &Path, node: &Node, arguments: &[&str]) -> Seen {
    let mut command = node.command(arguments);
    command
        .env_remove("HEADWATER_URL")
        .env_remove("HEADWATER_API_KEY")
        .env("HOME", home)
        .current_dir(home);
    command.output().await.unwrap().into()
}

fn used(node: &Node) -> Option<String> {
    let mut asked = node.received("GET /v1/users/me/sources");
    asked.pop().unwrap().authorization
}

#[tokio::test]
async fn a_login_is_good_in_every_folder_until_the_logout() {
    let node = Node::start().await;
    user(&node);
    let home = tempfile::tempdir().unwrap();
    let wrong = ["login", &node.url, "--api-key", "wrong"];
    let seen = run(home.path(), &node, &wrong).await;
    assert_eq!(seen.code, 1);
    assert!(
        seen.stderr
            .contains("does not know the API key of this login"),
        "{}",
        seen.stderr
    );
    let nobody = run(home.path(), &node, &["login", &node.url]).await;
    assert_eq!(nobody.code, 2, "{}", nobody.stderr);
    let login = ["login", &node.url, "--api-key", "mine"];
    let seen = run(home.path(), &node, &login).await;
    assert_eq!(seen.code, 0, "{}", seen.stderr);
    assert!(
        seen.stdout.contains("PROFILE   default\n"),
        "{}",
        seen.stdout
    );
    let file = home.path().join(".config/headwater/profiles.toml");
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);

    assert_eq!(run(home.path(), &node, &["list"]).await.code, 0);
    assert_eq!(used(&node).as_deref(), Some("Bearer mine"));
    // A folder of a node counts before the last login, a profile that is named before the folder.
    let data_dir = home.path().join("headwater-data");
    std::fs::create_dir(&data_dir).unwrap();
    std::fs::write(data_dir.join("api-key"), "other").unwrap();
    let at = ["list", "--url", &node.url];
    assert_eq!(run(home.path(), &node, &at).await.code, 0);
    assert_eq!(used(&node).as_deref(), Some("Bearer other"));
    let named = ["list", "--profile", "default"];
    assert_eq!(run(home.path(), &node, &named).await.code, 0);
    assert_eq!(used(&node).as_deref(), Some("Bearer mine"));
    std::fs::remove_dir_all(&data_dir).unwrap();

    assert_eq!(run(home.path(), &node, &["logout"]).await.code, 0);
    assert_eq!(run(home.path(), &node, &["logout"]).await.code, 1);
    let seen = run(home.path(), &node, &at).await;
    for told in [
        "there is no API key",
        "./headwater-data/api-key does not exist",
        "headwater login",
    ] {
        assert!(seen.stderr.contains(told), "{}", seen.stderr);
    }
}

#[tokio::test]
async fn a_key_that_is_given_goes_to_the_node_that_would_be_asked_without_it() {
    let (node, other) = (Node::start().await, Node::start().await);
    user(&node);
    user(&other);
    let home = tempfile::tempdir().unwrap();
    let login = ["login", &node.url, "--api-key", "mine"];
    assert_eq!(run(home.path(), &node, &login).await.code, 0);
    let given = ["list", "--api-key", "other"];
    let seen = run(home.path(), &node, &given).await;
    assert_eq!(seen.code, 0, "{}", seen.stderr);
    assert_eq!(used(&node).as_deref(), Some("Bearer other"));

    let data_dir = home.path().join("headwater-data");
    std::fs::create_dir(&data_dir).unwrap();
    std::fs::write(data_dir.join("api-key"), "mine").unwrap();
    std::fs::write(data_dir.join("address"), &other.url).unwrap();
    assert_eq!(run(home.path(), &node, &given).await.code, 0);
    assert_eq!(used(&other).as_deref(), Some("Bearer other"));
    let named = ["list", "--api-key", "other", "--profile", "default"];
    let asked = node.received("GET /v1/users/me/sources").len();
    assert_eq!(run(home.path(), &node, &named).await.code, 0);
    assert_eq!(node.received("GET /v1/users/me/sources").len(), asked + 1);
}

#[tokio::test]
async fn a_profiles_key_goes_to_the_profiles_node_only() {
    let (node, other) = (Node::start().await, Node::start().await);
    user(&node);
    user(&other);
    let home = tempfile::tempdir().unwrap();
    let login = ["login", &node.url, "--api-key", "mine", "--profile", "work"];
    assert_eq!(run(home.path(), &node, &login).await.code, 0);
    for profile in [&["--profile", "work"][..], &[]] {
        let elsewhere = [&["list", "--url", &other.url][..], profile].concat();
        assert_eq!(run(home.path(), &node, &elsewhere).await.code, 1);
        assert_eq!(used(&other), None);
    }
    let unknown = run(home.path(), &node, &["list", "--profile", "home"]).await;
    assert_eq!(unknown.code, 2);
    assert!(
        unknown.stderr.contains("headwater login --profile home"),
        "{}",
        unknown.stderr
    );
}

#[tokio::test]
async fn profiles_are_listed_without_their_keys_and_one_of_them_is_chosen() {
    let (node, other) = (Node::start().await, Node::start().await);
    user(&node);
    user(&other);
    let home = tempfile::tempdir().unwrap();
    let seen = run(home.path(), &node, &["profiles", "list"]).await;
    assert_eq!(seen.code, 0);
    assert!(seen.stderr.contains("headwater login"), "{}", seen.stderr);
    let home = home.path();
    for (profile, at) in [("home", &other), ("work", &node)] {
        let login = ["login", &at.url, "--api-key", "mine", "--profile", profile];
        assert_eq!(run(home, &node, &login).await.code, 0);
    }
    let listed = run(home, &node, &["profiles", "list", "-o", "profile,current"]).await;
    assert_eq!(
        listed.stdout,
        "PROFILE   CURRENT\nhome      -\nwork      yes\n"
    );
    let seen = run(home, &node, &["profiles", "use", "home"]).await;
    assert_eq!(seen.code, 0, "{}", seen.stderr);
    assert_eq!(run(home, &node, &["list"]).await.code, 0);
    assert_eq!(used(&other).as_deref(), Some("Bearer mine"));
    let all = run(home, &node, &["profiles", "list", "--json"]).await;
    assert!(!all.stdout.contains("mine"), "{}", all.stdout);
    let chosen = &all.json()[0];
    assert_eq!(
        (&chosen["profile"], &chosen["current"]),
        (&json!("home"), &json!(true))
    );
    let unknown = run(home, &node, &["profiles", "use", "nix"]).await;
    assert_eq!(unknown.code, 2);
    assert!(
        unknown.stderr.contains("there are home, work"),
        "{}",
        unknown.stderr
    );
    let gone = run(home, &node, &["logout"]).await;
    assert!(
        gone.stderr.contains("the current profile is work"),
        "{}",
        gone.stderr
    );
}

#[tokio::test]
async fn with_json_an_error_is_json_too() {
    let node = Node::start().await;
    node.on("GET /v1/users/me/sources", |_| {
        let error = json!({"code": "internal", "message": "a fault", "request_id": "r1"});
        (500, json!({ "error": error }))
    });
    let seen = node.run(&["list", "--json"]).await;
    assert_eq!((seen.code, &*seen.stdout), (1, ""));
    let told: Value = serde_json::from_str(seen.stderr.trim_end()).unwrap();
    let error = &told["error"];
    assert_eq!(
        (&error["code"], &error["request_id"]),
        (&json!("internal"), &json!("r1"))
    );
    assert!(
        error["hint"].as_str().unwrap().contains("headwater doctor"),
        "{told}"
    );
    let seen = node.run(&["list", "--json", "--nothing"]).await;
    let told: Value = serde_json::from_str(seen.stderr.trim_end()).unwrap();
    assert_eq!((seen.code, &told["error"]["code"]), (2, &json!("usage")));
}
