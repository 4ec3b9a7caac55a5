//! The usage of the caller, or of a workspace, day by day, and of each of its sources and workflows.

use std::time::Duration;

use headwater_model::{
    id::WorkspaceId,
    time::{EpochMs, EpochSeconds},
};
use headwater_store::{DayUsage, RUNNABLE_USAGE_DAYS, RunnableUsage, Spender, Usage, sum_of};

use crate::{caller::Caller, error::PlatformError, platform::Platform};

/// The number of days that are told at most: a year and the same day of the year before.
pub const USAGE_DAYS_MAX: u32 = RUNNABLE_USAGE_DAYS as u32;
/// The number of sources and workflows whose usage is told at most.
pub const USAGE_RUNNABLES_MAX: u32 = 100;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The usage of the last days.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageView {
    /// Every UTC day, oldest first; the last one is today.
    pub days: Vec<DayUsage>,
    /// The invocations of a day that the user may have, if that is limited; workspaces have no quota.
    pub invocations_quota: Option<u64>,
    /// The end of today, when the quota begins anew.
    pub resets_at: EpochSeconds,
}

/// The usage of the last days, by source and workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunnablesUsageView {
    /// That of everything together.
    pub all: UsageView,
    /// Sources and workflows with any, at most [`USAGE_RUNNABLES_MAX`], those with most runs first.
    pub runnables: Vec<RunnableUsage>,
    /// The rest: single runs of actions, further sources and workflows, and those that are deleted.
    pub others: Usage,
}

/// The usage of which days is asked for, and whose.
struct Asked {
    spender: Spender,
    since_ms: EpochMs,
    now_ms: EpochMs,
    invocations_quota: Option<u64>,
}

impl Platform {
    /// The caller's usage, or that of a workspace, of that many days up to today.
    ///
    /// # Errors
    /// `Invalid` for a number of days that is not from 1 to [`USAGE_DAYS_MAX`].
    pub async fn daily_usage(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
        days: u32,
    ) -> Result<UsageView, PlatformError> {
        let asked = self.asked_usage(caller, workspace_id, days).await?;
        self.usage_of_days(&asked).await
    }

    /// The same with that of each source and workflow.
    ///
    /// # Errors
    /// As [`Platform::daily_usage`].
    pub async fn usage_by_runnable(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
        days: u32,
    ) -> Result<RunnablesUsageView, PlatformError> {
        let asked = self.asked_usage(caller, workspace_id, days).await?;
        // In this order: what is added meanwhile belongs to the others.
        let told = self.core.store.usage_by_runnable(
            &asked.spender,
            asked.since_ms,
            asked.now_ms,
            USAGE_RUNNABLES_MAX,
        );
        let runnables = told.await?;
        let all = self.usage_of_days(&asked).await?;
        let sum = sum_of(&all.days);
        let mut told = Usage::default();
        for runnable in &runnables {
            told.add(runnable.sum());
        }
        Ok(RunnablesUsageView {
            all,
            runnables,
            others: Usage {
                invocations: sum.invocations.saturating_sub(told.invocations),
                compute_ms: sum.compute_ms.saturating_sub(told.compute_ms),
            },
        })
    }

    async fn asked_usage(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
        days: u32,
    ) -> Result<Asked, PlatformError> {
        if !(1..=USAGE_DAYS_MAX).contains(&days) {
            let reason = format!("`days` must be an integer from 1 to {USAGE_DAYS_MAX}");
            return Err(PlatformError::invalid("days", reason));
        }
        let quota = self.core.config.daily_invocations_quota;
        let invocations_quota = quota.filter(|_| workspace_id.is_none());
        let owner = self.owner(caller, workspace_id).await?;
        let spender = match owner.workspace_id {
            Some(id) => Spender::Workspace(id),
            None => Spender::User(owner.user_id),
        };
        let now_ms = self.core.env.now_ms();
        let before_ms = (DAY * (days - 1)).as_millis() as u64;
        Ok(Asked {
            spender,
            since_ms: EpochMs(now_ms.0.saturating_sub(before_ms)),
            now_ms,
            invocations_quota,
        })
    }

    async fn usage_of_days(&self, asked: &Asked) -> Result<UsageView, PlatformError> {
        let (since_ms, now_ms) = (asked.since_ms, asked.now_ms);
        let store = &self.core.store;
        let told = store.daily_usage(&asked.spender, since_ms, now_ms).await?;
        let of_day = |day| {
            let found = told.iter().find(|told| told.day == day);
            let usage = found.map_or(Usage::default(), |told| told.usage);
            DayUsage { day, usage }
        };
        Ok(UsageView {
            days: (since_ms.day()..=now_ms.day()).map(of_day).collect(),
            invocations_quota: asked.invocations_quota,
            resets_at: EpochSeconds((now_ms.day() + 1) * DAY.as_secs()),
        })
    }
}
