//! Lists of sources and of workflows, reduced by name and state.

use std::time::Duration;

use headwater_model::{
    channel::Channel,
    endpoint::EndpointToken,
    id::WorkflowId,
    page::{PageRequest, Position},
};

use super::{
    Factory,
    catalog::{keyed, walk},
    fixture::*,
    runs::{end_all, failed, returned},
    workflow_runs,
};
use crate::{
    AfterRun, Endpoint, ListPlace, NodeEpoch, Owner, RunOutcome, RunProgress, RunnableFilter,
    SourceKey, SourceOrder, SourceTrigger, Standing, Store, Wanted,
};

/// A filter of what the user deployed.
fn filter(of: &Owner, words: &[&str], standing: Option<Standing>) -> RunnableFilter {
    let wanted = Wanted {
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        standing,
        ..Wanted::default()
    };
    RunnableFilter {
        wanted,
        ..RunnableFilter::user(of.user_id.clone())
    }
}

/// Each filter with the names that it leaves.
const REDUCED: [(&[&str], Option<Standing>, &[&str]); 9] = [
    (&[], None, &["Orders of SHOP", "Äpfel", "shop 100%"]),
    (&["shop"], None, &["Orders of SHOP", "shop 100%"]),
    (&["Shop", "orders"], None, &["Orders of SHOP"]),
    (&["ÄPF"], None, &["Äpfel"]),
    (&["%"], None, &["shop 100%"]),
    (&[], Some(Standing::Active), &["Orders of SHOP", "Äpfel"]),
    (&["shop"], Some(Standing::Paused), &["shop 100%"]),
    (&[], Some(Standing::Failing), &["Äpfel"]),
    (&[], Some(Standing::Ok), &["Orders of SHOP"]),
];

pub async fn a_list_of_sources_is_reduced_by_name_and_state(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    deploy(&*store, epoch, &owner()).await;
    let mut sources = Vec::new();
    for (name, active) in [
        ("Orders of SHOP", true),
        ("Äpfel", true),
        ("shop 100%", false),
    ] {
        let mut source = begin(&*store, epoch, &mine, "source").await;
        name.clone_into(&mut source.source.spec.name);
        let end = settled(&source, active, T0);
        store.settle_source(end).await.unwrap();
        sources.push(source);
    }
    let failure = || failed(RunOutcome::Threw, "Error: no");
    end_all(&*store, &sources[0], &[failure(), returned()]).await;
    end_all(&*store, &sources[1], &[returned(), failure()]).await;
    for (words, standing, expected) in REDUCED {
        let filter = filter(&mine, words, standing);
        let page = store.sources(&filter, &PageRequest::first(10)).await;
        let page = page.unwrap();
        let names = page.items.iter().map(|source| &*source.spec.name);
        assert_eq!(
            names.collect::<Vec<_>>(),
            expected,
            "{words:?} {standing:?}"
        );
        assert_eq!(page.total_count, expected.len() as u64);
    }
}

/// Workflows have neither: none is wanted.
pub async fn a_list_of_sources_is_reduced_by_trigger_and_component(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    workflow(&*store, &mine).await;
    let endpoint = Endpoint {
        prop: "http".to_owned(),
        token: EndpointToken::new("a-token-of-its-own".to_owned()),
    };
    let mut ids = Vec::new();
    for (key, timers, endpoints) in [
        (Some("shop-orders"), vec![timer("timer", 60)], Vec::new()),
        (Some("shopping"), Vec::new(), vec![endpoint]),
        (None, Vec::new(), Vec::new()),
    ] {
        let component = saved_component(&mine, key);
        let mut source = begin_of(&*store, epoch, component, "source").await;
        source.source.spec.timers = timers;
        source.source.spec.endpoints = endpoints;
        store
            .settle_source(settled(&source, true, T0))
            .await
            .unwrap();
        ids.push(source.source.id);
    }
    let listed = async |wanted: Wanted| {
        let filter = RunnableFilter {
            wanted,
            ..RunnableFilter::user(mine.user_id.clone())
        };
        let workflows = store.workflows(&filter, &PageRequest::first(10)).await;
        assert_eq!(workflows.unwrap().total_count, 0);
        let found = store
            .sources(&filter, &PageRequest::first(10))
            .await
            .unwrap();
        let found = found.items.into_iter().map(|source| source.id);
        found.collect::<Vec<_>>()
    };
    for (trigger, at) in [
        (SourceTrigger::Timer, 0),
        (SourceTrigger::Http, 1),
        (SourceTrigger::Neither, 2),
    ] {
        let trigger = Some(trigger);
        let wanted = Wanted {
            trigger,
            ..Wanted::default()
        };
        assert_eq!(listed(wanted).await, [ids[at].clone()], "{trigger:?}");
    }
    let of_app = Wanted {
        app: Some("shop".to_owned()),
        ..Wanted::default()
    };
    assert_eq!(listed(of_app.clone()).await, [ids[0].clone()]);
    let both = Wanted {
        trigger: Some(SourceTrigger::Http),
        ..of_app
    };
    assert_eq!(listed(both).await, []);
    let of_component = Wanted {
        component: Some("shopping".to_owned()),
        ..Wanted::default()
    };
    assert_eq!(listed(of_component).await, [ids[1].clone()]);
}

