//! Complaints 3 to 6: runs that are stuck after a restart, whose end is undone by a late worker, whose steps count twice,
//! and which begin anew when they are resumed.

use std::sync::Arc;

use headwater_engine::FlowOperation;
use headwater_model::id::{InvocationId, WorkflowId};
use headwater_platform::{WaitAction, WaitAnswer, WorkflowRunStatus};
use headwater_store::Store;
use serde_json::{Value, json};

use super::{LATER, Next, beside, block, each, emits, events, kill, next, path_of, played};
use crate::{
    engine::{Run, returned_with},
    workflows::{
        Flow,
        flow::{answer, pauses, token},
        returned, step,
    },
    world::{World, life, memory},
};

/// A flow with everything that a run can stand at: steps, branches, a loop, pauses.
pub(super) fn everything() -> Flow {
    let later = [block("pause", "delay", &["for: 1m"]), step("right", &[])];
    Flow::of(&[
        step("one", &[]),
        beside(
            "both",
            "fail_fast",
            &[("now", &[step("left", &[])]), ("later", &later)],
        ),
        each("items", "[1, 2]", "", &[step("item", &[])]),
        block("ask", "wait", &["timeout: 30m", "on_timeout: continue"]),
        step("last", &[]),
    ])
}

pub(super) const EVERYTHING: [&str; 6] = [
    "one",
    "both.now.left",
    "both.later.right",
    "items[0].item",
    "items[1].item",
    "last",
];

/// Ends so many steps, and kills the node while the next one runs, or the run waits. Returns the paths of those that
/// ended.
pub(super) async fn played_to(
    world: &World,
    flow: &WorkflowId,
    run: &InvocationId,
    ends: usize,
    waits: usize,
) -> Vec<String> {
    let (mut ended, mut waited) = (Vec::new(), 0);
    loop {
        match next(world, run).await {
            Next::Step(step) if ended.len() < ends => {
                let path = path_of(&step);
                ended.push(path.clone());
                step.ends(returned_with(json!(path)));
            }
            Next::Step(_) | Next::Ended(_) => break,
            Next::Waits(_) if waited == waits => break,
            Next::Waits(_) => {
                waited += 1;
                world.later(flow, LATER).await;
            }
        }
    }
    kill(world).await;
    ended
}

/// Whether something brings a run that has not ended back to work.
async fn has_wakeup(store: &Arc<dyn Store>, run: &InvocationId) -> bool {
    match store.open_run(run).await.unwrap() {
        None => true,
        Some(open) => open.is_leased || open.due_at_ms.0 < i64::MAX as u64,
    }
}

#[test]
fn c03_a_run_goes_on_after_a_kill_at_any_point() {
    for ends in 0..=EVERYTHING.len() {
        for waits in 0..=2 {
            let store = memory();
            let (flow, run, mut ended) = life(async {
                let world = World::on(&store).await;
                let flow = everything().id(&world).await;
                let run = world.start_run(&flow, json!({})).await;
                let ended = played_to(&world, &flow, &run, ends, waits).await;
                (flow, run, ended)
            });
            life(async {
                assert!(has_wakeup(&store, &run).await, "killed after {ended:?}");
                let world = World::on(&store).await;
                let (rest, seen) = played(&world, &flow, &run).await;
                assert_eq!(seen.run.status, WorkflowRunStatus::Succeeded);
                // Those that had ended and were not written run again; none other does.
                let lost = ended.iter().position(|path| rest.contains(path));
                ended.truncate(lost.unwrap_or(ended.len()));
                ended.extend(rest);
                ended.sort_unstable();
                let mut expected = EVERYTHING.to_vec();
                expected.sort_unstable();
                assert_eq!(
                    ended, expected,
                    "killed after {ends} ends and {waits} waits"
                );
                for path in EVERYTHING {
                    assert_eq!(returned(&seen, path), path);
                }
            });
        }
    }
}

