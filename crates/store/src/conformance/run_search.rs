//! Runs of all sources and workflows that somebody may see: found, counted, and counted by the hour.

use headwater_model::{
    id::{InvocationId, RunnableId},
    origin::Origin,
    outcome::Limit,
    page::{PageRequest, Position},
    time::EpochMs,
};
use std::time::Duration;

use super::{
    Factory,
    fixture::*,
    runs::{failed, returned},
    workflow_runs::{begun, goes_on, step},
};
use crate::{
    CappedCount, EndedRun, KeptRuns, ListedRun, RUNS_SEARCHED_MAX, RunCommit, RunCounts, RunHour,
    RunOutcome, RunProgress, RunSearchFilter, RunStates, RunTrigger, SourceState, Store, Viewer,
    Workflow,
};

const HOUR: Duration = Duration::from_secs(60 * 60);

/// The last commit of a run that was queued at that moment and never waited.
fn run_at(source: &Leased, queued_at_ms: EpochMs, ended: EndedRun) -> RunCommit {
    RunCommit {
        run_id: InvocationId::new(queued_at_ms, entropy()),
        ended: Some(EndedRun {
            queued_at_ms,
            ..ended
        }),
        ..run_of(source, Vec::new(), queued_at_ms)
    }
}

/// Ends a run that was queued at that moment.
async fn end_at(
    store: &dyn Store,
    source: &Leased,
    queued_at_ms: EpochMs,
    ended: EndedRun,
) -> InvocationId {
    let run = run_at(source, queued_at_ms, ended);
    let id = run.run_id.clone();
    commit(store, run).await.unwrap();
    id
}

fn threw() -> EndedRun {
    failed(RunOutcome::Threw, "Boom: no")
}

fn in_states(open: bool, outcomes: &[RunOutcome]) -> RunSearchFilter {
    RunSearchFilter {
        states: Some(RunStates {
            open,
            outcomes: outcomes.to_vec(),
        }),
        ..RunSearchFilter::default()
    }
}

async fn found(store: &dyn Store, viewer: &Viewer, filter: &RunSearchFilter) -> Vec<InvocationId> {
    let page = PageRequest::first(100);
    let found = store.find_runs(viewer, filter, &page, T0 + MINUTE).await;
    let found = found.unwrap();
    assert_eq!(found.searched_to, None);
    let ids = found.items.iter().map(|found| found.run.id().clone());
    ids.collect()
}

fn exactly(count: u64) -> CappedCount {
    CappedCount {
        count,
        is_capped: false,
    }
}

/// A source is its user's, and its workspace's members'.
pub async fn runs_of_other_tenants_are_not_found(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, ours, theirs) = (owner(), workspace_owner(), owner());
    let mut runs = Vec::new();
    for owner in [&mine, &ours, &theirs] {
        let source = deploy(&*store, epoch, owner).await;
        let queued = manual(&source.id, "1");
        let ids = [
            end_at(&*store, &source, T0, returned()).await,
            queued.id.clone(),
        ];
        store.enqueue(queued, None).await.unwrap();
        runs.push((source, ids));
    }
    let all = RunSearchFilter::default();
    let mut me = viewer(&mine);
    let found_mine = found(&*store, &me, &all).await;
    assert_eq!(found_mine.len(), 2);
    assert!(runs[0].1.iter().all(|id| found_mine.contains(id)));
    let of_theirs = RunSearchFilter {
        runnable: Some(runnable(&runs[2].0)),
        ..all.clone()
    };
    assert!(found(&*store, &me, &of_theirs).await.is_empty());
    let of_ours = RunSearchFilter {
        workspace_id: ours.workspace_id.clone(),
        ..all.clone()
    };
    assert!(found(&*store, &me, &of_ours).await.is_empty());
    me.workspace_ids.extend(ours.workspace_id.clone());
    assert_eq!(found(&*store, &me, &all).await.len(), 4);
    let in_workspace = found(&*store, &me, &of_ours).await;
    assert_eq!(in_workspace.len(), 2);
    assert!(runs[1].1.iter().all(|id| in_workspace.contains(id)));
    let nobody = viewer(&owner());
    let counts = store.count_runs(&nobody, &all, 10, T0).await.unwrap();
    assert_eq!(counts, RunCounts::default());
    let counts = store.count_runs(&me, &all, 10, T0).await.unwrap();
    assert_eq!((counts.open, counts.succeeded), (exactly(2), exactly(2)));
}

