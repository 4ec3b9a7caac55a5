//! `headwater accounts`.

use headwater_integration::Node;
use serde_json::json;

#[tokio::test]
async fn accounts_are_added_listed_and_deleted_and_never_shown() {
    let node = Node::start().await;
    let add = [
        "accounts",
        "add",
        "shop",
        "--field",
        "api_key=sesame-open-up",
        "--name",
        "work",
        "--json",
    ];
    let added = node.cli(&add).await.ok();
    assert_eq!(
        (&added.json()["app"], &added.json()["name"]),
        (&json!("shop"), &json!("work"))
    );
    let listed = node.cli(&["accounts", "list"]).await.ok();
    assert!(
        listed.stdout.contains("shop") && listed.stdout.contains("work"),
        "{}",
        listed.stdout
    );
    for seen in [&added, &listed] {
        assert!(
            !seen.stdout.contains("sesame") && !seen.stderr.contains("sesame"),
            "{}{}",
            seen.stdout,
            seen.stderr
        );
    }
    node.cli(&["accounts", "delete", "work"]).await.ok();
    assert_eq!(
        node.cli(&["accounts", "list", "--json"]).await.ok().json(),
        json!([])
    );
    assert_eq!(node.cli(&["accounts", "delete", "work"]).await.code, 1);
    assert_eq!(node.cli(&["accounts", "add", "shop"]).await.code, 2);
}
