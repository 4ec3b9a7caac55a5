//! The time limit of one run.

use std::time::Duration;

use headwater_model::limits::REFRESHED_STEP_MAX;
use tokio::time::Instant;

/// The time that a run may take, and since when.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeLimit {
    wall: Duration,
    began: Instant,
    /// The last time that the limit began anew.
    refreshed: Option<Instant>,
}

impl TimeLimit {
    pub(super) fn new(wall: Duration, began: Instant) -> Self {
        Self {
            wall,
            began,
            refreshed: None,
        }
    }

    /// The moment at which the run has to have ended.
    pub(super) fn deadline(&self) -> Instant {
        match self.refreshed {
            None => self.began + self.wall,
            Some(refreshed) => self.last().min(refreshed + self.wall),
        }
    }

    /// Begins anew.
    pub(super) fn refresh(&mut self, now: Instant) {
        self.refreshed = Some(now);
    }

    /// Says what was exceeded, by a step of a workflow or by another run.
    pub(super) fn message(&self, is_step: bool) -> String {
        let subject = if is_step { "the step" } else { "the run" };
        let wall = self.wall.as_secs_f64();
        match self.refreshed {
            None => format!("{subject} took longer than {wall} s"),
            Some(_) if self.deadline() < self.last() => {
                format!("{subject} took longer than {wall} s after it refreshed its time limit")
            }
            Some(_) => format!(
                "{subject} took longer than {} s, beyond which no time limit can be refreshed",
                self.longest().as_secs_f64()
            ),
        }
    }

    fn longest(&self) -> Duration {
        self.wall.max(REFRESHED_STEP_MAX)
    }

    /// The deadline that no refreshing moves.
    fn last(&self) -> Instant {
        self.began + self.longest()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::TimeLimit;

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn a_refreshed_limit_begins_anew_and_ends_after_an_hour_at_the_latest() {
        let (wall, began) = (Duration::from_secs(30), Instant::now());
        let mut time = TimeLimit::new(wall, began);
        assert_eq!(time.deadline(), began + wall);
        assert_eq!(time.message(false), "the run took longer than 30 s");
        assert_eq!(time.message(true), "the step took longer than 30 s");

        let later = began + wall / 2;
        time.refresh(later);
        assert_eq!(time.deadline(), later + wall);
        let told = time.message(true);
        assert!(told.contains("30 s after"), "{told}");

        time.refresh(began + HOUR - wall / 2);
        assert_eq!(time.deadline(), began + HOUR);
        let told = time.message(true);
        assert!(told.contains("3600 s, beyond"), "{told}");
    }

    #[test]
    fn a_limit_of_more_than_an_hour_stays_as_it_is() {
        let (wall, began) = (4 * HOUR, Instant::now());
        let mut time = TimeLimit::new(wall, began);
        time.refresh(began + HOUR);
        assert_eq!(time.deadline(), began + wall);
    }
}