/// From the beginning of the deletion on.
pub async fn runs_of_what_is_being_deleted_are_not_found(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let going = deploy(&*store, epoch, &mine).await;
    let staying = deploy(&*store, epoch, &mine).await;
    end_at(&*store, &going, T0, returned()).await;
    let kept = end_at(&*store, &staying, T0, returned()).await;
    let deleting = store.set_source_state(&going.lease, SourceState::Deleting);
    deleting.await.unwrap();
    let all = RunSearchFilter::default();
    assert_eq!(found(&*store, &viewer(&mine), &all).await, [kept]);
}

/// Those of two sources and a workflow, whether they have ended or not, with the names of these.
pub async fn runs_of_all_sources_are_paged_both_ways(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let first = deploy(&*store, epoch, &mine).await;
    let second = deploy(&*store, epoch, &mine).await;
    let flow = workflow(&*store, &mine).await;
    let mut oldest_first = Vec::new();
    for (number, source) in [&first, &second, &first, &second].into_iter().enumerate() {
        let at_ms = T0 + SECOND * (2 * number as u32);
        let ended = if number % 3 == 0 { threw() } else { returned() };
        oldest_first.push((end_at(&*store, source, at_ms, ended).await, false));
        let mut open = match number % 2 {
            0 => call_of(&flow.id, "1"),
            _ => manual(&first.id, "1"),
        };
        open.now_ms = at_ms + SECOND;
        open.id = InvocationId::new(open.now_ms, entropy());
        oldest_first.push((open.id.clone(), true));
        store.enqueue(open, None).await.unwrap();
    }
    let store = factory.reopen(store).await;
    oldest_first.reverse();
    let newest_first = oldest_first;
    let viewer = viewer(&mine);
    let page = async |position| {
        let request = PageRequest { limit: 3, position };
        let all = RunSearchFilter::default();
        let found = store.find_runs(&viewer, &all, &request, T0).await.unwrap();
        assert_eq!(found.searched_to, None);
        for one in &found.items {
            let runnable = match &one.run {
                ListedRun::Open(run) => &run.runnable,
                ListedRun::Ended(run) => &run.runnable,
            };
            let name = match runnable {
                RunnableId::Source(id) if *id == first.id => &first.spec.name,
                RunnableId::Source(_) => &second.spec.name,
                RunnableId::Workflow(_) => &flow.name,
            };
            assert_eq!(one.name, *name);
        }
        let of = |run: &ListedRun| (run.id().clone(), matches!(run, ListedRun::Open(_)));
        let ids = found.items.iter().map(|found| of(&found.run));
        ids.collect::<Vec<_>>()
    };
    let at = |number: usize| newest_first[number].0.clone();
    assert_eq!(page(Position::First).await, newest_first[..3]);
    assert_eq!(page(Position::After(at(2))).await, newest_first[3..6]);
    assert_eq!(page(Position::After(at(5))).await, newest_first[6..]);
    assert_eq!(page(Position::Before(at(6))).await, newest_first[3..6]);
    assert_eq!(page(Position::Before(at(1))).await, newest_first[..1]);
}

/// Caused by a request that is part of no trace.
fn of_request(id: &str) -> Origin {
    Origin {
        request_id: Some(id.into()),
        trace: None,
    }
}

/// The runs of a filter's cases: slow, thrown, at a limit, cancelled and queued, oldest first.
async fn various(store: &dyn Store, source: &Leased, other: &Leased) -> [InvocationId; 5] {
    let slow = EndedRun {
        ended_at_ms: T0 + MINUTE,
        trigger: RunTrigger::Timer,
        ..returned()
    };
    let late = EndedRun {
        origin: of_request("its-own"),
        ..failed(RunOutcome::LimitExceeded(Limit::Wall), "too slow")
    };
    let cancelled = failed(RunOutcome::Cancelled, "by its user");
    let mut queued = manual(&source.id, "1");
    queued.origin = of_request("Queued.1");
    queued.now_ms = T0 + 4 * SECOND;
    queued.id = InvocationId::new(queued.now_ms, entropy());
    let open = queued.id.clone();
    store.enqueue(queued, None).await.unwrap();
    [
        end_at(store, source, T0, slow).await,
        end_at(store, other, T0 + SECOND, threw()).await,
        end_at(store, source, T0 + 2 * SECOND, late).await,
        end_at(store, source, T0 + 3 * SECOND, cancelled).await,
        open,
    ]
}

