//! An event by its id, and the way from it to the runs that it caused.

use headwater_model::{
    channel::Channel,
    event::EventRef,
    id::{ComponentId, DeploymentId, EventId, InvocationId, ListenerId, SubscriptionId},
    origin::Origin,
    page::{PageRequest, Position},
    subscription::{EmitterPattern, Subscription},
};

use super::{Factory, fixture::*};
use crate::{
    ChannelFilter, Dropped, EndedRun, ListedRun, RunCommit, RunOutcome, RunTrigger, RunVersion,
    Source, Store, Viewer,
};

fn reference(source: &Source, id: EventId) -> EventRef {
    EventRef {
        emitter: emitter(source),
        id,
    }
}

/// The end of a run that returned, by an event.
fn returned() -> EndedRun {
    EndedRun {
        version: RunVersion::Component(ComponentId::new(T0, 7)),
        trigger: RunTrigger::Event,
        replay_of: None,
        queued_at_ms: T0,
        started_at_ms: T0,
        ended_at_ms: T0,
        outcome: RunOutcome::Returned,
        error: None,
        emitted: 0,
        dropped: Dropped::default(),
        has_scheduled: false,
        origin: Origin {
            request_id: Some("mine-1".into()),
            trace: None,
        },
        facts: crate::RunFacts::default(),
    }
}

/// The ids of the runs that an event caused, newest first, and which of them have ended.
async fn caused(store: &dyn Store, event: &EventRef, viewer: &Viewer) -> Vec<(InvocationId, bool)> {
    let page = PageRequest::first(100);
    let page = store.caused_runs(event, viewer, &page).await.unwrap();
    assert_eq!(page.total_count, page.items.len() as u64, "total_count");
    let of = |run: &ListedRun| {
        let (cause, has_ended) = match run {
            ListedRun::Open(open) => (&open.caused_by, false),
            ListedRun::Ended(ended) => (&ended.caused_by, true),
        };
        assert_eq!(cause.as_ref(), Some(event), "the run tells its event");
        (run.id().clone(), has_ended)
    };
    page.items.iter().map(of).collect()
}

/// With its data, its options and its origin, and not by the id of another emitter.
pub async fn an_event_is_found_by_its_id_on_every_channel(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let source = deploy(&*store, epoch, &mine).await;
    let other = deploy(&*store, epoch, &mine).await;
    let mut first = event("{ \"a\":  1.0 }");
    first.summary = Some("One".to_owned());
    first.trace = Some(trace());
    let due_ms = T0 + MINUTE;
    let run = RunCommit {
        events: vec![
            first,
            event_on(Channel::named("orders"), "2"),
            event_on(Channel::errors(), "3"),
            event_on(Channel::named(Channel::LOGS), "4"),
            event_later(Channel::default(), due_ms, "5"),
        ],
        ended: Some(returned()),
        ..run_of(&source, Vec::new(), T0)
    };
    commit(&*store, run.clone()).await.unwrap();
    let store = factory.reopen(store).await;
    let mut found = Vec::new();
    for channel in [
        "",
        "orders",
        Channel::ERRORS,
        Channel::LOGS,
        Channel::SCHEDULED,
    ] {
        let named = ChannelFilter::Named(Channel::named(channel));
        let listed = listed(&*store, &source, &named).await.remove(0);
        let of = reference(&source, listed.id);
        let event = store.event(&of).await.unwrap().unwrap();
        assert_eq!(format!("{:?}", event.event), format!("{listed:?}"));
        assert_eq!(event.origin.request_id(), Some("mine-1"), "{channel}");
        assert_eq!(
            event.deliver_at_ms,
            (channel == Channel::SCHEDULED).then_some(due_ms)
        );
        let elsewhere = reference(&other, listed.id);
        assert!(store.event(&elsewhere).await.unwrap().is_none());
        found.push(event);
    }
    assert_eq!(found[0].event.event.get(), "{ \"a\":  1.0 }");
    assert_eq!(found[0].event.run_id, Some(run.run_id));
    assert_eq!(found[0].origin.trace, Some(trace()));
    let nothing = EventId {
        ms: T0,
        sequence: 99,
    };
    let nothing = reference(&source, nothing);
    assert!(store.event(&nothing).await.unwrap().is_none());
}