/// Five sources with the names and, on ordinary channels, the times of last events that an order is told by.
async fn to_be_ordered(store: &dyn Store, epoch: NodeEpoch, mine: &Owner) -> Vec<Leased> {
    let mut sources = Vec::new();
    for (name, last_event_ms) in [
        ("beta", Some(20)),
        ("Alpha", None),
        ("gamma", Some(9)),
        ("alpha", None),
        ("Äpfel", Some(100)),
    ] {
        let mut source = begin(store, epoch, mine, "source").await;
        name.clone_into(&mut source.source.spec.name);
        let end = settled(&source, true, T0);
        store.settle_source(end).await.unwrap();
        if let Some(ms) = last_event_ms {
            emit(store, &source, &["1"], T0 + Duration::from_millis(ms)).await;
        }
        emit_on(store, &source, Channel::errors(), "2").await;
        sources.push(source);
    }
    sources
}

/// The places of all sources of an order, walked through in every direction.
async fn places(store: &dyn Store, filter: &RunnableFilter, order: SourceOrder) -> Vec<ListPlace> {
    let read = async |request: PageRequest<ListPlace>| {
        let page = store.sources_in_order(filter, order, &request).await;
        keyed(page.unwrap(), |placed| {
            assert_eq!(placed.place.id, placed.item.id.as_str());
            placed.place.clone()
        })
    };
    let all = read(PageRequest::first(10)).await.items;
    walk(&all, read).await;
    all
}

pub async fn sources_are_paged_both_ways_in_every_order(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let sources = to_be_ordered(&*store, epoch, &mine).await;
    deploy(&*store, epoch, &owner()).await;
    let filter = filter(&mine, &[], None);
    for (by, expected) in [
        (SourceKey::Created, [0, 1, 2, 3, 4]),
        (SourceKey::Name, [1, 3, 0, 2, 4]),
        (SourceKey::LastEvent, [1, 3, 2, 0, 4]),
    ] {
        let mut expected = expected.map(|at| sources[at].id.as_str());
        for is_descending in [false, true] {
            let order = SourceOrder { by, is_descending };
            let found = places(&*store, &filter, order).await;
            let found: Vec<_> = found.iter().map(|place| &*place.id).collect();
            assert_eq!(found, expected, "{order:?}");
            expected.reverse();
        }
    }
    let reduced = RunnableFilter {
        wanted: Wanted {
            words: vec!["ALPHA".to_owned()],
            ..Wanted::default()
        },
        ..filter
    };
    let order = SourceOrder {
        by: SourceKey::Name,
        is_descending: true,
    };
    let first = PageRequest::first(1);
    let page = store.sources_in_order(&reduced, order, &first).await;
    let page = page.unwrap();
    assert_eq!(page.total_count, 2);
    assert_eq!(page.items[0].item.id, sources[3].id);
}

/// Its place stays where it was when the page before was read.
pub async fn an_ordered_list_goes_on_behind_a_source_that_has_moved(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let sources = to_be_ordered(&*store, epoch, &mine).await;
    let newest_first = SourceOrder {
        by: SourceKey::LastEvent,
        is_descending: true,
    };
    let filter = filter(&mine, &[], None);
    let read = async |position| {
        let request = PageRequest { limit: 2, position };
        let page = store.sources_in_order(&filter, newest_first, &request);
        page.await.unwrap().items
    };
    let of = |at: usize| sources[at].id.as_str().to_owned();
    let first = read(Position::First).await;
    let last = first[1].place.clone();
    assert_eq!(last.id, of(0));
    let ids = async |position| {
        let read = read(position).await.into_iter();
        read.map(|placed| placed.place.id).collect::<Vec<_>>()
    };
    let next = [of(2), of(3)];
    emit(&*store, &sources[0], &["3"], T0 + MINUTE).await;
    assert_eq!(ids(Position::After(last.clone())).await, next);
    store.delete_source(&sources[0].lease).await.unwrap();
    assert_eq!(ids(Position::After(last.clone())).await, next);
    assert_eq!(ids(Position::Before(last)).await, [of(4)]);
}

pub async fn a_list_of_workflows_is_reduced_by_name_and_state(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    workflow(&*store, &owner()).await;
    for (name, outcome) in [
        ("Orders of SHOP", Some(RunOutcome::Returned)),
        ("Äpfel", Some(RunOutcome::Threw)),
        ("shop 100%", None),
    ] {
        let id = WorkflowId::new(T0, entropy());
        let mut wanted = deployment(&id, &mine, T0);
        name.clone_into(&mut wanted.name);
        wanted.is_active = outcome.is_some();
        let of = store.deploy_workflow(wanted).await.unwrap();
        if let Some(outcome) = outcome {
            let run = workflow_runs::begun(&*store, &of, epoch).await;
            let mut end = workflow_runs::step(&run, AfterRun::Ended, RunProgress::default());
            end.ended = Some(crate::EndedRun {
                outcome,
                ..workflow_runs::ended(&of)
            });
            commit(&*store, end).await.unwrap();
        }
    }
    for (words, standing, expected) in REDUCED {
        let filter = filter(&mine, words, standing);
        let page = store.workflows(&filter, &PageRequest::first(10)).await;
        let page = page.unwrap();
        let names = page.items.iter().map(|workflow| &*workflow.name);
        assert_eq!(
            names.collect::<Vec<_>>(),
            expected,
            "{words:?} {standing:?}"
        );
        assert_eq!(page.total_count, expected.len() as u64);
    }
}