/// Each field alone, and states together.
pub async fn runs_are_found_by_each_field_of_the_filter(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let source = deploy(&*store, epoch, &mine).await;
    let other = deploy(&*store, epoch, &mine).await;
    let [slow, boom, late, gone, open] = &various(&*store, &source, &other).await;
    let with = |set: &dyn Fn(&mut RunSearchFilter)| {
        let mut filter = RunSearchFilter::default();
        set(&mut filter);
        filter
    };
    let wall = RunOutcome::LimitExceeded(Limit::Wall);
    let range = |filter: &mut RunSearchFilter| {
        filter.since_ms = Some(T0 + SECOND);
        filter.until_ms = Some(T0 + 2 * SECOND);
    };
    let other = Some(runnable(&other));
    let boom_in_any_case = "bOOm".to_owned();
    let of_origin = |id: &str| with(&|filter| filter.origin = Some(id.to_owned()));
    let trace_id = format!("{:032x}", trace().trace_id);
    let cases = [
        (with(&|_| {}), vec![open, gone, late, boom, slow]),
        (in_states(true, &[]), vec![open]),
        (in_states(false, &[]), vec![]),
        (in_states(true, &RunOutcome::WRONG), vec![open, late, boom]),
        (in_states(false, &[RunOutcome::Returned]), vec![slow]),
        (
            in_states(false, &[wall, RunOutcome::Cancelled]),
            vec![gone, late],
        ),
        (
            with(&|filter| filter.runnable.clone_from(&other)),
            vec![boom],
        ),
        (
            with(&|filter| filter.trigger = Some(RunTrigger::Timer)),
            vec![slow],
        ),
        (
            with(&|filter| filter.trigger = Some(RunTrigger::Manual)),
            vec![open],
        ),
        (with(&range), vec![late, boom]),
        // The open one is looked at 56 s after it was queued.
        (
            with(&|filter| filter.min_ms = Some(56_000)),
            vec![open, slow],
        ),
        (with(&|filter| filter.min_ms = Some(56_001)), vec![slow]),
        (
            with(&|filter| filter.words = Some(boom_in_any_case.clone())),
            vec![boom],
        ),
        (of_origin("its-own"), vec![late]),
        (of_origin("Queued.1"), vec![open]),
        (of_origin("queued.1"), vec![]),
        (of_origin(&trace_id), vec![gone, boom, slow]),
        (of_origin(&trace_id.to_uppercase()), vec![gone, boom, slow]),
        (of_origin(&trace_id[1..]), vec![]),
    ];
    let me = viewer(&mine);
    for (filter, expected) in cases {
        let found = found(&*store, &me, &filter).await;
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{filter:?}");
        let counts = store.count_runs(&me, &filter, 100, T0 + MINUTE).await;
        let total = counts.unwrap().total();
        assert_eq!(total, exactly(expected.len() as u64), "{filter:?}");
    }
}

/// However many do not match, and however many wait.
pub async fn a_search_of_runs_is_bounded_and_goes_on_where_it_stopped(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let source = deploy(&*store, epoch, &mine).await;
    let wanted = end_at(&*store, &source, T0, threw()).await;
    let many = RUNS_SEARCHED_MAX + 1;
    let runs = (0..many).map(|_| run_at(&source, T0 + SECOND, returned()));
    let runs: Vec<RunCommit> = runs.collect();
    let results = store.commit_runs(runs.into()).await;
    assert!(results.iter().all(Result::is_ok));
    let viewer = viewer(&mine);
    let by_words = RunSearchFilter {
        words: Some("boom".to_owned()),
        ..in_states(false, &[RunOutcome::Returned, RunOutcome::Threw])
    };
    let page = PageRequest::first(1);
    let found = store
        .find_runs(&viewer, &by_words, &page, T0)
        .await
        .unwrap();
    assert!(found.items.is_empty());
    let page = PageRequest {
        limit: 1,
        position: Position::After(found.searched_to.unwrap()),
    };
    let found = store
        .find_runs(&viewer, &by_words, &page, T0)
        .await
        .unwrap();
    assert_eq!(
        (found.items[0].run.id(), found.searched_to),
        (&wanted, None)
    );
    let page = PageRequest {
        limit: 1,
        position: Position::Before(wanted),
    };
    let found = store
        .find_runs(&viewer, &by_words, &page, T0)
        .await
        .unwrap();
    assert!(found.items.is_empty() && found.searched_to.is_some());
}

