//! Who may listen to what, before anything is emitted.

use headwater_model::{id::WorkflowId, time::EpochMs};
use headwater_platform::PlatformError;

use crate::{
    component::Component,
    world::{NOWHERE, World},
};

#[tokio::test]
async fn webhooks_and_workflows_may_listen() {
    let world = World::new().await;
    let (platform, caller) = (&world.platform, &world.caller);
    let workflow = WorkflowId::new(EpochMs(1), 1);
    for listener in [world.webhook(NOWHERE).await.as_str(), workflow.as_str()] {
        let made = platform
            .subscribe(caller, "dc_*", listener, "")
            .await
            .unwrap();
        let automatic = platform.subscribe_automatically(caller, listener, "$logs");
        assert_eq!(made.listener, automatic.await.unwrap().listener);
    }
    assert_eq!(platform.subscriptions(caller).await.unwrap().len(), 2);
    let refused = platform
        .subscribe(caller, workflow.as_str(), workflow.as_str(), "")
        .await;
    assert!(matches!(refused, Err(PlatformError::NotFound { .. })));
}

#[tokio::test]
async fn a_source_cannot_listen_to_its_own_errors_and_logs() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    let (platform, caller, id) = (&world.platform, &world.caller, id.as_str());
    for channel in ["$errors", "$logs"] {
        match platform.subscribe(caller, id, id, channel).await {
            Err(PlatformError::Invalid(invalid)) => assert_eq!(invalid.field, "event_name"),
            other => panic!("{other:?}"),
        }
        // All sources are more than itself.
        platform
            .subscribe(caller, "dc_*", id, channel)
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn an_automatic_subscription_is_made_once_and_ended_once() {
    let world = World::new().await;
    let id = world.webhook(NOWHERE).await;
    let (platform, caller, id) = (&world.platform, &world.caller, id.as_str());
    let first = platform
        .subscribe_automatically(caller, id, "$errors")
        .await;
    let again = platform
        .subscribe_automatically(caller, id, "$errors")
        .await;
    assert_eq!(first.unwrap(), again.unwrap());
    let source = world.deploy(&Component::named("later")).await;
    platform
        .unsubscribe_automatically(caller, id, "$errors")
        .await
        .unwrap();
    let refused = platform
        .unsubscribe_automatically(caller, id, "$errors")
        .await;
    assert!(matches!(refused, Err(PlatformError::NotFound { .. })));
    world.deploy(&Component::named("too late")).await;
    let listed = platform.subscriptions(caller).await.unwrap();
    let emitters: Vec<_> = listed.iter().map(|one| one.emitter.to_string()).collect();
    assert_eq!(emitters, [source.to_string()]);
}

#[tokio::test]
async fn only_errors_and_logs_are_subscribed_to_automatically() {
    let world = World::new().await;
    let id = world.webhook(NOWHERE).await;
    for channel in ["", "orders", "$in"] {
        let refused = world
            .platform
            .subscribe_automatically(&world.caller, id.as_str(), channel)
            .await;
        assert!(
            matches!(&refused, Err(PlatformError::Invalid(invalid)) if invalid.field == "event_name"),
            "{refused:?}"
        );
    }
}
