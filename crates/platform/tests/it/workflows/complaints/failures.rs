//! Complaints 12, 18 and 19: handlers that some failures pass by, branches that are abandoned when another one fails, and
//! steps whose errors nobody can handle.

use headwater_engine::FlowOperation;
use headwater_model::{
    id::{InvocationId, WorkflowId},
    outcome::{ComponentError, Limit, Outcome},
};
use headwater_platform::{WorkflowRunStatus, WorkflowRunView};
use serde_json::{Value, json};

use super::{LATER, Next, again, beside, block, emits, events, kill, next};
use crate::{
    engine::{Run, returned_with},
    workflows::{
        Flow,
        flow::{pauses, token},
        indented, paths, returned, step,
    },
    world::{World, life, memory},
};

/// A way in which a workflow fails: its steps, the end of each execution of the step `bad`, and the code of the failure.
struct Cause {
    steps: fn() -> Vec<String>,
    bad: fn(&World, Run),
    code: &'static str,
}

fn bad_alone() -> Vec<String> {
    vec![step("bad", &[])]
}

fn exceeds(run: Run, limit: Limit) {
    run.ends(Outcome::LimitExceeded {
        limit,
        message: "too much".to_owned(),
    });
}

fn misconfigured(run: Run) {
    let error = ComponentError {
        name: "ConfigurationError".to_owned(),
        message: "no".to_owned(),
        ..ComponentError::default()
    };
    run.ends(Outcome::Threw { error });
}

const CAUSES: [Cause; 11] = [
    Cause {
        steps: bad_alone,
        bad: |_, run| run.throws("no"),
        code: "TypeError",
    },
    Cause {
        steps: bad_alone,
        bad: |_, run| misconfigured(run),
        code: "ConfigurationError",
    },
    Cause {
        steps: bad_alone,
        bad: |_, run| run.times_out(),
        code: "LIMIT_WALL",
    },
    Cause {
        steps: bad_alone,
        bad: |_, run| exceeds(run, Limit::Memory),
        code: "LIMIT_MEMORY",
    },
    Cause {
        steps: bad_alone,
        bad: |_, run| exceeds(run, Limit::Output),
        code: "LIMIT_OUTPUT",
    },
    Cause {
        steps: bad_alone,
        bad: |world, run| run.loses_worker(&world.engine),
        code: "WORKER_LOST",
    },
    Cause {
        steps: bad_alone,
        bad: |_, run| run.ends(returned_with(json!("x".repeat(17 << 20)))),
        code: "TooMuchOutputError",
    },
    Cause {
        steps: || vec![step("bad", &["retry: { attempts: 3, initial: 1m }"])],
        bad: |_, run| run.throws("no"),
        code: "TypeError",
    },
    Cause {
        steps: || vec![block("ask", "wait", &["timeout: 1m", "on_timeout: fail"])],
        bad: |_, _| unreachable!("there is no such step"),
        code: "WaitTimedOut",
    },
    Cause {
        steps: || vec![block("ask", "delay", &["for: '{{nothing.of.that}}'"])],
        bad: |_, _| unreachable!("there is no such step"),
        code: "TypeError",
    },
    Cause {
        steps: || vec![block("other", "call", &["workflow: nobodys"])],
        bad: |_, _| unreachable!("there is no such step"),
        code: "ConfigurationError",
    },
];

/// Lets the run fail, up to the first step of its handler.
async fn failed(world: &World, flow: &WorkflowId, run: &InvocationId, cause: &Cause) -> Run {
    loop {
        match next(world, run).await {
            Next::Step(step) if step.name == "bad" => (cause.bad)(world, *step),
            Next::Step(step) => return *step,
            Next::Waits(_) => world.later(flow, LATER).await,
            Next::Ended(ended) => panic!("no handler ran: {ended:?}"),
        }
    }
}

