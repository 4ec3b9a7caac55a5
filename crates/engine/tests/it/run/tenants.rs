//! Tenants of one engine: what one takes of workers, others have all the same.

use serde_json::json;

use crate::harness::{Node, Source};

fn source_of(tenant: &str, component: &str) -> Source {
    let mut source = Source::named(component);
    source.spec.tenant = tenant.into();
    source
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_at_its_bound_waits_for_itself_and_nobody_else_does() {
    let node = Node::with(|config| config.workers_per_tenant = 1).await;
    let (busy, waiting) = (source_of("one", "steer"), source_of("one", "emit"));
    let other = source_of("other", "emit");
    let mut holding = node.steer(&busy, "wait").await;
    holding.has_begun().await;
    let waits = node.run(&waiting, json!(1));
    tokio::pin!(waits);
    tokio::select! {
        biased;
        messages = &mut waits => panic!("it had no place: {messages:?}"),
        messages = node.run(&other, json!(2)) => assert_eq!(messages.returned(), json!({"given": 2})),
    }
    assert_eq!(node.engine.status().source_workers, 2);
    node.engine.evict(&busy.spec.owner).await;
    assert!(holding.collect().await.is_lost());
    assert_eq!(waits.await.returned(), json!({"given": 1}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_waits_for_its_tenants_turn_is_evicted_at_once() {
    let node = Node::with(|config| config.workers_per_tenant = 1).await;
    let (busy, waiting) = (source_of("one", "steer"), source_of("one", "emit"));
    let mut holding = node.steer(&busy, "wait").await;
    holding.has_begun().await;
    let refused = node.start_run(&waiting, json!(1));
    tokio::pin!(refused);
    tokio::select! {
        biased;
        started = &mut refused => panic!("it had no place: {started:?}"),
        () = std::future::ready(()) => {}
    }
    let (refused, ()) = tokio::join!(refused, node.engine.evict(&waiting.spec.owner));
    let refused = refused.expect_err("it was evicted");
    assert!(
        refused.to_string().contains("ended or changed"),
        "{refused}"
    );
    node.engine.evict(&busy.spec.owner).await;
    assert!(holding.collect().await.is_lost());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_has_nothing_to_do_gives_its_place_to_another_of_its_tenant() {
    let node = Node::with(|config| config.workers_per_tenant = 1).await;
    for number in 0..3 {
        let source = source_of("one", "emit");
        let messages = node.run(&source, json!(number)).await;
        assert_eq!(messages.returned(), json!({"given": number}));
    }
    node.until(|status| status.source_workers == 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_with_twice_the_heap_counts_as_two_of_its_tenant() {
    for (heap_mib, has_place) in [(128, true), (256, true), (257, false), (4096, false)] {
        let node = Node::with(|config| config.workers_per_tenant = 2).await;
        let (busy, mut large) = (source_of("one", "steer"), source_of("one", "emit"));
        large.spec.heap_mib = Some(heap_mib);
        let mut holding = node.steer(&busy, "wait").await;
        holding.has_begun().await;
        let run = node.run(&large, json!(1));
        tokio::pin!(run);
        if !has_place {
            let other = source_of("other", "emit");
            tokio::select! {
                biased;
                messages = &mut run => panic!("{heap_mib} had a place: {messages:?}"),
                messages = node.run(&other, json!(2)) => { messages.returned(); }
            }
            node.engine.evict(&busy.spec.owner).await;
        }
        assert_eq!(run.await.returned(), json!({"given": 1}), "{heap_mib}");
    }
}
