//! `@pipedream/data_stores`: all of its actions on stores that the steps name.

use headwater_integration::Node;
use serde_json::{Value, json};

use super::{folder, returned, summary};

/// The actions with their props, in an order in which each sees what those before it did.
const STEPS: &str = r#"- namespace: add
  uses: data_stores-add-update-record@0.0.12
  props: { dataStore: { storeId: teas }, key: "{{event.tea}}", value: "{{event.price}}", ttl: "{{event.ttl}}" }
- namespace: add_many
  uses: data_stores-add-update-multiple-records@0.0.9
  props: { dataStore: teas, data: "{{({ assam: '4', [event.tea]: 5, fresh: 'true' })}}" }
- namespace: append
  uses: data_stores-append-to-record@0.0.6
  props: { dataStore: { storeId: teas }, key: orders, value: '{"id": {{event.id}}}' }
- namespace: append_again
  uses: data_stores-append-to-record@0.0.6
  props: { dataStore: { storeId: teas }, key: orders, value: "{{event.id}}" }
- namespace: all
  uses: data_stores-get-all-records@0.0.7
  props: { dataStore: { storeId: teas } }
- namespace: keys
  uses: data_stores-list-keys@0.0.5
  props: { dataStore: { storeId: teas } }
- namespace: some
  uses: data_stores-list-records@0.0.6
  props: { dataStore: { storeId: teas }, keys: [assam, "{{event.tea}}"], returnType: array }
- namespace: found
  uses: data_stores-get-record-keys@0.0.7
  props: { dataStore: { storeId: teas }, query: TRUE, caseInsensitive: true }
- namespace: created
  uses: data_stores-get-record-or-create@0.0.15
  _props_cursor: dyp_1
  props: { dataStore: { storeId: more }, key: mint, addRecordIfNotFound: "Yes", value: [1, 2] }
- namespace: exists
  uses: data_stores-has-key-or-create@0.1.5
  props: { dataStore: { storeId: more }, key: mint, addRecordIfNotFound: "No" }
- namespace: only_here
  uses: data_stores-get-difference@0.0.5
  props: { dataStoreA: { storeId: more }, dataStoreB: { storeId: teas } }
- namespace: expires
  uses: data_stores-update-ttl@0.0.3
  _props_cursor: dyp_2
  props: { dataStore: { storeId: teas }, key: assam, ttlOption: custom, ttl: 7200 }
- namespace: stays
  uses: data_stores-update-ttl@0.0.3
  props: { dataStore: { storeId: teas }, key: "{{event.tea}}", ttlOption: "0" }
- namespace: deleted
  uses: data_stores-delete-single-record@0.0.12
  props: { dataStore: { storeId: teas }, key: fresh }
- namespace: cleared
  uses: data_stores-delete-all-records@0.0.5
  props: { dataStore: { storeId: more } }
"#;

#[tokio::test]
async fn every_action_reads_and_writes_the_stores_that_steps_name() {
    let node = Node::start().await;
    let workflow = folder(STEPS).deployed(&node).await;
    let event = json!({"tea": "sencha", "price": 3, "ttl": 60, "id": 7});
    let run = workflow.run(&node, event, "succeeded").await;
    let all = json!({"sencha": 5, "assam": 4, "fresh": true, "orders": [{"id": 7}, 7]});
    for (path, expected) in [
        ("add", json!({"key": "sencha", "value": 3, "ttl": 60})),
        ("all", all),
        (
            "found",
            json!({"hasRegisteredKeys": true, "keys": ["fresh"], "values": [true]}),
        ),
        ("created", json!([1, 2])),
        (
            "exists",
            json!({"existingKeyFound": true, "newKeyCreated": false}),
        ),
        ("only_here", json!({"mint": [1, 2]})),
        ("deleted", json!(true)),
    ] {
        assert_eq!(returned(&run, path), &expected, "{path}");
    }
    let mut keys: Vec<_> = returned(&run, "keys").as_array().unwrap().iter().collect();
    keys.sort_by_key(|key| key.as_str());
    assert_eq!(keys, ["assam", "fresh", "orders", "sencha"]);
    let mut some: Vec<_> = returned(&run, "some").as_array().unwrap().iter().collect();
    some.sort_by_key(|record| record["key"].as_str());
    let expected = [
        json!({"key": "assam", "value": 4}),
        json!({"key": "sencha", "value": 5}),
    ];
    assert_eq!(some, expected.iter().collect::<Vec<_>>());
    let records = node.get("/data_stores/teas/records").await.is(200).items();
    let expires = |key: &str| {
        let mut records = records.iter();
        let record = records.find(|record| record["key"] == key).unwrap();
        record["expires_at_ms"].is_u64()
    };
    assert_eq!(
        ["assam", "sencha", "orders"].map(expires),
        [true, false, false]
    );
    assert_eq!(returned(&run, "expires")["ttl"], 7200);
    assert_eq!(returned(&run, "stays")["ttl"], Value::Null);
    assert_eq!(
        summary(&run, "cleared"),
        "Successfully deleted all records."
    );
}
