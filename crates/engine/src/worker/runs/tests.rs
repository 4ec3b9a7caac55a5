//! How runs end, without a process.

use std::time::Duration;

use headwater_model::{
    limits::RunLimits,
    outcome::{Limit, Outcome},
};
use serde_json::{Map, value::RawValue};
use tokio::{sync::mpsc, time::Instant};

use super::{Ending, Exit, Runs};
use crate::{
    api::{Entry, Hook, Invocation, RunId, RunMessage, RunSink},
    worker::protocol::WorkerFrame,
};

fn limits() -> RunLimits {
    RunLimits {
        output_bytes: 100,
        ..RunLimits::default()
    }
}

fn invocation(run: RunId, entry: Entry) -> Invocation {
    let (event, props) = (RawValue::NULL.to_owned(), Map::new());
    Invocation {
        run,
        entry,
        event,
        props,
    }
}

fn with_runs(count: u64) -> (Runs, mpsc::UnboundedReceiver<(RunId, RunMessage)>) {
    let (sink, messages): (RunSink, _) = mpsc::unbounded_channel();
    let now = Instant::now();
    let mut runs = Runs::new(limits(), now);
    for run in 1..=count {
        let (id, _) = runs.add(&invocation(run, Entry::Run), &sink, now).unwrap();
        assert_eq!(id, run);
    }
    (runs, messages)
}

fn hear(runs: &mut Runs, frame: &str) {
    let frame_of_worker = WorkerFrame::parse(frame.as_bytes()).unwrap();
    runs.frame(frame_of_worker, frame.len(), Instant::now());
}

fn outcomes(messages: &mut mpsc::UnboundedReceiver<(RunId, RunMessage)>) -> Vec<Outcome> {
    let messages = std::iter::from_fn(|| messages.try_recv().ok());
    let outcomes = messages.filter_map(|(_, message)| match message {
        RunMessage::Outcome(outcome) => Some(outcome),
        _ => None,
    });
    outcomes.collect()
}

#[test]
fn returning_does_not_undo_too_much_output() {
    let (mut runs, mut messages) = with_runs(1);
    let event = "e".repeat(100);
    hear(
        &mut runs,
        &format!(r#"{{"type":"emit","id":1,"event":"{event}"}}"#),
    );
    hear(&mut runs, r#"{"type":"outcome","id":1}"#);
    runs.process_gone(&Exit::default());
    let outcomes = outcomes(&mut messages);
    assert!(
        matches!(
            outcomes[..],
            [Outcome::LimitExceeded {
                limit: Limit::Output,
                ..
            }]
        ),
        "{outcomes:?}"
    );
}

#[test]
fn a_load_that_failed_is_the_outcome_whatever_the_run_says() {
    let (mut runs, mut messages) = with_runs(2);
    hear(
        &mut runs,
        r#"{"type":"load_failed","error":{"name":"E","message":"load"}}"#,
    );
    hear(
        &mut runs,
        r#"{"type":"outcome","id":1,"error":{"name":"E","message":"none"}}"#,
    );
    runs.process_gone(&Exit::default());
    let outcomes = outcomes(&mut messages);
    let is_load = |outcome: &Outcome| outcome.error().is_some_and(|error| error.message == "load");
    assert!(
        outcomes.len() == 2 && outcomes.iter().all(is_load),
        "{outcomes:?}"
    );
}

#[test]
fn memory_is_the_only_runs_fault_and_an_exit_too() {
    let heap = Exit {
        status: "was ended by signal 6".into(),
        stderr: "FATAL ERROR: JavaScript heap out of memory".into(),
    };
    let exit = Exit {
        status: "exited with code 3".into(),
        stderr: String::new(),
    };
    for (exit, alone) in [(&heap, "LIMIT_MEMORY"), (&exit, "exited with code 3")] {
        for count in [1, 2] {
            let (mut runs, mut messages) = with_runs(count);
            runs.process_gone(exit);
            for outcome in outcomes(&mut messages) {
                let is_lost = matches!(outcome, Outcome::Lost { .. });
                assert_eq!(is_lost, count == 2, "{outcome:?}");
                assert!(
                    is_lost || format!("{:?}", outcome.error()).contains(alone),
                    "{outcome:?}"
                );
            }
            assert_eq!(runs.len(), 0);
        }
    }
}

#[test]
fn deadlines_are_looked_at_when_the_first_passes() {
    let (mut runs, _messages) = with_runs(0);
    let (sink, _kept) = mpsc::unbounded_channel();
    let start = Instant::now();
    assert_eq!(runs.look_at_deadlines(start), None);
    let hook = Entry::Hook { name: Hook::Deploy };
    assert!(runs.add(&invocation(1, hook), &sink, start).unwrap().1);
    assert_eq!(
        runs.look_at_deadlines(start),
        Some(start + limits().hook_wall)
    );
    assert!(
        runs.add(&invocation(2, Entry::Run), &sink, start)
            .unwrap()
            .1
    );
    let first = start + limits().run_wall;
    assert_eq!(runs.look_at_deadlines(start), Some(first));
    let later = start + Duration::from_secs(1);
    assert!(
        !runs
            .add(&invocation(3, Entry::Run), &sink, later)
            .unwrap()
            .1
    );
    assert_eq!(runs.look_at_deadlines(first), None);
    assert!(matches!(
        runs.ending(),
        Some(Ending::Limit {
            run: 2,
            limit: Limit::Wall,
            ..
        })
    ));
    assert!(runs.add(&invocation(4, Entry::Run), &sink, later).is_none());
}
