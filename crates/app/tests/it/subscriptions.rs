//! Who may listen to what, before anything is emitted.

use headwater_app::AppError;
use headwater_model::id::WorkflowId;

use crate::{
    component::Component,
    world::{NOWHERE, World},
};

#[tokio::test]
async fn webhooks_and_workflows_may_listen() {
    let world = World::new().await;
    let (app, caller) = (&world.app, &world.caller);
    let workflow = WorkflowId::new(1, 1);
    for listener in [world.webhook(NOWHERE).await.as_str(), workflow.as_str()] {
        let made = app.subscribe(caller, "dc_*", listener, "").await.unwrap();
        let automatic = app.subscribe_automatically(caller, listener, "$logs");
        assert_eq!(made.listener, automatic.await.unwrap().listener);
    }
    assert_eq!(app.subscriptions(caller).await.unwrap().len(), 2);
    let refused = app
        .subscribe(caller, workflow.as_str(), workflow.as_str(), "")
        .await;
    assert!(matches!(refused, Err(AppError::NotFound { .. })));
}

#[tokio::test]
async fn a_source_cannot_listen_to_its_own_errors_and_logs() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    let (app, caller, id) = (&world.app, &world.caller, id.as_str());
    for channel in ["$errors", "$logs"] {
        match app.subscribe(caller, id, id, channel).await {
            Err(AppError::Invalid(invalid)) => assert_eq!(invalid.field, "event_name"),
            other => panic!("{other:?}"),
        }
        // All sources are more than itself.
        app.subscribe(caller, "dc_*", id, channel).await.unwrap();
    }
}

#[tokio::test]
async fn an_automatic_subscription_is_made_once_and_ended_once() {
    let world = World::new().await;
    let id = world.webhook(NOWHERE).await;
    let (app, caller, id) = (&world.app, &world.caller, id.as_str());
    let first = app.subscribe_automatically(caller, id, "$errors").await;
    let again = app.subscribe_automatically(caller, id, "$errors").await;
    assert_eq!(first.unwrap(), again.unwrap());
    let source = world.deploy(&Component::named("later")).await;
    app.unsubscribe_automatically(caller, id, "$errors")
        .await
        .unwrap();
    let refused = app.unsubscribe_automatically(caller, id, "$errors").await;
    assert!(matches!(refused, Err(AppError::NotFound { .. })));
    world.deploy(&Component::named("too late")).await;
    let listed = app.subscriptions(caller).await.unwrap();
    let emitters: Vec<_> = listed.iter().map(|one| one.emitter.to_string()).collect();
    assert_eq!(emitters, [source.to_string()]);
}

#[tokio::test]
async fn only_errors_and_logs_are_subscribed_to_automatically() {
    let world = World::new().await;
    let id = world.webhook(NOWHERE).await;
    for channel in ["", "orders", "$in"] {
        let refused = world
            .app
            .subscribe_automatically(&world.caller, id.as_str(), channel)
            .await;
        assert!(
            matches!(&refused, Err(AppError::Invalid(invalid)) if invalid.field == "event_name"),
            "{refused:?}"
        );
    }
}
