//! Lists of sources and of workflows, reduced by name and state.

use headwater_model::{endpoint::EndpointToken, id::WorkflowId, page::PageRequest};

use super::{
    Factory,
    fixture::*,
    runs::{end_all, failed, returned},
    workflow_runs,
};
use crate::{
    AfterRun, Endpoint, Owner, RunOutcome, RunProgress, RunnableFilter, SourceTrigger, Standing,
    Wanted,
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
