//! `GET /webhooks/{id}`.

use headwater_integration::Node;

use crate::code::unknown;

#[tokio::test]
async fn a_webhook_that_is_none_is_not_found() {
    let node = Node::start().await;
    for id in [unknown("wh_"), unknown("dc_"), "nonsense".to_owned()] {
        let error = node.get(&format!("/webhooks/{id}")).await.is(404).error();
        assert_eq!(error["message"], format!("there is no webhook `{id}`"));
    }
}
