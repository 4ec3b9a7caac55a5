//! `GET /users`.

use headwater_integration::Node;

#[tokio::test]
async fn the_administrator_lists_all_users_in_pages_without_their_keys() {
    let node = Node::start().await;
    for name in ["c", "b", "a"] {
        node.user(name).await;
    }
    let all = node.get("/users").await.is(200);
    let names: Vec<_> = all
        .items()
        .iter()
        .map(|user| user["username"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["admin", "c", "b", "a"]);
    assert!(!all.text.contains("hw_"), "{}", all.text);
    let page = node.get("/users?limit=3").await.is(200);
    assert_eq!(page.items(), all.items()[..3]);
    let cursor = page.json()["page_info"]["end_cursor"].take();
    let rest = format!("/users?after={}", cursor.as_str().unwrap());
    assert_eq!(node.get(&rest).await.is(200).items(), all.items()[3..]);
    node.get("/users?limit=0").await.is(400);
}

#[tokio::test]
async fn others_do_not() {
    let node = Node::start().await;
    node.user("bob").await.get("/users").await.is(403);
}
