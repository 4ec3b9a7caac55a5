//! The end of one execution of a step's code.

use std::time::Duration;

use super::{failure::Failure, kept::Kept};

/// A call of `$.flow`. Of several in one execution the strongest counts: rerun, then suspend, then delay; of the same
/// kind the last.
#[derive(Debug, Clone, PartialEq)]
pub enum FlowCall {
    /// `$.flow.delay`.
    Delay(Duration),
    /// `$.flow.suspend`.
    Suspend(Duration),
    /// `$.flow.rerun`.
    Rerun {
        /// Until the next execution.
        after: Duration,
        /// The value for `$.context.run.context`.
        context: Option<Kept>,
        /// Further executions at most.
        max_retries: u32,
    },
}

impl FlowCall {
    fn strength(&self) -> u8 {
        match self {
            Self::Delay(_) => 0,
            Self::Suspend(_) => 1,
            Self::Rerun { .. } => 2,
        }
    }

    /// The call that counts.
    pub fn strongest(calls: Vec<Self>) -> Option<Self> {
        // The last of equally strong ones.
        calls.into_iter().max_by_key(Self::strength)
    }
}

/// The outcome of an execution.
#[derive(Debug, Clone, PartialEq)]
pub enum StepOutcome {
    /// The code returned; with its value, if it is JSON.
    Returned(Option<Kept>),
    /// The step's `if` did not hold, and its code did not run.
    Skipped,
    /// It failed.
    Failed(Failure),
}

/// The end of an execution.
#[derive(Debug, Clone, PartialEq)]
pub struct StepEnd {
    /// Its outcome.
    pub outcome: StepOutcome,
    /// The values given to `$.export`, in the order of the calls.
    pub exports: Vec<(String, Kept)>,
    /// The reason given to `$.flow.exit`, if it was called.
    pub exit: Option<String>,
    /// Other calls of `$.flow`, in their order.
    pub flow: Vec<FlowCall>,
    /// From 0 to 1: spreads the pauses before further tries.
    pub chance: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rerun_beats_a_suspend_beats_a_delay_and_the_last_of_a_kind_counts() {
        let delay = |seconds| FlowCall::Delay(Duration::from_secs(seconds));
        let suspend = FlowCall::Suspend(Duration::from_secs(9));
        let rerun = FlowCall::Rerun {
            after: Duration::from_secs(1),
            context: None,
            max_retries: 10,
        };
        let strongest = FlowCall::strongest;
        assert_eq!(strongest(vec![]), None);
        assert_eq!(strongest(vec![delay(1), delay(2)]), Some(delay(2)));
        assert_eq!(
            strongest(vec![suspend.clone(), delay(1)]),
            Some(suspend.clone())
        );
        assert_eq!(
            strongest(vec![suspend, rerun.clone(), delay(1)]),
            Some(rerun)
        );
    }
}
