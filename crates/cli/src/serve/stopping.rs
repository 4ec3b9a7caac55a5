//! The lines of a node that stops, about the runs that it waits for.

use std::time::Duration;

use headwater_platform::Platform;

use super::log::Notes;

/// The time between two lines.
const TOLD_EVERY: Duration = Duration::from_secs(5);

/// Says that the node stops, and how many runs it waits for.
pub(super) fn tell_begun(notes: Notes, app: &Platform) {
    notes.note(&format!(
        "stopping: {}; runs and deliveries have the time of --shutdown-grace to end; press Ctrl-C or send the signal \
         again to stop now",
        under_way(app.runs_under_way())
    ));
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

fn under_way(runs: usize) -> String {
    match runs {
        0 => "no run is under way".to_owned(),
        1 => "1 run is under way".to_owned(),
        runs => format!("{runs} runs are under way"),
    }
}