/// More runs than a node has in memory wait for the only place, whose owner waits, too.
#[tokio::test]
async fn c03_a_run_that_waits_is_not_shut_out_by_those_behind_it() {
    const BEHIND: usize = 300;
    let world = World::new().await;
    let only = "settings:\n  concurrency: { limit: 1 }\n";
    let flow = Flow::with(only, &[step("one", &[]), step("two", &[])])
        .id(&world)
        .await;
    let first = world.start_run(&flow, json!(0)).await;
    let one = world.step("one").await;
    let token = token(&one);
    pauses(&one, FlowOperation::Suspend, 3_600_000, None);
    one.returns();
    world.run_that(&first, WorkflowRunStatus::Waiting).await;
    let mut behind = Vec::new();
    for n in 1..=BEHIND {
        behind.push(world.start_run(&flow, json!(n)).await);
    }
    assert_eq!(
        answer(&world, &token, WaitAction::Resume, json!({})).await,
        WaitAnswer::Taken
    );
    world.step("two").await.returns();
    world.succeeded(&first).await;
    for run in &behind {
        world.step("one").await.returns();
        world.step("two").await.returns();
        world.succeeded(run).await;
    }
}

/// A run whose step a later start of the node took over, as a lease that ran out does: the former start's execution is
/// still at work.
struct TakenOver {
    worlds: [World; 2],
    flow: WorkflowId,
    run: InvocationId,
    late: Run,
    taken: Run,
}

impl TakenOver {
    async fn new() -> Self {
        let former = World::new().await;
        let flow = Flow::of(&[step("one", &[])]).id(&former).await;
        let run = former.start_run(&flow, json!({})).await;
        let late = former.step("one").await;
        let later = World::on(&former.store).await;
        let taken = later.step("one").await;
        Self {
            worlds: [former, later],
            flow,
            run,
            late,
            taken,
        }
    }
}

#[tokio::test]
async fn c04_nothing_that_a_late_worker_says_changes_the_end_of_a_run() {
    for (succeeds, late_succeeds) in [(true, false), (false, true), (true, true), (false, false)] {
        let TakenOver {
            worlds: [_former, later],
            flow,
            run,
            late,
            taken,
        } = Box::pin(TakenOver::new()).await;
        emits(&taken, &json!("taken"));
        emits(&late, &json!("late"));
        let end = |step: Run, succeeds: bool, value: &str| match succeeds {
            true => step.ends(returned_with(json!(value))),
            false => step.throws(value),
        };
        end(taken, succeeds, "taken");
        let status = match succeeds {
            true => WorkflowRunStatus::Succeeded,
            false => WorkflowRunStatus::Failed,
        };
        let before = later.run_that(&run, status).await;
        end(late, late_succeeds, "late");
        let other = later.start_run(&flow, json!({})).await;
        later.step("one").await.returns();
        later.succeeded(&other).await;
        everybody_had_turns().await;
        let after = later.run_of(&run).await;
        assert_eq!(after.run.status, status);
        assert_eq!(format!("{after:?}"), format!("{before:?}"));
        let expected: &[&str] = if succeeds { &["taken"] } else { &[] };
        assert_eq!(events(&later, &flow, None).await, expected);
        let errors = events(&later, &flow, Some("$errors")).await;
        assert_eq!(errors.len(), usize::from(!succeeds), "{errors:?}");
    }
}

#[tokio::test]
async fn c04_a_late_end_does_not_end_the_run_before_the_one_that_counts() {
    let TakenOver {
        worlds: [_former, later],
        flow,
        run,
        late,
        taken,
    } = Box::pin(TakenOver::new()).await;
    emits(&late, &json!("late"));
    late.throws("late");
    everybody_had_turns().await;
    assert_eq!(
        later.run_of(&run).await.run.status,
        WorkflowRunStatus::Running
    );
    taken.ends(returned_with(json!("taken")));
    let run = later.succeeded(&run).await;
    assert_eq!(returned(&run, "one"), "taken");
    assert_eq!(events(&later, &flow, None).await, [Value::Null; 0]);
}

