//! Ends of runs, without a process.

use std::{os::unix::process::ExitStatusExt, process::ExitStatus, sync::Arc, time::Duration};

use headwater_model::{
    limits::RunLimits,
    outcome::{Limit, Outcome},
};
use rustix::process::Signal;
use serde_json::{Map, value::RawValue};
use tokio::{sync::mpsc, time::Instant};

use super::{Answer, Ending, Exit, Removal, Runs, Trouble};
use crate::{
    api::{Entry, Hook, Invocation, LogLevel, RunId, RunMessage, RunSink},
    data_store::Replier,
    worker::{
        protocol::{ComponentNumber, WorkerFrame},
        pulse::Beat,
        turns::Turn,
    },
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
        wall: None,
    }
}

fn with_runs(count: u64) -> (Runs, mpsc::UnboundedReceiver<(RunId, RunMessage)>) {
    let (sink, messages): (RunSink, _) = mpsc::unbounded_channel();
    let now = Instant::now();
    let mut runs = Runs::new(limits(), Arc::new(|_, _| Replier::new(drop, async {})), now);
    let component = runs.add_component();
    assert_eq!(component, ComponentNumber::FIRST);
    for run in 1..=count {
        let added = runs.add(
            component,
            &invocation(run, Entry::Run),
            &sink,
            Turn::default(),
            now,
        );
        let (id, _) = added.unwrap();
        assert_eq!(id, run);
    }
    (runs, messages)
}

