//! A rolling upgrade under load: nodes of a former version are replaced one after the other, those that follow first.

use std::{path::PathBuf, sync::Arc};

use headwater_integration::{Database, Node, Receiver, tell};

use super::{deploy, judge, senders::Senders};

/// The former version's program.
const FORMER_VARIABLE: &str = "HEADWATER_TEST_FORMER";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the program of a former version: `cargo xtask faults --upgrade-from PROGRAM`"]
async fn an_upgrade_of_one_node_after_the_other_loses_nothing() {
    let former = std::env::var_os(FORMER_VARIABLE).expect("the program of a former version");
    let former = PathBuf::from(former);
    let database = Arc::new(Database::on_its_own_server());
    let start = async || {
        let node = Node::builder().of_cluster(&database).private_network();
        let node = node.flag("--shutdown-grace=3s").program(&former);
        node.flag("--retained-events=1000000").start().await
    };
    let mut nodes = vec![start().await];
    nodes[0].until_it("leads").await;
    nodes.push(start().await);
    nodes[1].until_it("follows").await;
    let receiver = Receiver::start().await;
    let sources = deploy(&nodes[0], &receiver).await;
    let addresses: Vec<_> = nodes.iter().map(Node::address).collect();
    let senders = Senders::start(&addresses, &sources.inbox);
    // The one that follows first, beside the older one that leads; then the newer one leads.
    for number in [1, 0] {
        senders.accepted_another().await;
        assert!(nodes[number].terminate().await.success());
        nodes[number].upgrade();
        nodes[number].restart().await;
    }
    senders.accepted_another().await;
    let sent = senders.end().await;
    let verdict = judge(&nodes[1], &sources, &receiver, &sent).await;
    tell(&format!(
        "upgraded: {} requests accepted, {} sent again, {} wrong; the longest waits of a request: {}",
        sent.ids.len(),
        sent.again,
        verdict.wrong(),
        sent.waits()
    ));
    verdict.check();
}
