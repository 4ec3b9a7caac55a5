//! Starts of a node that are refused, or that warn: by its options, its environment and its folder.

use headwater_integration::{Node, headwater_in};

/// A start in a folder that ends by itself.
async fn refused(folder: &std::path::Path, flags: &[&str]) -> (i32, String) {
    let arguments = [&["serve", "--listen=127.0.0.1:0", "--data-dir=data"], flags].concat();
    let seen = headwater_in(folder, &arguments).await;
    (seen.code, seen.stderr)
}

/// Also where the folder was there, and empty; one that has a store keeps it.
#[tokio::test]
async fn a_refused_first_start_leaves_no_data_folder() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    for flag in [
        "--public-url=nowhere",
        "--workflows=nowhere",
        "--retained-events=1",
    ] {
        let (code, stderr) = refused(folder.path(), &[flag]).await;
        assert_ne!(code, 0, "{flag}");
        assert!(stderr.contains(flag.split('=').next().unwrap()), "{stderr}");
        assert!(!stderr.contains("API key"), "{stderr}");
        assert!(!data.exists(), "{flag}");
    }
    std::fs::create_dir(&data).unwrap();
    let (_, stderr) = refused(folder.path(), &["--public-url=nowhere"]).await;
    assert_eq!(std::fs::read_dir(&data).unwrap().count(), 0, "{stderr}");

    let mut node = Node::start().await;
    assert!(node.terminate().await.success());
    let data_dir = format!("--data-dir={}", node.data_dir().display());
    let arguments = [
        "serve",
        "--listen=127.0.0.1:0",
        &data_dir,
        "--workflows=nowhere",
    ];
    assert_ne!(headwater_in(folder.path(), &arguments).await.code, 0);
    assert!(node.data_dir().join("headwater.db").exists());
}

#[tokio::test]
async fn a_folder_in_use_is_told_in_plain_words_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let node = Node::start().await;
    let data_dir = format!("--data-dir={}", node.data_dir().display());
    let listen = format!("--listen={}", node.url().trim_start_matches("http://"));
    // A wrong value is told first: neither the port nor the folder is asked for.
    for (wrong, told) in [
        ("--public-url=nowhere", "--public-url: `nowhere`"),
        ("--retained-events=1", "--retained-events: must be"),
        (
            "--allow-private-network=10",
            "--allow-private-network: `10`",
        ),
        ("--apps=none.toml", "none.toml"),
    ] {
        let arguments = ["serve", &listen, &data_dir, wrong];
        let seen = headwater_in(folder.path(), &arguments).await;
        assert!(seen.stderr.contains(told), "{wrong}: {}", seen.stderr);
        assert!(
            !seen.stderr.contains("listen on"),
            "{wrong}: {}",
            seen.stderr
        );
        assert!(
            !seen.stderr.contains("another headwater"),
            "{wrong}: {}",
            seen.stderr
        );
    }
    let arguments = ["serve", "--listen=127.0.0.1:0", &data_dir];
    let seen = headwater_in(folder.path(), &arguments).await;
    assert_eq!(seen.code, 1);
    let (told, lock) = (
        "another headwater is using this data folder",
        "headwater.lock",
    );
    assert!(seen.stderr.contains(told), "{}", seen.stderr);
    assert!(seen.stderr.contains(lock), "{}", seen.stderr);
    assert!(!seen.stderr.contains("would block"), "{}", seen.stderr);
    assert!(node.data_dir().join("headwater.db").exists());
}

#[tokio::test]
async fn a_level_of_the_log_that_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let node = Node::start().await;
    let mut command = node.command(&["serve", "--listen=127.0.0.1:0", "--data-dir=data"]);
    command
        .env("HEADWATER_LOG", "bogus")
        .current_dir(folder.path());
    let output = command.output().await.unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("HEADWATER_LOG=bogus") && stderr.contains("debug"),
        "{stderr}"
    );
    assert!(!folder.path().join("data").exists());
}

#[tokio::test]
async fn a_misspelt_variable_is_told_with_the_name_that_is_meant() {
    let builder = Node::builder().env("HEADWATER_PUBLIC_ULR", "http://a.example.com");
    let node = builder.start().await;
    let output = node.output_with("HEADWATER_PUBLIC_ULR");
    assert!(output.contains("HEADWATER_PUBLIC_URL"), "{output}");
}

/// Every fault is listed, and nothing is left behind.
#[tokio::test]
async fn a_check_lists_every_fault_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let listen = taken.local_addr().unwrap().to_string();
    let faulty = [
        "serve",
        "--check",
        "--listen",
        listen.as_str(),
        "--smtp-url",
        "smtp://mail.example",
        "--ca-certificate",
        "none.pem",
        "--database-url",
        "postgres://headwater:hunter2@127.0.0.1:1/headwater",
        "--workflows",
        "nowhere",
        "--public-url=foo",
        "--retained-events=10",
        "--trusted-proxies=x",
        "--webhook-backoff=x",
    ];
    let seen = headwater_in(folder.path(), &faulty).await;
    assert_eq!(seen.code, 1, "{}", seen.stderr);
    for told in [
        "--listen: cannot listen on",
        "--mail-from: must be given with --smtp-url",
        "--ca-certificate: cannot read none.pem",
        "--database-url: the database cannot be used (Connection refused)",
        "--workflows: cannot read the folder nowhere",
        "--public-url: `foo` is not an http or https URL",
        "--retained-events: must be at least 100",
        "--trusted-proxies: ",
        "--webhook-backoff: ",
        "9 faults; nothing was changed",
    ] {
        assert!(seen.stderr.contains(told), "{told}: {}", seen.stderr);
    }
    assert!(!seen.stderr.contains("hunter2"), "{}", seen.stderr);
    let whole = ["serve", "--check", "--listen", "127.0.0.1:0"];
    let seen = headwater_in(folder.path(), &whole).await;
    assert_eq!(seen.code, 0, "{}", seen.stderr);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// A node that runs, and one that has lost its key, are told apart from one that would start.
#[tokio::test]
async fn a_check_looks_at_the_data_folder_and_its_key() {
    let mut node = Node::builder().own_address().start().await;
    let check = ["serve", "--check", "--listen", "127.0.0.1:0"];
    let in_use = node.cli(&check).await;
    assert!(
        in_use.stderr.contains("another headwater is using"),
        "{}",
        in_use.stderr
    );
    node.terminate().await;
    node.cli(&check).await.ok();
    std::fs::remove_file(node.data_dir().join("secret-key")).unwrap();
    let lost = node.cli(&check).await;
    assert!(lost.stderr.contains("--new-secret-key"), "{}", lost.stderr);
}
