//! Usage day by day, not part of Pipedream's API.

use chrono::DateTime;
use headwater_model::{id::WorkspaceId, time::EpochMs};
use headwater_platform::UsageView;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{id, lenient};

/// The days that are shown unless a number is given.
const DAYS_DEFAULT: u32 = 30;
const DAY_S: u64 = 24 * 60 * 60;

/// `GET /usage`.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct UsageRequest {
    /// The number of days up to today, 1 to 366; 30 by default.
    #[serde(default, deserialize_with = "lenient::integer")]
    days: Option<u32>,
    /// The workspace that is meant.
    #[param(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// The same under its other name.
    #[param(value_type = Option<id::Workspace>)]
    org_id: Option<WorkspaceId>,
}

impl UsageRequest {
    pub(crate) fn days(&self) -> u32 {
        self.days.unwrap_or(DAYS_DEFAULT)
    }

    pub(crate) fn workspace_id(self) -> Option<WorkspaceId> {
        self.workspace_id.or(self.org_id)
    }
}

/// The usage of the last days.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Usage {
    /// Every UTC day, oldest first; the last one is today.
    days: Vec<UsageDay>,
    /// The invocations that the caller may have on a day. Null if there is no quota, and for workspaces.
    #[schema(required)]
    daily_invocations_quota: Option<u64>,
    /// The time at which the quota begins anew, in epoch milliseconds: the end of today (UTC).
    #[schema(value_type = u64)]
    resets_at_ms: EpochMs,
}

/// The usage of a UTC day.
#[derive(Debug, Serialize, ToSchema)]
struct UsageDay {
    /// `YYYY-MM-DD`.
    #[schema(format = Date)]
    date: String,
    /// Runs of sources and workflows, hooks and actions.
    invocations: u64,
    /// Wall-clock milliseconds of them.
    compute_ms: u64,
}

/// The date of a day since the epoch.
fn date(day: u64) -> String {
    let midnight = i64::try_from(day * DAY_S).unwrap_or(i64::MAX);
    let date = DateTime::from_timestamp(midnight, 0).unwrap_or(DateTime::UNIX_EPOCH);
    date.format("%Y-%m-%d").to_string()
}

impl From<UsageView> for Usage {
    fn from(view: UsageView) -> Self {
        let days = view.days.into_iter().map(|told| UsageDay {
            date: date(told.day),
            invocations: told.usage.invocations,
            compute_ms: told.usage.compute_ms,
        });
        Self {
            days: days.collect(),
            daily_invocations_quota: view.invocations_quota,
            resets_at_ms: view.resets_at.to_ms(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn a_day_is_shown_as_its_date() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(19_782), "2024-02-29");
    }
}
