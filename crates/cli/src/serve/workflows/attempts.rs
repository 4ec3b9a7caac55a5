//! The last attempt to deploy each folder, and whether another one is due.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::deployment::Outcome;
use super::look::Found;

/// The time after which something that the node could not do is tried again.
pub(super) const AGAIN_AFTER: Duration = Duration::from_secs(30);

/// An attempt to deploy a folder.
struct Attempt {
    /// The folder as it was.
    found: Found,
    /// Whether its id was that of another folder.
    is_copy: bool,
    complaint: Option<String>,
    again_at: Option<Instant>,
}

/// The last attempts, by folder.
#[derive(Default)]
pub(super) struct Attempts(BTreeMap<String, Attempt>);

impl Attempts {
    /// Whether a folder is to be deployed: it was not yet as it is now, or is to be tried again.
    pub(super) fn is_due(&self, name: &str, found: &Found, is_copy: bool, now: Instant) -> bool {
        let Some(attempt) = self.0.get(name) else {
            return true;
        };
        attempt.found != *found
            // The other folder is gone, or has come back.
            || attempt.is_copy != is_copy
            || attempt.again_at.is_some_and(|at| at <= now)
    }

    /// Whether any folder is to be tried again.
    pub(super) fn is_time_to_try_again(&self, now: Instant) -> bool {
        let mut attempts = self.0.values();
        attempts.any(|attempt| attempt.again_at.is_some_and(|at| at <= now))
    }

    /// Keeps the end of an attempt. Returns its complaint, unless the folder had the same before and has not changed: that
    /// is not worth a line.
    pub(super) fn end(
        &mut self,
        name: &str,
        (found, is_copy): (&Found, bool),
        outcome: Outcome,
        now: Instant,
    ) -> Option<String> {
        let mut attempt = Attempt {
            found: found.clone(),
            is_copy,
            complaint: None,
            again_at: None,
        };
        match outcome {
            Outcome::Deployed(state) => attempt.found.state = state,
            Outcome::Refused(complaint) => attempt.complaint = Some(complaint),
            Outcome::Failed(complaint) => {
                attempt.complaint = Some(complaint);
                attempt.again_at = Some(now + AGAIN_AFTER);
            }
        }
        let complaint = attempt.complaint.clone();
        let former = self.0.insert(name.to_owned(), attempt);
        let told = former.filter(|former| former.found == *found);
        let told = told.and_then(|former| former.complaint);
        complaint.filter(|complaint| told.as_ref() != Some(complaint))
    }

    /// Forgets the folders that are not there.
    pub(super) fn retain(&mut self, is_there: impl Fn(&str) -> bool) {
        self.0.retain(|name, _| is_there(name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn found(state: &str) -> Found {
        Found {
            stamps: BTreeMap::new(),
            state: Some(state.to_owned()),
        }
    }

    #[test]
    fn a_deployment_that_the_node_could_not_do_is_tried_again_after_a_while_and_told_once() {
        let (mut attempts, mut now, it) = (Attempts::default(), Instant::now(), found("a"));
        assert!(attempts.is_due("orders", &it, false, now));
        let away = || Outcome::Failed("the registry is away".to_owned());
        let told = attempts.end("orders", (&it, false), away(), now);
        assert_eq!(told.as_deref(), Some("the registry is away"));
        for _ in 0..2 {
            let before = now + AGAIN_AFTER.saturating_sub(SECOND);
            assert!(!attempts.is_due("orders", &it, false, before));
            assert!(!attempts.is_time_to_try_again(before));
            now += AGAIN_AFTER;
            assert!(attempts.is_due("orders", &it, false, now));
            assert!(attempts.is_time_to_try_again(now));
            assert_eq!(attempts.end("orders", (&it, false), away(), now), None);
        }
        let other = Outcome::Failed("the disk is full".to_owned());
        assert!(attempts.end("orders", (&it, false), other, now).is_some());
        let deployed = Outcome::Deployed(Some("b".to_owned()));
        assert_eq!(attempts.end("orders", (&it, false), deployed, now), None);
        assert!(!attempts.is_time_to_try_again(now + AGAIN_AFTER));
        assert!(!attempts.is_due("orders", &found("b"), false, now + AGAIN_AFTER));
    }

    #[test]
    fn a_refused_folder_is_tried_again_when_something_about_it_has_changed() {
        let (mut attempts, now, it) = (Attempts::default(), Instant::now(), found("a"));
        let refused = || Outcome::Refused("it has mistakes".to_owned());
        assert!(
            attempts
                .end("orders", (&it, false), refused(), now)
                .is_some()
        );
        let later = now + AGAIN_AFTER * 100;
        assert!(!attempts.is_due("orders", &it, false, later));
        assert!(!attempts.is_time_to_try_again(later));
        assert!(attempts.is_due("orders", &found("b"), false, now));
        assert!(attempts.is_due("orders", &it, true, now));
        // After a save the same complaint is told again.
        let saved = found("b");
        assert!(
            attempts
                .end("orders", (&saved, false), refused(), now)
                .is_some()
        );
        attempts.retain(|name| name != "orders");
        assert!(attempts.is_due("orders", &saved, false, now));
    }
}