#[test]
fn c12_every_failure_reaches_the_handler_once_whenever_the_node_is_killed() {
    for cause in &CAUSES {
        for kills in [0, 2] {
            let store = memory();
            let (flow, run) = life(async {
                let world = World::on(&store).await;
                let handler = [step("alarm", &[]), step("report", &[])].concat();
                let flow = Flow::with(&format!("on_error:\n{handler}"), &(cause.steps)());
                let flow = flow.id(&world).await;
                let run = world.start_run(&flow, json!({})).await;
                kill(&world).await;
                (flow, run)
            });
            // Killed in the handler, each time before anything of it is written.
            for start in 1..=kills {
                life(async {
                    let world = again(&store, &flow, start).await;
                    let alarm = failed(&world, &flow, &run, cause).await;
                    assert_eq!(alarm.name, "alarm");
                    emits(&alarm, &json!("lost"));
                    drop(alarm);
                });
            }
            let ended = life(async {
                let world = again(&store, &flow, kills + 1).await;
                let alarm = failed(&world, &flow, &run, cause).await;
                assert_eq!(alarm.name, "alarm");
                let error = alarm.event["steps"]["trigger"]["event"]["error"].clone();
                emits(&alarm, &json!("told"));
                alarm.returns();
                let report = world.step("report").await;
                kill(&world).await;
                drop(report);
                error
            });
            life(async {
                let world = again(&store, &flow, kills + 2).await;
                let report = world.step("report").await;
                report.returns();
                let seen = world.run_that(&run, WorkflowRunStatus::Failed).await;
                let told = seen.run.error.unwrap();
                assert!(told.contains(ended["message"].as_str().unwrap()), "{told}");
                assert_eq!(ended["code"], cause.code, "{ended}");
                assert_eq!(
                    events(&world, &flow, None).await,
                    ["told"],
                    "{}",
                    cause.code
                );
                let errors = events(&world, &flow, Some("$errors")).await;
                assert_eq!(errors.len(), 1, "{}: {errors:?}", cause.code);
            });
        }
    }
}

/// A step whose node is killed again and again is not at fault: it runs again, and no handler does.
#[test]
fn c12_a_kill_of_the_node_is_nobodys_failure() {
    let store = memory();
    let run = life(async {
        let world = World::on(&store).await;
        let handler = format!("on_error:\n{}", step("alarm", &[]));
        let flow = Flow::with(&handler, &[step("one", &[])]).id(&world).await;
        let run = world.start_run(&flow, json!({})).await;
        kill(&world).await;
        run
    });
    for _ in 0..8 {
        life(async {
            let world = World::on(&store).await;
            drop(world.step("one").await);
        });
    }
    life(async {
        let world = World::on(&store).await;
        world.step("one").await.returns();
        let seen = world.succeeded(&run).await;
        assert_eq!(seen.steps[0].attempts, 1);
    });
}

/// Three branches: one that fails, one at work, and one that waits.
async fn three(world: &World, mode: &str) -> (WorkflowId, InvocationId) {
    let branches: [(&str, &[String]); 3] = [
        ("bad", &[step("bad", &[])]),
        ("slow", &[step("slow", &[]), step("next", &[])]),
        ("held", &[step("ask", &[])]),
    ];
    let both = beside("all", mode, &branches);
    let flow = Flow::of(&[both, step("after", &[])]).id(world).await;
    let run = world.start_run(&flow, json!({})).await;
    (flow, run)
}

#[tokio::test]
async fn c18_a_branch_that_runs_is_not_abandoned_when_another_fails() {
    let world = World::new().await;
    let (flow, run) = three(&world, "fail_fast").await;
    let [bad, slow, ask] = world.steps_beside(["bad", "slow", "ask"]).await;
    pauses(&ask, FlowOperation::Suspend, 60_000, None);
    ask.returns();
    bad.throws("no");
    // The failure is known, and the run goes on as long as code of it runs.
    let seen = until(&world, &run, |seen| {
        status(seen, "all.bad.bad").as_deref() == Some("Failed")
    })
    .await;
    assert_eq!(seen.run.status, WorkflowRunStatus::Running);
    emits(&slow, &json!("kept"));
    slow.ends(returned_with(json!("done")));
    let seen = world.run_that(&run, WorkflowRunStatus::Failed).await;
    assert_eq!(returned(&seen, "all.slow.slow"), "done");
    assert_eq!(status(&seen, "all.slow.slow").unwrap(), "Succeeded");
    assert_eq!(status(&seen, "all.held.ask").unwrap(), "Cancelled");
    assert!(
        !paths(&seen).contains(&"all.slow.next".to_owned()),
        "nothing more begins"
    );
    assert_eq!(events(&world, &flow, None).await, ["kept"]);
    assert_eq!(events(&world, &flow, Some("$errors")).await.len(), 1);
}

