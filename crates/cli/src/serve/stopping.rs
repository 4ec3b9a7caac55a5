//! The lines of a node that stops, about the runs that it waits for and the work that it leaves.

use std::time::Duration;

use headwater_platform::Platform;
use headwater_store::Backlog;

use super::log::Notes;

/// The time between two lines.
const TOLD_EVERY: Duration = Duration::from_secs(5);

/// Says that the node stops, and how many runs it waits for at most so long.
pub(super) fn tell_begun(notes: Notes, app: &Platform, grace: Duration) {
    notes.note(&begun(app.runs_under_way(), grace));
}

fn begun(runs: usize, grace: Duration) -> String {
    match runs {
        0 => "stopping".to_owned(),
        runs => format!(
            "stopping: {}; runs and deliveries have up to {} s to end; press Ctrl-C or send the signal again to stop now",
            under_way(runs),
            grace.as_millis().div_ceil(1_000)
        ),
    }
}

/// Says again and again how many runs are left. Never ends by itself.
pub(super) async fn tell_left(notes: Notes, app: &Platform) {
    loop {
        tokio::time::sleep(TOLD_EVERY).await;
        notes.note(&format!(
            "still stopping: {}",
            under_way(app.runs_under_way())
        ));
    }
}

/// Says that the node has stopped, and what was accepted and is not done.
pub(super) fn tell_ended(notes: Notes, left: Backlog) {
    notes.note(&ended(left));
}

fn ended(left: Backlog) -> String {
    let parts = [
        (left.invocations, "run", "runs"),
        (left.pending_deliveries, "delivery", "deliveries"),
    ];
    let told = parts.into_iter().filter_map(|(count, one, several)| {
        Some(match count {
            0 => return None,
            1 => format!("1 {one}"),
            count => format!("{count} {several}"),
        })
    });
    match told.collect::<Vec<_>>().as_slice() {
        [] => "stopped".to_owned(),
        left => format!("stopped; kept for the next start: {}", left.join(" and ")),
    }
}

fn under_way(runs: usize) -> String {
    match runs {
        0 => "no run is under way".to_owned(),
        1 => "1 run is under way".to_owned(),
        runs => format!("{runs} runs are under way"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_wait_is_told_with_its_end() {
        let grace = Duration::from_secs(30);
        assert_eq!(begun(0, grace), "stopping");
        let told = begun(1, grace);
        assert!(told.starts_with("stopping: 1 run is under way; "), "{told}");
        assert!(told.contains("up to 30 s"), "{told}");
    }

    #[test]
    fn work_that_is_left_is_told() {
        let left = |invocations, pending_deliveries| Backlog {
            invocations,
            pending_deliveries,
            ..Backlog::default()
        };
        assert_eq!(ended(left(0, 0)), "stopped");
        assert_eq!(
            ended(left(386, 1)),
            "stopped; kept for the next start: 386 runs and 1 delivery"
        );
    }
}
