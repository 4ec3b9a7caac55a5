//! Lists of sources and of workflows, reduced by name and state.

use headwater_model::{id::WorkflowId, page::PageRequest};

use super::{
    Factory,
    fixture::*,
    runs::{end_all, failed, returned},
    workflow_runs,
};
use crate::{AfterRun, Owner, RunOutcome, RunProgress, RunnableFilter, Standing, Wanted};

/// A filter of what the user deployed.
fn filter(of: &Owner, words: &[&str], standing: Option<Standing>) -> RunnableFilter {
    let wanted = Wanted {
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        standing,
    };
    RunnableFilter {
        wanted,
        ..RunnableFilter::user(of.user_id.clone())
    }
}

/// Each filter with the names that it leaves.
const REDUCED: [(&[&str], Option<Standing>, &[&str]); 8] = [
    (&[], None, &["Orders of SHOP", "Äpfel", "shop 100%"]),
    (&["shop"], None, &["Orders of SHOP", "shop 100%"]),
    (&["Shop", "orders"], None, &["Orders of SHOP"]),
    (&["ÄPF"], None, &["Äpfel"]),
    (&["%"], None, &["shop 100%"]),
    (&[], Some(Standing::Active), &["Orders of SHOP", "Äpfel"]),
    (&["shop"], Some(Standing::Paused), &["shop 100%"]),
    (&[], Some(Standing::Failing), &["Äpfel"]),
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