/// In the order of their ids, whatever the order in which they are due, and among those of others.
pub async fn more_open_runs_than_one_search_looks_at_are_paged_both_ways(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, theirs) = (owner(), owner());
    let flow = workflow(&*store, &mine).await;
    let other = workflow(&*store, &theirs).await;
    let caller = begun(&*store, &other, epoch).await;
    let many = RUNS_SEARCHED_MAX as usize + 6;
    let mut oldest_first = Vec::with_capacity(many);
    let mut progress = RunProgress::default();
    for number in 0..many {
        let at_ms = EpochMs(T0.0 + number as u64);
        let mut call = |to: &Workflow| {
            let mut called = call_of(&to.id, "1");
            called.id = InvocationId::new(at_ms, entropy());
            // The newest is due last.
            called.due_at_ms = at_ms;
            progress.calls.push(called.clone());
            called.id
        };
        oldest_first.push(call(&flow));
        if number % 1_000 == 0 {
            call(&other);
        }
    }
    let calls = step(&caller, goes_on("{}"), progress);
    commit(&*store, calls).await.unwrap();
    let me = viewer(&mine);
    let page = async |filter: RunSearchFilter, position| {
        let request = PageRequest { limit: 3, position };
        let found = store.find_runs(&me, &filter, &request, T0).await.unwrap();
        let ids = found.items.iter().map(|found| found.run.id().clone());
        (ids.collect::<Vec<_>>(), found.searched_to)
    };
    let open = in_states(true, &[]);
    let at = |place: usize| oldest_first[many - 1 - place].clone();
    let from = |place: usize| vec![at(place), at(place + 1), at(place + 2)];
    let newest = page(open.clone(), Position::First).await;
    assert_eq!(newest, (from(0), None));
    let second = page(open.clone(), Position::After(at(2))).await;
    assert_eq!(second, (from(3), None));
    let last = page(open.clone(), Position::After(at(many - 3))).await;
    assert_eq!(last, (vec![at(many - 2), at(many - 1)], None));
    let before = page(open.clone(), Position::Before(at(many - 1))).await;
    assert_eq!(before, (from(many - 4), None));
    // None of them was started by a timer, and the search is bounded by what it looks at: ten of theirs among them.
    let by_timer = RunSearchFilter {
        trigger: Some(RunTrigger::Timer),
        ..open
    };
    let none = page(by_timer, Position::First).await;
    assert_eq!(
        none,
        (vec![], Some(at(RUNS_SEARCHED_MAX as usize - 1 - 10)))
    );
}

/// Where the viewer has too many, those of another tenant are looked at, too: each page is bounded, and goes on behind a
/// place that names no run of theirs.
pub async fn open_runs_of_others_bound_a_search_too(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, theirs) = (owner(), owner());
    let flow = workflow(&*store, &mine).await;
    let other = workflow(&*store, &theirs).await;
    let caller = begun(&*store, &other, epoch).await;
    let mut progress = RunProgress::default();
    let mut call = |to: &Workflow, at: u64| {
        let mut called = call_of(&to.id, "1");
        called.id = InvocationId::new(EpochMs(T0.0 + at), entropy());
        progress.calls.push(called.clone());
        called.id
    };
    let many = u64::from(RUNS_SEARCHED_MAX) + 1;
    let newest_of_mine = (0..many).map(|number| call(&flow, number)).last();
    let of_theirs: Vec<_> = (0..many)
        .map(|number| call(&other, many + number))
        .collect();
    let calls = step(&caller, goes_on("{}"), progress);
    commit(&*store, calls).await.unwrap();
    let me = viewer(&mine);
    let open = in_states(true, &[]);
    let page = async |position| {
        let request = PageRequest { limit: 1, position };
        let found = store.find_runs(&me, &open, &request, T0).await.unwrap();
        let ids = found.items.iter().map(|found| found.run.id().clone());
        (ids.collect::<Vec<_>>(), found.searched_to)
    };
    let (found, stop) = page(Position::First).await;
    let stop = stop.unwrap();
    assert!(found.is_empty());
    assert!(!of_theirs.contains(&stop));
    assert!(of_theirs[0] < stop && stop < of_theirs[2]);
    let (found, stop) = page(Position::After(stop)).await;
    assert_eq!((found, stop), (newest_of_mine.into_iter().collect(), None));
}

