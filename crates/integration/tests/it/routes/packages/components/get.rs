//! `GET /packages/components`.

use headwater_integration::Node;

#[tokio::test]
async fn components_of_packages_are_found_by_words_type_and_app_and_paged() {
    let node = Node::start().await;
    let found = node
        .get("/packages/components?q=PostgreSQL+row&type=source&app=postgresql")
        .await
        .is(200);
    let items = found.items();
    let row = items.iter().find(|it| it["key"] == "postgresql-new-row");
    let row = row.unwrap_or_else(|| panic!("{}", found.text));
    assert_eq!(
        row["specifier"],
        "npm:@pipedream/postgresql/sources/new-row/new-row.mjs"
    );
    assert_eq!(row["package"], "@pipedream/postgresql");
    assert!(
        row["indexed_on"].as_str().unwrap().starts_with("20"),
        "{row}"
    );
    assert!(
        items.iter().all(|it| it["type"] == "source"),
        "{}",
        found.text
    );

    let all = node.get("/packages/components?limit=100").await.is(200);
    let first = node.get("/packages/components?limit=2").await.is(200);
    let cursor = first.json()["page_info"]["end_cursor"].clone();
    let next = format!(
        "/packages/components?limit=2&after={}",
        cursor.as_str().unwrap()
    );
    assert_eq!(node.get(&next).await.is(200).items(), all.items()[2..4]);
    let none = node
        .get("/packages/components?q=no+such+thing+at+all")
        .await;
    assert_eq!(none.is(200).items().len(), 0);
}

#[tokio::test]
async fn no_other_type_is_listed() {
    let node = Node::start().await;
    let answer = node.get("/packages/components?type=app").await;
    assert_eq!(answer.status, 400, "{}", answer.text);
}