/// Returns when those who had something to say have said it, many times over.
async fn everybody_had_turns() {
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
}

/// Numbers that can be had again (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    }
}

/// Any number of starts of the node claim the run one after the other, and their executions end in any order.
#[tokio::test]
async fn c05_a_step_counts_once_however_often_it_is_claimed() {
    const STEPS: [&str; 3] = ["one", "two", "three"];
    const SEEDS: u64 = 12;
    for seed in 0..SEEDS {
        let mut numbers = Numbers(seed);
        let first = World::new().await;
        let steps = STEPS.map(|name| step(name, &[]));
        let flow = Flow::of(&steps).id(&first).await;
        let run = first.start_run(&flow, json!({})).await;
        let mut worlds = vec![first];
        let mut late: Vec<Run> = Vec::new();
        for (position, name) in STEPS.iter().enumerate() {
            let mut current = worlds.last().unwrap().step(name).await;
            for _ in 0..numbers.below(3) {
                let world = World::on(&worlds[0].store).await;
                late.push(std::mem::replace(&mut current, world.step(name).await));
                worlds.push(world);
            }
            let owner = worlds.len();
            late.push(current);
            // Some of those that lost it end before the one that has it, some after, some never.
            let count = late.len();
            for _ in 0..numbers.below(count) {
                let ended = late.remove(numbers.below(late.len() - 1));
                emits(&ended, &json!({ "late": path_of(&ended) }));
                ended.ends(returned_with(json!("late")));
            }
            let current = late.pop().unwrap();
            emits(&current, &json!(name));
            current.ends(returned_with(json!([position, owner])));
        }
        let world = worlds.last().unwrap();
        let seen = world.succeeded(&run).await;
        assert_eq!(events(world, &flow, None).await, STEPS, "seed {seed}");
        for (position, name) in STEPS.iter().enumerate() {
            assert_eq!(returned(&seen, name)[0], position, "seed {seed}");
        }
        assert_eq!(seen.steps.len(), STEPS.len());
    }
}

/// The mail is sent once for each item, whatever happens at the waits behind it.
#[test]
fn c06_a_resumed_run_goes_on_where_it_waited() {
    let store = memory();
    let (flow, run, mut token) = life(async {
        let world = World::on(&store).await;
        let asked = each(
            "items",
            "[1, 2, 3]",
            "",
            &[step("mail", &[]), step("ask", &[])],
        );
        let flow = Flow::of(&[step("one", &[]), asked, step("last", &[])])
            .id(&world)
            .await;
        let run = world.start_run(&flow, json!({})).await;
        world.step("one").await.returns();
        let token = asks(&world, &run).await;
        (flow, run, token)
    });
    for item in 0..3 {
        // Killed with the answer taken, and before anything came of it.
        life(async {
            let world = World::on(&store).await;
            let data = json!({ "item": item });
            assert_eq!(
                answer(&world, &token, WaitAction::Resume, data).await,
                WaitAnswer::Taken
            );
            kill(&world).await;
        });
        let next_token = life(async {
            let world = World::on(&store).await;
            if item < 2 {
                return Some(asks(&world, &run).await);
            }
            world.step("last").await.returns();
            let run = world.succeeded(&run).await;
            assert_eq!(super::super::paths(&run).len(), 9);
            assert_eq!(events(&world, &flow, None).await, [0, 1, 2]);
            None
        });
        token = next_token.unwrap_or_default();
    }
}

/// Sends the mail of an item and suspends behind it; returns the token of the wait.
async fn asks(world: &World, run: &InvocationId) -> String {
    let mail = world.step("mail").await;
    emits(&mail, &mail.event["steps"]["items"]["index"]);
    mail.returns();
    let ask = world.step("ask").await;
    let token = token(&ask);
    pauses(&ask, FlowOperation::Suspend, 3_600_000, None);
    ask.returns();
    world.run_that(run, WorkflowRunStatus::Waiting).await;
    token
}
