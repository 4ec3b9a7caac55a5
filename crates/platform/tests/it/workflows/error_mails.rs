//! Mail to the owner of a workflow about its errors, and what is told of the first of several tries.

use std::{sync::Arc, time::Duration};

use headwater_model::page::PageRequest;
use headwater_platform::{EventsQuery, MailSender, WorkflowRunStatus, default_channels};
use serde_json::{Value, json};

use super::{Flow, step};
use crate::world::World;

/// A day in milliseconds.
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// A world whose node sends mail, to a relay that nobody runs.
async fn with_mail() -> World {
    let sender = MailSender::new("smtp://127.0.0.1:9", "node@example.com").unwrap();
    World::with(|config| config.mail = Some(Arc::new(sender))).await
}

/// The mails that a run, whose only step fails so, queues to the owner.
async fn mails(world: &World, flow: &headwater_model::id::WorkflowId, error: &str) -> Vec<Value> {
    let run = world.start_run(flow, json!(1)).await;
    world.step("one").await.throws(error);
    let run = world.run_that(&run, WorkflowRunStatus::Failed).await;
    let arguments = run.sends.iter().map(|send| {
        assert_eq!(
            (&*send.id.path, send.way),
            ("", headwater_store::SendWay::Email)
        );
        serde_json::from_str(send.value.get()).unwrap()
    });
    arguments.collect()
}

#[tokio::test]
async fn the_owner_is_told_of_an_error_once_a_day() {
    let world = with_mail().await;
    let flow = Flow::of(&[step("one", &[])]).id(&world).await;
    let first = mails(&world, &flow, "no tea").await;
    assert_eq!(first.len(), 1);
    assert_eq!(first[0]["subject"], "Flow: TypeError: no tea");
    let text = first[0]["text"].as_str().unwrap();
    for told in ["`one`", "TypeError: no tea", "headwater runs describe inv_"] {
        assert!(text.contains(told), "{told}: {text}");
    }
    assert!(mails(&world, &flow, "no tea").await.is_empty());
    assert_eq!(mails(&world, &flow, "no milk").await.len(), 1);
    world.clock.advance(DAY_MS);
    assert_eq!(mails(&world, &flow, "no tea").await.len(), 1);
}

#[tokio::test]
async fn nobody_is_told_who_does_not_want_it() {
    let world = with_mail().await;
    let settings = "settings:\n  error_notification: false\n";
    let flow = Flow::with(settings, &[step("one", &[])]).id(&world).await;
    assert!(mails(&world, &flow, "no tea").await.is_empty());
    let world = World::new().await;
    let flow = Flow::of(&[step("one", &[])]).id(&world).await;
    assert!(
        mails(&world, &flow, "no tea").await.is_empty(),
        "it sends no mail"
    );
}

#[tokio::test]
async fn the_first_of_several_tries_is_told_where_that_is_wanted() {
    for (settings, expected) in [("", 0), ("settings:\n  notify_first_error: true\n", 1)] {
        let world = with_mail().await;
        let retry = "retry: { attempts: 3, initial: 10s, jitter: false }";
        let steps = [step("one", &[retry])];
        let flow = Flow::with(settings, &steps).id(&world).await;
        let run = world.start_run(&flow, json!(1)).await;
        world.step("one").await.throws("not yet");
        let waiting = world.run_that(&run, WorkflowRunStatus::Waiting).await;
        assert_eq!(waiting.sends.len(), expected, "{settings}");
        let query = EventsQuery {
            channels: default_channels(Some("$errors")),
            page: PageRequest::first(10),
        };
        let events = world.platform.workflow_events(&world.caller, &flow, &query);
        let events = events.await.unwrap().items;
        assert_eq!(events.len(), expected, "{settings}");
        for event in events {
            let event: Value = serde_json::from_str(event.event.get()).unwrap();
            assert_eq!(event["error"]["message"], "not yet");
            assert_eq!(event["error"]["path"], "one");
        }
    }
}

#[tokio::test]
async fn each_error_of_a_run_has_its_mail() {
    let world = with_mail().await;
    let settings = "settings:\n  notify_first_error: true\n";
    let retry = "retry: { attempts: 2, initial: 10s, jitter: false }";
    let steps = [step("one", &[retry]), step("two", &[retry])];
    let flow = Flow::with(settings, &steps).id(&world).await;
    let run = world.start_run(&flow, json!(1)).await;
    world.step("one").await.throws("no tea");
    world.run_that(&run, WorkflowRunStatus::Waiting).await;
    world.later(&flow, Duration::from_secs(10)).await;
    world.step("one").await.returns();
    world.step("two").await.throws("no milk");
    world.run_that(&run, WorkflowRunStatus::Waiting).await;
    world.later(&flow, Duration::from_secs(10)).await;
    world.step("two").await.throws("no sugar");
    let run = world.run_that(&run, WorkflowRunStatus::Failed).await;
    let mails = run.sends.iter().map(|send| {
        let value: Value = serde_json::from_str(send.value.get()).unwrap();
        (
            send.id.number,
            value["subject"].as_str().unwrap().to_owned(),
        )
    });
    let mails: Vec<_> = mails.collect();
    let told = ["no tea", "no milk", "no sugar"];
    // Former versions sent those of before.
    let expected = (2..).zip(told.map(|error| format!("Flow: TypeError: {error}")));
    assert_eq!(mails, expected.collect::<Vec<_>>());
}