#[tokio::test]
async fn c18_a_join_that_settles_sees_each_status() {
    let world = World::new().await;
    let (flow, run) = three(&world, "settle").await;
    let [bad, slow, ask] = world.steps_beside(["bad", "slow", "ask"]).await;
    let token = token(&ask);
    pauses(&ask, FlowOperation::Suspend, 60_000, None);
    ask.returns();
    bad.throws("no");
    slow.ends(returned_with(json!("done")));
    world.step("next").await.throws("nor that");
    let seen = world.run_that(&run, WorkflowRunStatus::Waiting).await;
    assert_eq!(seen.waits.len(), 1, "the failures of others end no wait");
    let resume = headwater_platform::WaitAction::Resume;
    crate::workflows::flow::answer(&world, &token, resume, json!("yes")).await;
    let after = world.step("after").await;
    let all = &after.event["steps"]["all"]["$return_value"];
    assert_eq!(all["bad"]["$error"]["message"], "no");
    assert_eq!(all["slow"]["$error"]["message"], "nor that");
    assert_eq!(all["held"]["$resume_data"], "yes");
    after.returns();
    world.succeeded(&run).await;
    assert_eq!(
        events(&world, &flow, Some("$errors")).await,
        [Value::Null; 0]
    );
}

/// The status of a place, by its name, once it is written.
fn status(seen: &WorkflowRunView, path: &str) -> Option<String> {
    let mut steps = seen.steps.iter();
    let step = steps.find(|step| step.path.to_string() == path)?;
    Some(format!("{:?}", step.status))
}

/// The run as soon as it is as wanted.
async fn until(
    world: &World,
    run: &InvocationId,
    wanted: impl Fn(&WorkflowRunView) -> bool,
) -> WorkflowRunView {
    let looking = async {
        loop {
            let seen = world.run_of(run).await;
            if wanted(&seen) {
                return seen;
            }
            tokio::task::yield_now().await;
        }
    };
    let seen = tokio::time::timeout(crate::engine::PATIENCE, looking).await;
    seen.expect("the run becomes as wanted")
}

#[tokio::test]
async fn c19_each_step_says_what_becomes_of_its_error() {
    let world = World::new().await;
    let mend = format!("on_error:\n{}", indented(&step("mend", &[]), 2));
    let mend: Vec<&str> = mend.lines().collect();
    for (more, handled, is_handled) in [
        (&[][..], &[][..], false),
        (&["on_error: fail"], &[], false),
        (&["on_error: continue"], &[], true),
        (&mend, &["mend"], true),
    ] {
        let flow = Flow::of(&[step("bad", more), step("after", &[])]);
        let flow = flow.id(&world).await;
        let run = world.start_run(&flow, json!({})).await;
        world.step("bad").await.throws("no");
        for name in handled {
            world.step(name).await.returns();
        }
        let mut status = WorkflowRunStatus::Failed;
        if is_handled {
            let after = world.step("after").await;
            let bad = &after.event["steps"]["bad"];
            assert_eq!(bad["$error"]["message"], "no", "{more:?}");
            assert_eq!(bad.get("$return_value"), None);
            after.returns();
            status = WorkflowRunStatus::Succeeded;
        }
        let seen = world.run_that(&run, status).await;
        assert_eq!(seen.steps[0].error.as_ref().unwrap().message, "no");
        let errors = events(&world, &flow, Some("$errors")).await;
        assert_eq!(errors.len(), usize::from(!is_handled), "{more:?}");
    }
}

/// Nobody has to wait for the last try to see that one failed.
#[tokio::test]
async fn c19_a_step_that_is_tried_again_shows_its_error_and_when_it_is_due() {
    let world = World::new().await;
    let retry = "retry: { attempts: 3, initial: 10s, factor: 2, jitter: false }";
    let flow = Flow::of(&[step("bad", &[retry])]).id(&world).await;
    let run = world.start_run(&flow, json!({})).await;
    for (failures, due_s) in [(1, 10), (2, 10 + 20)] {
        world.step("bad").await.throws(&format!("no {failures}"));
        let seen = world.run_that(&run, WorkflowRunStatus::Waiting).await;
        let error = seen.steps[0].error.as_ref().unwrap();
        assert_eq!(error.message, format!("no {failures}"));
        assert_eq!(seen.steps[0].attempts, failures + 1);
        let due_ms = seen.waits[0].expires_at_ms.unwrap();
        assert_eq!(due_ms, crate::world::after(due_s * 1_000));
        let left = due_ms.since(headwater_platform::Clock::now_ms(&*world.clock));
        world.later(&flow, left).await;
    }
    world.step("bad").await.returns();
    world.succeeded(&run).await;
}
