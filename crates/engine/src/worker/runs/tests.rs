//! How runs end, without a process.

use std::{os::unix::process::ExitStatusExt, process::ExitStatus, sync::Arc, time::Duration};

use headwater_model::{
    limits::RunLimits,
    outcome::{Limit, Outcome},
};
use rustix::process::Signal;
use serde_json::{Map, value::RawValue};
use tokio::{sync::mpsc, time::Instant};

use super::{Ending, Exit, Runs};
use crate::{
    api::{Entry, Hook, Invocation, LogLevel, RunId, RunMessage, RunSink},
    data_store::Replier,
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
        event: event.into(),
        props,
    }
}

fn with_runs(count: u64) -> (Runs, mpsc::UnboundedReceiver<(RunId, RunMessage)>) {
    let (sink, messages): (RunSink, _) = mpsc::unbounded_channel();
    let now = Instant::now();
    let mut runs = Runs::new(limits(), Arc::new(|_, _| Replier::new(drop, async {})), now);
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
fn an_end_is_the_only_runs_fault_and_nobodys_among_several() {
    let ended = |status| Some(ExitStatus::from_raw(status));
    let heap = Exit {
        status: ended(6),
        stderr: "FATAL ERROR: JavaScript heap out of memory".into(),
    };
    let exit = Exit {
        status: ended(3 << 8),
        stderr: String::new(),
    };
    let file = Exit {
        status: ended(Signal::XFSZ.as_raw()),
        stderr: String::new(),
    };
    for (exit, alone) in [
        (&heap, "LIMIT_MEMORY"),
        (&exit, "exited with code 3"),
        (&file, "LIMIT_OUTPUT"),
    ] {
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
fn a_kill_from_outside_is_nobodys_fault_and_one_at_a_limit_is_the_runs() {
    let killed = Exit {
        status: Some(ExitStatus::from_raw(Signal::KILL.as_raw())),
        stderr: String::new(),
    };
    let (mut runs, mut messages) = with_runs(1);
    runs.process_gone(&killed);
    let outcomes_of_kill = outcomes(&mut messages);
    assert!(
        matches!(&outcomes_of_kill[..], [Outcome::Lost { message }] if message.contains("signal 9")),
        "{outcomes_of_kill:?}"
    );
    let (mut runs, mut messages) = with_runs(1);
    runs.end(Ending::Excess {
        limit: Limit::Memory,
        message: "too much".into(),
    });
    runs.process_gone(&killed);
    let outcomes_of_limit = outcomes(&mut messages);
    assert!(
        matches!(
            outcomes_of_limit[..],
            [Outcome::LimitExceeded {
                limit: Limit::Memory,
                ..
            }]
        ),
        "{outcomes_of_limit:?}"
    );
}

#[test]
fn lines_of_nothing_count_too() {
    let (mut runs, mut messages) = with_runs(1);
    for _ in 0..100_000 {
        hear(
            &mut runs,
            r#"{"type":"log","id":1,"level":"info","text":""}"#,
        );
    }
    let lines: Vec<_> = std::iter::from_fn(|| messages.try_recv().ok()).collect();
    assert!((1_000..20_000).contains(&lines.len()), "{}", lines.len());
    let (_, last) = lines.last().unwrap();
    assert!(
        matches!(
            last,
            RunMessage::Log {
                level: LogLevel::Warn,
                ..
            }
        ),
        "{last:?}"
    );
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
