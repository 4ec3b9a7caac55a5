//! Webhooks as records: what may be one, its secrets, and what switching it does.

use std::time::Duration;

use headwater_engine::network::NetworkPolicy;
use headwater_model::{page::PageRequest, time::EpochMs, webhook::DeliveryState};
use headwater_platform::{NewWebhook, PlatformError, ReplayRequest, UpdateWebhook};
use headwater_store::Webhook;

use crate::world::{NOWHERE, T0, World, after};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

fn at(url: &str) -> NewWebhook {
    NewWebhook {
        url: url.to_owned(),
        ..NewWebhook::default()
    }
}

fn switched(active: bool) -> UpdateWebhook {
    UpdateWebhook {
        active: Some(active),
        ..UpdateWebhook::default()
    }
}

fn replay(since_ms: EpochMs) -> ReplayRequest {
    ReplayRequest {
        since_ms: Some(since_ms),
        ..ReplayRequest::default()
    }
}

#[tokio::test]
async fn a_private_address_is_refused_when_the_webhook_is_made_or_changed() {
    let world = World::new().await;
    let refused = world
        .platform
        .create_webhook(&world.caller, at("http://10.0.0.1/"))
        .await;
    assert!(matches!(refused, Err(PlatformError::Invalid(invalid)) if invalid.field == "url"));
    let id = world.webhook(NOWHERE).await;
    let change = UpdateWebhook {
        url: Some("http://[::1]:80/".to_owned()),
        ..UpdateWebhook::default()
    };
    let refused = world
        .platform
        .update_webhook(&world.caller, &id, change)
        .await;
    assert!(matches!(refused, Err(PlatformError::Invalid(invalid)) if invalid.field == "url"));

    let open = World::with(|config| config.deliveries.network = NetworkPolicy::All).await;
    let made = open
        .platform
        .create_webhook(&open.caller, at("http://10.0.0.1/"))
        .await;
    assert!(made.is_ok());
}

#[tokio::test]
async fn secrets_are_not_readable_in_the_store() {
    let world = World::new().await;
    let (platform, caller) = (&world.platform, &world.caller);
    let made = platform
        .create_webhook(caller, at("https://receiver.example"))
        .await
        .unwrap();
    let rotated = platform
        .rotate_webhook_secret(caller, &made.webhook.id, None)
        .await
        .unwrap();
    assert_ne!(made.secret, rotated.secret);
    let stored = world
        .store
        .webhook(&made.webhook.id)
        .await
        .unwrap()
        .unwrap();
    let former = stored.former_secret.clone().unwrap();
    assert_eq!(former.sealed, made.webhook.secret);
    assert_eq!(former.valid_until_ms, after(DAY_MS));
    for secret in [&made.secret, &rotated.secret] {
        assert!(secret.starts_with("whsec_"));
        let bytes = secret.as_bytes();
        let holds = |sealed: &[u8]| sealed.windows(bytes.len()).any(|window| window == bytes);
        assert!(!holds(&stored.secret.0) && !holds(&former.sealed.0));
    }
}

#[tokio::test]
async fn changes_at_the_same_time_do_not_undo_each_other() {
    let world = World::new().await;
    let id = world.webhook(NOWHERE).await;
    let (platform, caller) = (&world.platform, &world.caller);
    let named = UpdateWebhook {
        name: Some(Some("orders".to_owned())),
        ..UpdateWebhook::default()
    };
    let (renamed, rotated) = tokio::join!(
        platform.update_webhook(caller, &id, named),
        platform.rotate_webhook_secret(caller, &id, None),
    );
    renamed.unwrap();
    let sealed = rotated.map(|rotated| rotated.webhook.secret).unwrap();
    let stored: Webhook = world.store.webhook(&id).await.unwrap().unwrap();
    assert_eq!(stored.name.as_deref(), Some("orders"));
    assert_eq!(stored.secret, sealed);
    assert!(stored.former_secret.is_some());
}

#[tokio::test]
async fn an_inactive_webhook_has_dead_letters_that_are_replayed_once_it_is_active() {
    let world = World::new().await;
    let delivery = world.delivery().await;
    let (platform, caller, id) = (&world.platform, &world.caller, &delivery.webhook_id);
    platform
        .update_webhook(caller, id, switched(false))
        .await
        .unwrap();
    let dead = platform.delivery(caller, &delivery.id).await.unwrap();
    assert_eq!(dead.state, DeliveryState::Dead);
    let refused = platform.retry_delivery(caller, &delivery.id).await;
    assert!(matches!(refused, Err(PlatformError::Conflict(_))));
    let refused = platform.replay_deliveries(caller, id, replay(T0)).await;
    assert!(matches!(refused, Err(PlatformError::Conflict(_))));

    platform
        .update_webhook(caller, id, switched(true))
        .await
        .unwrap();
    world.clock.advance(1000);
    let replayed = platform.replay_deliveries(caller, id, replay(T0)).await;
    assert_eq!(replayed.unwrap(), 1);
    let again = platform.delivery(caller, &delivery.id).await.unwrap();
    assert_ne!(again.state, DeliveryState::Delivered);
    let page = PageRequest::first(10);
    let listed = platform.deliveries(caller, id, None, &page).await.unwrap();
    assert_eq!(listed.total_count, 1);
}

#[tokio::test]
async fn a_replay_needs_a_range() {
    let world = World::new().await;
    let id = world.webhook(NOWHERE).await;
    let backwards = ReplayRequest {
        until_ms: Some(T0.minus(Duration::from_millis(1))),
        ..replay(T0)
    };
    for (request, field) in [
        (ReplayRequest::default(), "since"),
        (backwards, "until"),
        (replay(after(1)), "until"),
    ] {
        match world
            .platform
            .replay_deliveries(&world.caller, &id, request)
            .await
        {
            Err(PlatformError::Invalid(invalid)) => assert_eq!(invalid.field, field),
            other => panic!("{request:?}: {other:?}"),
        }
    }
}