/// As soon as that is requested, and no others.
pub async fn an_event_that_is_to_be_deleted_is_not_found(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    emit(&*store, &source, &["1", "2"], T0).await;
    let ids = ids(&*store, &source).await;
    let asked = deletion(&source, ordinary(), (Some(ids[1]), None));
    store.request_deletion(asked).await.unwrap();
    let [kept, gone] = [ids[0], ids[1]].map(|id| reference(&source, id));
    assert!(store.event(&gone).await.unwrap().is_none());
    assert!(store.event(&kept).await.unwrap().is_some());
}

/// Queued, running and ended ones, of sources and of workflows, also after the event has left the log.
pub async fn an_event_leads_to_the_runs_that_it_caused(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let from = deploy(&*store, epoch, &mine).await;
    let to = deploy(&*store, epoch, &mine).await;
    let flow = workflow(&*store, &mine).await;
    listen(&*store, &mine, &from, &to).await;
    let wanted = Subscription {
        id: SubscriptionId::new(T0, entropy()),
        user_id: mine.user_id.clone(),
        emitter: EmitterPattern::One(emitter(&from)),
        listener: ListenerId::Workflow(flow.id.clone()),
        channel: Channel::default(),
    };
    store.subscribe(wanted).await.unwrap();
    emit(&*store, &from, &["1", "2"], T0).await;
    let events = ids(&*store, &from).await;
    let [first, second] = [events[0], events[1]].map(|id| reference(&from, id));
    let viewer = viewer(&mine);
    assert!(caused(&*store, &first, &viewer).await.is_empty());
    dispatch_all(&*store, 100).await;
    let queued = caused(&*store, &first, &viewer).await;
    assert_eq!(queued.len(), 2);
    assert!(queued.iter().all(|(_, has_ended)| !has_ended));

    let work = claim_all(&*store, &to.id, epoch, T0).await;
    let flows = claim_runs(&*store, &flow.id, epoch, T0).await;
    let deployed = RunVersion::Deployment(DeploymentId::new(T0, 9));
    for (work, version) in [(&work[0], returned().version), (&flows[0], deployed)] {
        let end = RunCommit {
            ended: Some(EndedRun {
                version,
                ..returned()
            }),
            ..end_of(work)
        };
        commit(&*store, end).await.unwrap();
        let run = store.run(&work.lease.invocation_id).await.unwrap();
        assert_eq!(run.unwrap().caused_by.as_ref(), Some(&first));
    }
    let store = factory.reopen(store).await;
    let mut ended = [
        work[0].lease.invocation_id.clone(),
        flows[0].lease.invocation_id.clone(),
    ];
    ended.sort();
    ended.reverse();
    let wanted: Vec<_> = ended.iter().map(|id| (id.clone(), true)).collect();
    assert_eq!(caused(&*store, &first, &viewer).await, wanted);
    trim_all(&*store, 0, 100).await;
    assert!(store.event(&first).await.unwrap().is_none());
    assert_eq!(caused(&*store, &first, &viewer).await, wanted);
    let others = caused(&*store, &second, &viewer).await;
    assert_eq!(others.len(), 2);
    assert!(others.iter().all(|(_, has_ended)| !has_ended));
    for (position, found) in [
        (Position::First, &ended[0]),
        (Position::After(ended[0].clone()), &ended[1]),
        (Position::Before(ended[1].clone()), &ended[0]),
    ] {
        let page = PageRequest { limit: 1, position };
        let page = store.caused_runs(&first, &viewer, &page).await.unwrap();
        assert_eq!((page.total_count, page.items[0].id()), (2, found));
    }
}

/// A listener of another user, outside of the viewer's workspaces, shows nothing.
pub async fn runs_of_other_tenants_are_not_among_those_of_an_event(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, ours, theirs) = (owner(), workspace_owner(), owner());
    let from = deploy(&*store, epoch, &mine).await;
    for listener in [&mine, &ours, &theirs] {
        let to = deploy(&*store, epoch, listener).await;
        listen(&*store, &mine, &from, &to).await;
    }
    emit(&*store, &from, &["1"], T0).await;
    dispatch_all(&*store, 100).await;
    let event = reference(&from, ids(&*store, &from).await[0]);
    let mut me = viewer(&mine);
    assert_eq!(caused(&*store, &event, &me).await.len(), 1);
    me.workspace_ids.extend(ours.workspace_id.clone());
    assert_eq!(caused(&*store, &event, &me).await.len(), 2);
    assert_eq!(caused(&*store, &event, &viewer(&theirs)).await.len(), 1);
    assert!(caused(&*store, &event, &viewer(&owner())).await.is_empty());
}
