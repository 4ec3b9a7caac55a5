//! Timers: one tick at a time, none lost, none repeated.

use super::{Factory, fixture::*};
use crate::{NodeEpoch, SourceState, Store, Trigger};

/// The ticks' due times (seconds after `T0`) that a source is given to run, all ended.
async fn run_ticks(store: &dyn Store, source: &Leased, epoch: NodeEpoch) -> Vec<u64> {
    let mut ticks = Vec::new();
    for claimed in claim_all(store, &source.id, epoch, T0).await {
        assert_eq!(claimed.trigger, Trigger::Timer);
        let event: serde_json::Value = serde_json::from_str(claimed.event.get()).unwrap();
        ticks.push(event["timestamp"].as_u64().unwrap() - T0.to_seconds().0);
        commit(store, end_of(&claimed)).await.unwrap();
    }
    ticks
}

/// A tick fires at its time, once, and says what it is.
pub async fn a_timer_fires_once_per_tick(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy_with_timers(&*store, epoch, &owner(), vec![timer("timer", 60)]).await;
    let early = store.fire_timers(T0 + (MINUTE - MS), 10).await.unwrap();
    assert_eq!((early.done, early.next_due_ms), (0, Some(T0 + MINUTE)));
    let fired = store.fire_timers(T0 + MINUTE, 10).await.unwrap();
    assert_eq!((fired.done, fired.next_due_ms), (1, Some(T0 + 2 * MINUTE)));
    assert_eq!(fired.woken, [runnable(&source)]);
    let store = factory.reopen(store).await;
    assert_eq!(store.fire_timers(T0 + MINUTE, 10).await.unwrap().done, 0);
    let claimed = claim_all(&*store, &source.id, epoch, T0 + MINUTE).await;
    assert_eq!(claimed.len(), 1);
    let expected = every(60).tick_event(T0 + MINUTE);
    assert_eq!(
        claimed[0].event.get().parse::<serde_json::Value>().unwrap(),
        expected
    );
    assert_eq!((claimed[0].hops, claimed[0].queued_at_ms), (0, T0 + MINUTE));
}

/// However long the node was away, one tick makes up for it, and the phase is kept.
pub async fn a_timer_catches_up_once_after_downtime(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy_with_timers(&*store, epoch, &owner(), vec![timer("timer", 60)]).await;
    let store = factory.reopen(store).await;
    let epoch = store.start_node(&node(), T0).await.unwrap();
    let late = T0 + 10 * MINUTE + 5 * SECOND;
    let fired = store.fire_timers(late, 10).await.unwrap();
    assert_eq!((fired.done, fired.next_due_ms), (1, Some(T0 + 11 * MINUTE)));
    assert_eq!(store.fire_timers(late, 10).await.unwrap().done, 0);
    assert_eq!(run_ticks(&*store, &source, epoch).await.len(), 1);
}

/// While a tick waits, further ones are the same tick.
pub async fn ticks_coalesce_while_an_earlier_one_waits(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy_with_timers(&*store, epoch, &owner(), vec![timer("timer", 60)]).await;
    for minute in [1, 2, 3] {
        let fired = store.fire_timers(T0 + minute * MINUTE, 10).await.unwrap();
        assert_eq!(fired.next_due_ms, Some(T0 + (minute + 1) * MINUTE));
        assert_eq!(fired.woken.len(), usize::from(minute == 1));
    }
    let store = factory.reopen(store).await;
    assert_eq!(run_ticks(&*store, &source, epoch).await, [60]);
}

/// While a tick runs, one more waits, however many are due meanwhile.
pub async fn one_tick_waits_while_another_runs(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy_with_timers(&*store, epoch, &owner(), vec![timer("timer", 60)]).await;
    store.fire_timers(T0 + MINUTE, 10).await.unwrap();
    let running = claim_all(&*store, &source.id, epoch, T0 + MINUTE)
        .await
        .remove(0);
    store
        .extend_leases(std::slice::from_ref(&running.lease), T0 + 9 * MINUTE)
        .await
        .unwrap();
    for minute in [2, 3, 4] {
        store.fire_timers(T0 + minute * MINUTE, 10).await.unwrap();
    }
    assert_eq!(run_ticks(&*store, &source, epoch).await, [120]);
    commit(&*store, end_of(&running)).await.unwrap();
    store.fire_timers(T0 + 5 * MINUTE, 10).await.unwrap();
    assert_eq!(run_ticks(&*store, &source, epoch).await, [300]);
}

/// A tick that a runner has claimed but not begun is the one that waits: no third one is queued.
pub async fn a_claimed_tick_is_the_one_that_waits(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy_with_timers(&*store, epoch, &owner(), vec![timer("timer", 60)]).await;
    let mut held = Vec::new();
    for minute in [1, 2, 3, 4] {
        store.fire_timers(T0 + minute * MINUTE, 10).await.unwrap();
        let claimed = claim_all(&*store, &source.id, epoch, T0 + minute * MINUTE).await;
        let leases: Vec<_> = claimed
            .iter()
            .map(|claimed| claimed.lease.clone())
            .collect();
        store.extend_leases(&leases, T0 + 9 * MINUTE).await.unwrap();
        held.extend(claimed);
    }
    assert_eq!(held.len(), 2);
}

/// As soon as the tick has ended, the next one fires at its time.
pub async fn a_timer_fires_again_after_its_tick_ended(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy_with_timers(&*store, epoch, &owner(), vec![timer("timer", 60)]).await;
    for minute in 1..=3 {
        store.fire_timers(T0 + minute * MINUTE, 10).await.unwrap();
        assert_eq!(
            run_ticks(&*store, &source, epoch).await,
            [u64::from(minute) * 60]
        );
    }
}