/// Each state for itself.
pub async fn counts_of_runs_are_capped(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let source = deploy(&*store, epoch, &mine).await;
    for _ in 0..3 {
        end_at(&*store, &source, T0, returned()).await;
        let queued = manual(&source.id, "1");
        store.enqueue(queued, None).await.unwrap();
    }
    end_at(&*store, &source, T0, threw()).await;
    let viewer = viewer(&mine);
    let all = RunSearchFilter::default();
    let counts = async |limit| store.count_runs(&viewer, &all, limit, T0).await.unwrap();
    let capped = |count, is_capped| CappedCount { count, is_capped };
    let expected = RunCounts {
        open: capped(3, false),
        succeeded: capped(3, false),
        failed: capped(1, false),
        cancelled: capped(0, false),
    };
    assert_eq!(counts(3).await, expected);
    let expected = RunCounts {
        open: capped(2, true),
        succeeded: capped(2, true),
        ..expected
    };
    assert_eq!(counts(2).await, expected);
    assert_eq!(expected.total(), capped(5, true));
}

/// By the hour in which they were queued, over midnight, and once for each run.
pub async fn runs_are_counted_by_the_hour_after_their_records_are_gone(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let source = deploy(&*store, epoch, &mine).await;
    let yesterday = EpochMs(T0.0 - 24 * 60 * 60 * 1_000);
    end_at(&*store, &source, yesterday, threw()).await;
    end_at(&*store, &source, T0, returned()).await;
    end_at(&*store, &source, T0, failed(RunOutcome::Lost, "lost")).await;
    end_at(&*store, &source, T0, failed(RunOutcome::Cancelled, "no")).await;
    let with_others = RunCommit {
        unrecorded: 5,
        ..run_at(&source, T0 + HOUR, returned())
    };
    commit(&*store, with_others.clone()).await.unwrap();
    let again = RunCommit {
        ended: Some(threw()),
        ..with_others
    };
    commit(&*store, again).await.unwrap();
    let keep = KeptRuns {
        successes: 0,
        failures: 0,
    };
    while store.trim_runs(keep, 2).await.unwrap().more {}
    let store = factory.reopen(store).await;
    let viewer = viewer(&mine);
    let hours = async |since_ms, until_ms| {
        let hours = store.run_hours(&viewer, None, since_ms, until_ms).await;
        hours.unwrap()
    };
    let of = |at_ms: EpochMs, succeeded, failed| RunHour {
        hour: at_ms.hour(),
        succeeded,
        failed,
    };
    let all = [of(yesterday, 0, 1), of(T0, 1, 1), of(T0 + HOUR, 6, 0)];
    assert_eq!(hours(yesterday, T0 + HOUR).await, all);
    assert_eq!(hours(T0, T0).await, all[1..2]);
    assert_eq!(hours(yesterday + HOUR, T0).await, all[1..2]);
}

/// Those in a workspace are its members'.
pub async fn runs_of_other_tenants_are_not_counted_by_the_hour(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, ours, theirs) = (owner(), workspace_owner(), owner());
    for (owner, runs) in [(&mine, 1), (&ours, 2), (&theirs, 4)] {
        let source = deploy(&*store, epoch, owner).await;
        for _ in 0..runs {
            end_at(&*store, &source, T0, returned()).await;
        }
    }
    let mut me = viewer(&mine);
    let workspace = ours.workspace_id.as_ref();
    let sum = async |viewer: &Viewer, workspace| {
        let hours = store.run_hours(viewer, workspace, T0, T0).await.unwrap();
        hours.iter().map(|hour| hour.succeeded).sum::<u64>()
    };
    assert_eq!(sum(&me, None).await, 1);
    assert_eq!(sum(&me, workspace).await, 0);
    me.workspace_ids.extend(ours.workspace_id.clone());
    assert_eq!(sum(&me, None).await, 3);
    assert_eq!(sum(&me, workspace).await, 2);
}