fn receive(runs: &mut Runs, frame: &str) {
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
    receive(
        &mut runs,
        &format!(r#"{{"type":"emit","id":1,"event":"{event}"}}"#),
    );
    receive(&mut runs, r#"{"type":"outcome","id":1}"#);
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
    receive(
        &mut runs,
        r#"{"type":"load_failed","component":1,"error":{"name":"E","message":"load"}}"#,
    );
    receive(
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
        receive(
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
fn a_step_refreshes_its_time_limit_and_other_runs_cannot() {
    let (mut runs, _messages) = with_runs(0);
    let (sink, _kept) = mpsc::unbounded_channel();
    let start = Instant::now();
    let wall = limits().run_wall;
    for (id, entry) in [(1, Entry::Step), (2, Entry::Run)] {
        let added = runs.add(
            ComponentNumber::FIRST,
            &invocation(id, entry),
            &sink,
            Turn::default(),
            start + Duration::from_secs(id),
        );
        assert!(added.is_some());
    }
    let refresh = |runs: &mut Runs, id: u64, now| {
        let text = format!(r#"{{"type":"refresh_timeout","id":{id}}}"#);
        let frame = WorkerFrame::parse(text.as_bytes()).unwrap();
        runs.frame(frame, text.len(), now);
    };
    let of_step = start + Duration::from_secs(1) + wall;
    assert_eq!(runs.look_at_deadlines(start), Some(of_step));
    refresh(&mut runs, 1, start + wall / 2);
    let of_other = start + Duration::from_secs(2) + wall;
    assert_eq!(runs.look_at_deadlines(of_step), Some(of_other));
    refresh(&mut runs, 2, of_step);
    assert!(matches!(runs.ending(), Some(Ending::Protocol(_))));
}

#[test]
fn deadlines_are_looked_at_when_the_first_passes() {
    let (mut runs, _messages) = with_runs(0);
    let (sink, _kept) = mpsc::unbounded_channel();
    let start = Instant::now();
    assert_eq!(runs.look_at_deadlines(start), None);
    let hook = Entry::Hook { name: Hook::Deploy };
    assert!(
        runs.add(
            ComponentNumber::FIRST,
            &invocation(1, hook),
            &sink,
            Turn::default(),
            start
        )
        .unwrap()
        .1
    );
    assert_eq!(
        runs.look_at_deadlines(start),
        Some(start + limits().hook_wall)
    );
    assert!(
        runs.add(
            ComponentNumber::FIRST,
            &invocation(2, Entry::Run),
            &sink,
            Turn::default(),
            start
        )
        .unwrap()
        .1
    );
    let first = start + limits().run_wall;
    assert_eq!(runs.look_at_deadlines(start), Some(first));
    let later = start + Duration::from_secs(1);
    assert!(
        !runs
            .add(
                ComponentNumber::FIRST,
                &invocation(3, Entry::Run),
                &sink,
                Turn::default(),
                later
            )
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
    assert!(
        runs.add(
            ComponentNumber::FIRST,
            &invocation(4, Entry::Run),
            &sink,
            Turn::default(),
            later
        )
        .is_none()
    );
}

/// A table with one run of each of two components, and where their messages go.
fn with_two_components() -> (Runs, mpsc::UnboundedReceiver<(RunId, RunMessage)>) {
    let (sink, messages) = mpsc::unbounded_channel();
    let nobody: Answer = Arc::new(|_, _| Replier::new(drop, async {}));
    let mut runs = Runs::new(RunLimits::default(), nobody, Instant::now());
    let components = [runs.add_component(), runs.add_component()];
    for (run, component) in (1..).zip(components) {
        let added = runs.add(
            component,
            &invocation(run, Entry::Run),
            &sink,
            Turn::default(),
            Instant::now(),
        );
        assert!(added.is_some());
    }
    (runs, messages)
}

fn runs_told(messages: &mut mpsc::UnboundedReceiver<(RunId, RunMessage)>) -> Vec<RunId> {
    std::iter::from_fn(|| messages.try_recv().ok())
        .map(|(run, _)| run)
        .collect()
}

#[test]
fn what_names_no_run_goes_to_its_component_or_to_nobody() {
    let (mut runs, mut messages) = with_two_components();
    for component in [2, 1, 3] {
        receive(
            &mut runs,
            &format!(
                r#"{{"type":"log","id":null,"component":{component},"level":"info","text":"t"}}"#
            ),
        );
    }
    receive(
        &mut runs,
        r#"{"type":"log","id":null,"level":"info","text":"whose?"}"#,
    );
    runs.noise(LogLevel::Error, b"whose?");
    assert_eq!(runs_told(&mut messages), [2, 1]);
}

#[test]
fn a_write_out_of_its_place_breaks_the_protocol() {
    let write = |component, seq| {
        format!(r#"{{"type":"kv","id":2,"component":{component},"seq":{seq},"key":"k"}}"#)
    };
    for (frames, is_broken) in [
        (vec![write(2, 1), write(2, 2)], false),
        (vec![write(1, 1)], true),
        (vec![write(2, 1), write(2, 1)], true),
    ] {
        let (mut runs, mut messages) = with_two_components();
        frames.iter().for_each(|frame| receive(&mut runs, frame));
        assert_eq!(runs.ending().is_some(), is_broken, "{frames:?}");
        let kept = frames.len() - usize::from(is_broken);
        assert_eq!(runs_told(&mut messages), vec![2; kept]);
    }
}

#[test]
fn a_component_that_failed_or_left_takes_no_runs_and_the_last_one_takes_the_worker_along() {
    let (mut runs, mut messages) = with_two_components();
    receive(
        &mut runs,
        r#"{"type":"load_failed","component":1,"error":{"name":"E","message":"load"}}"#,
    );
    assert_eq!(runs_told(&mut messages), [1]);
    assert_eq!((runs.len(), runs.ending()), (1, None));
    let (sink, _kept) = mpsc::unbounded_channel();
    let once_more = |runs: &mut Runs| {
        let (one, now) = (invocation(3, Entry::Run), Instant::now());
        runs.add(ComponentNumber::FIRST, &one, &sink, Turn::default(), now)
    };
    assert!(once_more(&mut runs).is_none());
    let second = ComponentNumber::FIRST.next();
    assert_eq!(runs.remove_component(second), Removal::HasRuns);
    assert_eq!(
        runs.remove_component(ComponentNumber::FIRST),
        Removal::OthersAreLeft {
            is_load_sent: false
        }
    );
    receive(&mut runs, r#"{"type":"outcome","id":2}"#);
    assert_eq!(runs.remove_component(second), Removal::WasLast);
    assert_eq!(runs.ending(), Some(&Ending::Dismissed));
}

#[test]
fn an_end_is_nobodys_fault_where_another_component_has_been() {
    let (mut runs, mut messages) = with_two_components();
    receive(&mut runs, r#"{"type":"outcome","id":2}"#);
    runs.remove_component(ComponentNumber::FIRST.next());
    runs_told(&mut messages);
    runs.process_gone(&Exit {
        status: Some(ExitStatus::from_raw(6)),
        stderr: "FATAL ERROR: JavaScript heap out of memory".into(),
    });
    let outcomes = outcomes(&mut messages);
    assert!(
        matches!(outcomes[..], [Outcome::Lost { .. }]),
        "{outcomes:?}"
    );
}

#[test]
fn those_that_had_runs_at_the_ping_are_suspects_once_and_later_ones_are_not() {
    let (mut runs, _messages) = with_two_components();
    let (first, second) = (ComponentNumber::FIRST, ComponentNumber::FIRST.next());
    let third = runs.add_component();
    let start = Instant::now();
    let beat = |ms: u64| Beat {
        at: start + Duration::from_millis(ms),
        used: Duration::from_millis(ms),
    };
    assert!(runs.is_to_be_pinged(beat(0)));
    let (sink, _kept) = mpsc::unbounded_channel();
    let later = invocation(3, Entry::Run);
    let added = runs.add(third, &later, &sink, Turn::default(), start);
    assert!(added.is_some());
    assert!(!runs.is_to_be_pinged(beat(1_000)));
    receive(&mut runs, r#"{"type":"outcome","id":1}"#);
    assert!(!runs.is_to_be_pinged(beat(2_000)));
    let troubles = [first, second, third].map(|component| runs.trouble(component));
    let suspect = Some(Trouble::MayHaveCaused);
    assert_eq!(troubles, [suspect, suspect, None]);
    // Only the ones under suspicion take no more runs there.
    runs.part_if_harmful(second);
    runs.part_if_harmful(third);
    let takes_more = |component, runs: &mut Runs| {
        let one = invocation(4, Entry::Run);
        let added = runs.add(component, &one, &sink, Turn::default(), start);
        added.is_some()
    };
    assert!(!takes_more(second, &mut runs) && takes_more(third, &mut runs));
}

#[test]
fn a_module_that_is_evaluated_is_nobodys_harm_for_a_while() {
    let (mut runs, _messages) = with_two_components();
    let start = Instant::now();
    let beat = |ms: u64| Beat {
        at: start + Duration::from_millis(ms),
        used: Duration::from_millis(ms),
    };
    let third = runs.add_component();
    runs.load_sent(third, start);
    runs.is_to_be_pinged(beat(0));
    for ms in [5_000, 9_000] {
        runs.is_to_be_pinged(beat(ms));
        assert_eq!(runs.trouble(ComponentNumber::FIRST), None);
    }
    runs.is_to_be_pinged(beat(10_500));
    assert_eq!(
        runs.trouble(ComponentNumber::FIRST),
        Some(Trouble::MayHaveCaused)
    );
}
