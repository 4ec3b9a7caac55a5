//! Audit records: no operation that changes something is without one, and each tells who did it and from where.

mod acts;

use std::collections::BTreeSet;

use headwater_integration::{Method, Operation};

/// The way in which an operation is recorded.
enum Recorded {
    /// By records of these actions.
    As(&'static [&'static str]),
    /// Not, for a reason.
    Not(&'static str),
}

use Recorded::{As, Not};

/// Every operation that changes something, or may.
const OPERATIONS: &[(&str, Recorded)] = &[
    ("cancel_run", As(&["run.cancel"])),
    ("check_account", As(&["account.check"])),
    ("check_workflow", Not("builds code, and keeps nothing")),
    ("connect_account", As(&["account.link", "account.connect"])),
    ("create_account", As(&["account.create"])),
    ("create_key", As(&["key.create"])),
    ("create_sign_in_link", As(&["session.link"])),
    ("create_user", As(&["user.create"])),
    ("create_webhook", As(&["webhook.create"])),
    ("create_workspace", As(&["workspace.create"])),
    ("add_member", As(&["workspace.add_member"])),
    ("delete_account", As(&["account.delete"])),
    ("delete_component", As(&["component.delete"])),
    ("delete_data_store", As(&["data_store.delete"])),
    (
        "delete_data_store_record",
        As(&["data_store.delete_record"]),
    ),
    ("delete_event_view", As(&["event_view.delete"])),
    ("delete_source", As(&["source.delete"])),
    ("delete_source_events", As(&["event.delete"])),
    ("delete_user", As(&["user.delete"])),
    ("delete_variable", As(&["variable.delete"])),
    ("delete_webhook", As(&["webhook.delete"])),
    ("delete_workflow", As(&["workflow.delete"])),
    ("deploy_source", As(&["source.deploy"])),
    ("deploy_workflow", As(&["workflow.deploy"])),
    ("discard_deliveries", As(&["delivery.discard"])),
    ("discard_delivery", As(&["delivery.discard"])),
    ("end_session", As(&["session.revoke"])),
    (
        "list_component_props",
        Not("computes props, and keeps nothing"),
    ),
    (
        "list_prop_options",
        Not("computes options, and keeps nothing"),
    ),
    ("patch_node", As(&["node.drain", "node.undrain"])),
    (
        "patch_source",
        As(&["source.update", "source.pause", "source.resume"]),
    ),
    (
        "patch_workflow",
        As(&["workflow.activate", "workflow.deactivate"]),
    ),
    ("publish_component", As(&["component.publish"])),
    ("publish_folder", As(&["component.publish"])),
    ("put_source", As(&["source.update"])),
    (
        "reconnect_account",
        As(&["account.link", "account.reconnect"]),
    ),
    ("remove_member", As(&["workspace.remove_member"])),
    ("replay_deliveries", As(&["webhook.replay"])),
    ("replay_events", As(&["event.replay"])),
    ("replay_run", As(&["run.replay"])),
    ("replay_runs", As(&["run.replay"])),
    ("resume_run", As(&["run.resume"])),
    ("retry_deliveries", As(&["delivery.retry"])),
    ("retry_delivery", As(&["delivery.retry"])),
    ("revoke_key", As(&["key.revoke"])),
    ("roll_back_source", As(&["source.roll_back"])),
    ("roll_back_workflow", As(&["workflow.roll_back"])),
    ("rotate_secret_key", As(&["node.rotate_secret_key"])),
    ("rotate_webhook_secret", As(&["webhook.rotate_secret"])),
    ("run_action", As(&["component.run"])),
    ("run_source", As(&["source.run"])),
    ("run_workflow", As(&["workflow.run"])),
    ("save_component", As(&["component.save"])),
    ("send_event", As(&["event.send"])),
    ("set_event_view", As(&["event_view.set"])),
    ("set_variable", As(&["variable.set"])),
    ("subscribe", As(&["subscription.create"])),
    ("subscribe_automatically", As(&["subscription.create"])),
    ("test_webhook", As(&["webhook.test"])),
    ("try_source", As(&["component.run"])),
    ("unsubscribe", As(&["subscription.delete"])),
    ("unsubscribe_automatically", As(&["subscription.delete"])),
    ("update_account", As(&["account.rename"])),
    ("update_webhook", As(&["webhook.update"])),
    ("write_data_store_record", As(&["data_store.set"])),
];

/// The acts of browsers alone.
const OF_BROWSERS: [&str; 3] = ["session.sign_in", "session.sign_out", "session.refuse"];

/// The acts on one of several nodes, which `cluster` leads to.
const OF_CLUSTERS: [&str; 2] = ["node.drain", "node.undrain"];

/// The names in the code.
fn actions() -> BTreeSet<&'static str> {
    let code = include_str!("../../../platform/src/audit.rs");
    let (_, list) = code.split_once("actions! {\n").expect("there is a list");
    let (list, _) = list.split_once('}').expect("it ends");
    let names = list.lines().filter_map(|line| line.split('"').nth(1));
    names.collect()
}

#[test]
fn every_operation_that_changes_something_is_recorded_or_says_why_not() {
    let changing: BTreeSet<_> = Operation::all()
        .into_iter()
        .filter(|operation| operation.method != Method::GET)
        .map(|operation| operation.id)
        .collect();
    let listed: BTreeSet<_> = OPERATIONS.iter().map(|(id, _)| (*id).to_owned()).collect();
    let forgotten: Vec<_> = changing.difference(&listed).collect();
    assert!(
        forgotten.is_empty(),
        "{forgotten:?}: let the use case end with `record`, and name the action in tests/it/audit.rs"
    );
    let gone: Vec<_> = listed.difference(&changing).collect();
    assert!(gone.is_empty(), "{gone:?} are no operations any more");
    for (id, recorded) in OPERATIONS {
        if let Not(reason) = recorded {
            assert!(!reason.is_empty(), "{id}");
        }
    }
}

/// The actions that some operation or browser leads to.
fn expected() -> BTreeSet<&'static str> {
    let named = OPERATIONS.iter().flat_map(|(_, recorded)| match recorded {
        As(actions) => *actions,
        Not(_) => &[],
    });
    named.copied().chain(OF_BROWSERS).collect()
}

#[test]
fn every_action_is_of_an_operation_or_of_browsers() {
    assert_eq!(actions(), expected());
}
