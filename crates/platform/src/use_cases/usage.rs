//! The usage of the caller, or of a workspace, day by day.

use std::time::Duration;

use headwater_model::{
    id::WorkspaceId,
    time::{EpochMs, EpochSeconds},
};
use headwater_store::{DayUsage, Spender, Usage};

use crate::{caller::Caller, error::PlatformError, platform::Platform};

/// The number of days that are told at most: a year and the same day of the year before.
pub const USAGE_DAYS_MAX: u32 = 366;
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
        let since_ms = EpochMs(
            now_ms
                .0
                .saturating_sub((DAY * (days - 1)).as_millis() as u64),
        );
        let told = self.core.store.daily_usage(&spender, since_ms, now_ms);
        let told = told.await?;
        let of_day = |day| {
            let found = told.iter().find(|told| told.day == day);
            let usage = found.map_or(Usage::default(), |told| told.usage);
            DayUsage { day, usage }
        };
        Ok(UsageView {
            days: (since_ms.day()..=now_ms.day()).map(of_day).collect(),
            invocations_quota,
            resets_at: EpochSeconds((now_ms.day() + 1) * DAY.as_secs()),
        })
    }
}