/// Timers of one source, and of several, do not hold each other up.
pub async fn several_timers_fire_side_by_side(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let two = deploy_with_timers(
        &*store,
        epoch,
        &mine,
        vec![timer("slow", 120), timer("fast", 60)],
    )
    .await;
    let one = deploy_with_timers(&*store, epoch, &mine, vec![timer("timer", 60)]).await;
    let first = store.fire_timers(T0 + MINUTE, 1).await.unwrap();
    assert_eq!((first.done, first.more), (1, true));
    let second = store.fire_timers(T0 + MINUTE, 10).await.unwrap();
    assert_eq!(
        (second.done, second.more, second.next_due_ms),
        (1, false, Some(T0 + 2 * MINUTE))
    );
    assert_eq!(run_ticks(&*store, &one, epoch).await, [60]);
    // The fast timer's first tick still waits, the slow timer's is another.
    assert_eq!(
        store.fire_timers(T0 + 2 * MINUTE, 10).await.unwrap().done,
        3
    );
    let mut ticks = run_ticks(&*store, &two, epoch).await;
    ticks.sort_unstable();
    assert_eq!(ticks, [60, 120]);
}

/// A source that is not active misses its ticks; the first one after it is active again catches up.
pub async fn timers_of_sources_that_are_not_active_do_not_fire(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy_with_timers(&*store, epoch, &owner(), vec![timer("timer", 60)]).await;
    for state in [
        SourceState::Deleting,
        SourceState::Updating,
        SourceState::Inactive,
    ] {
        store.set_source_state(&source.lease, state).await.unwrap();
        let fired = store.fire_timers(T0 + 3 * MINUTE, 10).await.unwrap();
        assert_eq!((fired.done, fired.next_due_ms), (0, None), "{state:?}");
    }
    store
        .set_source_state(&source.lease, SourceState::Active)
        .await
        .unwrap();
    store.fire_timers(T0 + 3 * MINUTE, 10).await.unwrap();
    assert_eq!(run_ticks(&*store, &source, epoch).await.len(), 1);
}

/// A schedule that never fires again causes no work.
pub async fn a_schedule_without_a_next_time_is_never_due(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let never = crate::Timer {
        prop: "timer".to_owned(),
        schedule: headwater_model::schedule::Schedule::Cron {
            expression: "0 0 30 2 *".to_owned(),
            timezone: "UTC".to_owned(),
        },
    };
    let source = deploy_with_timers(&*store, epoch, &owner(), vec![never.clone()]).await;
    let fired = store.fire_timers(T0 + 1000 * MINUTE, 10).await.unwrap();
    assert_eq!((fired.done, fired.next_due_ms), (0, None));
    assert_eq!(
        store.source(&source.id).await.unwrap().unwrap().spec.timers,
        [never]
    );
}

/// An update that leaves a timer as it is does not move it.
pub async fn an_unchanged_timer_keeps_its_phase_when_settled(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy_with_timers(&*store, epoch, &owner(), vec![timer("timer", 60)]).await;
    store
        .set_source_state(&source.lease, SourceState::Updating)
        .await
        .unwrap();
    store
        .settle_source(settled(&source, true, T0 + 45 * SECOND))
        .await
        .unwrap();
    let next = store
        .fire_timers(T0 + 45 * SECOND, 10)
        .await
        .unwrap()
        .next_due_ms;
    assert_eq!(next, Some(T0 + MINUTE));
}

/// A timer that was changed starts anew.
pub async fn a_changed_timer_is_rescheduled_when_settled(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mut source = deploy_with_timers(&*store, epoch, &owner(), vec![timer("timer", 60)]).await;
    source.spec.timers = vec![timer("timer", 90)];
    store
        .settle_source(settled(&source, true, T0 + 45 * SECOND))
        .await
        .unwrap();
    let next = store
        .fire_timers(T0 + 45 * SECOND, 10)
        .await
        .unwrap()
        .next_due_ms;
    assert_eq!(next, Some(T0 + 135 * SECOND));
}

/// An inactive source has no ticks; when it is activated, its timers start anew.
pub async fn timers_are_unscheduled_while_a_source_is_inactive(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy_with_timers(&*store, epoch, &owner(), vec![timer("timer", 60)]).await;
    store
        .settle_source(settled(&source, false, T0 + SECOND))
        .await
        .unwrap();
    let fired = store.fire_timers(T0 + 5 * MINUTE, 10).await.unwrap();
    assert_eq!((fired.done, fired.next_due_ms), (0, None));
    let again = T0 + 5 * MINUTE + 7 * SECOND;
    store
        .settle_source(settled(&source, true, again))
        .await
        .unwrap();
    let fired = store.fire_timers(again, 10).await.unwrap();
    assert_eq!((fired.done, fired.next_due_ms), (0, Some(again + MINUTE)));
}

/// A source without timers has none left from before.
pub async fn a_timer_that_was_removed_does_not_fire(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mut source = deploy_with_timers(
        &*store,
        epoch,
        &owner(),
        vec![timer("a", 60), timer("b", 60)],
    )
    .await;
    source.spec.timers = vec![timer("b", 60)];
    let settled = store
        .settle_source(settled(&source, true, T0 + SECOND))
        .await
        .unwrap();
    assert_eq!(settled.spec.timers, [timer("b", 60)]);
    assert_eq!(store.fire_timers(T0 + MINUTE, 10).await.unwrap().done, 1);
    store.delete_source(&source.lease).await.unwrap();
    let fired = store.fire_timers(T0 + 9 * MINUTE, 10).await.unwrap();
    assert_eq!((fired.done, fired.next_due_ms), (0, None));
}
