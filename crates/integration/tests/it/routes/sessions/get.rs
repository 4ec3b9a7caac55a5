//! `GET /sessions`.

use headwater_integration::Node;

use crate::ui::Visitor;

#[tokio::test]
async fn sessions_are_listed_for_their_user_without_their_cookies() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let bob = node.user("bob").await;
    assert!(bob.get("/sessions").await.is(200).items().is_empty());
    let answer = node.get("/sessions").await.is(200);
    let secret = visitor.cookie.split_once('=').unwrap().1;
    assert!(!answer.text.contains(secret), "{}", answer.text);
    let session = answer.items().remove(0);
    assert!(
        session["id"].as_str().unwrap().starts_with("ses_"),
        "{session}"
    );
    assert_eq!(session["address"], "127.0.0.1");
    assert!(
        session["expires_at_ms"].as_u64() > session["created_at_ms"].as_u64(),
        "{session}"
    );
}
