//! The configuration of a node: flags win over the environment, which wins over the file.

use std::time::Duration;

use headwater_integration::Node;
use serde_json::json;

use crate::code::INBOX;

#[tokio::test]
async fn flags_win_over_the_environment_and_that_over_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("headwater.toml");
    std::fs::write(
        &file,
        "public_url = \"https://file.example\"\nusername = \"from-file\"\n",
    )
    .unwrap();
    let config = format!("--config={}", file.display());
    let with_file = || Node::builder().flag(&config);
    let with_environment =
        || with_file().env("HEADWATER_PUBLIC_URL", "https://environment.example");
    let with_flag = with_environment().flag("--public-url=https://flag.example");
    for (node, url) in [
        (with_file(), "https://file.example/e/"),
        (with_environment(), "https://environment.example/e/"),
        (with_flag, "https://flag.example/e/"),
    ] {
        let node = node.start().await;
        let source = node.deploy(INBOX, json!({})).await;
        assert!(source.endpoint().starts_with(url), "{}", source.endpoint());
        assert_eq!(
            node.get("/users/me").await.is(200).data()["username"],
            "from-file"
        );
    }
}

#[tokio::test]
async fn the_folder_of_workflows_and_its_workspace_may_be_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let orders = folder.path().join("workflows/orders");
    std::fs::create_dir_all(&orders).unwrap();
    let definition =
        "schema: workflow/2022.04\nname: Orders\nsteps:\n- namespace: end\n  type: end\n";
    std::fs::write(orders.join("workflow.yaml"), definition).unwrap();
    let file = folder.path().join("headwater.toml");
    std::fs::write(&file, "").unwrap();
    let config = format!("--config={}", file.display());
    let builder = Node::builder().own_address();
    let mut node = builder.flag(&config).start().await;
    let workspace = json!({ "orgname": "acme" });
    let workspace = node.post("/workspaces", workspace).await.is(200).data();
    node.kill_9();
    let options = format!(
        "workflows = \"{}\"\nworkspace = \"acme\"\n",
        folder.path().join("workflows").display()
    );
    std::fs::write(&file, options).unwrap();
    node.restart().await;
    let listing = async {
        loop {
            let listed = node.get("/workflows").await.is(200).items();
            if !listed.is_empty() {
                return listed;
            }
            tokio::task::yield_now().await;
        }
    };
    let listed = tokio::time::timeout(Duration::from_secs(90), listing).await;
    let listed = listed.expect("the folder is deployed");
    assert_eq!(listed[0]["name"], "Orders");
    assert_eq!(listed[0]["owner_id"], workspace["id"]);
}

#[tokio::test]
async fn an_unknown_option_in_the_file_is_a_usage_error_that_names_it() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("headwater.toml"),
        "listne = \"127.0.0.1:0\"\n",
    )
    .unwrap();
    let arguments = ["serve", "--config", "headwater.toml", "--data-dir", "data"];
    let seen = node.cli_in(folder.path(), &arguments).await;
    assert_eq!(seen.code, 2, "{}", seen.stderr);
    assert!(seen.stderr.contains("listne"), "{}", seen.stderr);
}

#[tokio::test]
async fn a_mistake_in_an_apps_file_names_the_file_the_app_and_the_field() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    let text = "[acme]\nname = \"Acme\"\nauth = \"oauth2\"\n\
        [acme.oauth2]\nauthorize_url = \"https://acme.example\"\ntoken_url = \"acme.example\"\n";
    std::fs::write(folder.path().join("own.toml"), text).unwrap();
    let arguments = [
        "serve",
        "--apps",
        "own.toml",
        "--data-dir",
        "data",
        "--listen=127.0.0.1:0",
    ];
    let seen = node.cli_in(folder.path(), &arguments).await;
    assert_eq!(seen.code, 2, "{}", seen.stderr);
    for named in ["own.toml", "`acme`", "oauth2.token_url"] {
        assert!(seen.stderr.contains(named), "{named}: {}", seen.stderr);
    }
}

#[tokio::test]
async fn a_room_in_which_the_largest_request_never_fits_is_a_usage_error() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["serve", "--bodies-memory-mib=111", "--data-dir=data"];
    let seen = node.cli_in(folder.path(), &arguments).await;
    assert_eq!(seen.code, 2, "{}", seen.stderr);
    for named in ["--bodies-memory-mib", "at least 112 MiB"] {
        assert!(seen.stderr.contains(named), "{named}: {}", seen.stderr);
    }
    assert!(!folder.path().join("data").exists());
}

#[tokio::test]
async fn the_room_for_bodies_may_be_as_large_as_can_be_said() {
    let most = format!("--bodies-memory-mib={}", usize::MAX);
    let node = Node::builder().flag(&most).start().await;
    let source = node.deploy(INBOX, json!({})).await;
    node.post(source.endpoint(), json!({"n": 1})).await.is(200);
}
