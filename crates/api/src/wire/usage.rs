//! Usage day by day, not part of Pipedream's API.

use chrono::DateTime;
use headwater_model::{
    id::{RunnableId, WorkspaceId},
    time::EpochMs,
};
use headwater_platform::{DayUsage, RunnableUsage, RunnablesUsageView, UsageView};
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
    /// With `source`, the usage of each source and workflow is shown as well.
    #[param(inline)]
    by: Option<UsageBy>,
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

    pub(crate) fn is_by_source(&self) -> bool {
        matches!(self.by, Some(UsageBy::Source))
    }

    pub(crate) fn workspace_id(self) -> Option<WorkspaceId> {
        self.workspace_id.or(self.org_id)
    }
}

/// The parts of usage that are told apart.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum UsageBy {
    Source,
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
    /// With `by=source`: the 100 sources and workflows with most invocations, those first. They begin to be counted with this
    /// field, and what is deleted is among the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    sources: Option<Vec<SourceUsage>>,
    /// With `by=source`: the rest, such as single runs of actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    others: Option<UsageSum>,
}

/// The usage of a source or workflow.
#[derive(Debug, Serialize, ToSchema)]
struct SourceUsage {
    /// That of the source or workflow.
    #[schema(value_type = String)]
    id: RunnableId,
    name: String,
    #[serde(flatten)]
    sum: UsageSum,
    /// The days with any, oldest first.
    days: Vec<UsageDay>,
}

/// The usage of several days.
#[derive(Debug, Clone, Copy, Default, Serialize, ToSchema)]
struct UsageSum {
    invocations: u64,
    /// Wall-clock milliseconds of them.
    compute_ms: u64,
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
        Self {
            days: view.days.into_iter().map(UsageDay::from).collect(),
            daily_invocations_quota: view.invocations_quota,
            resets_at_ms: view.resets_at.to_ms(),
            sources: None,
            others: None,
        }
    }
}

impl From<RunnablesUsageView> for Usage {
    fn from(view: RunnablesUsageView) -> Self {
        let sources = view.runnables.into_iter().map(SourceUsage::from);
        Self {
            sources: Some(sources.collect()),
            others: Some(view.others.into()),
            ..view.all.into()
        }
    }
}

impl From<RunnableUsage> for SourceUsage {
    fn from(of: RunnableUsage) -> Self {
        Self {
            sum: of.sum().into(),
            id: of.runnable,
            name: of.name,
            days: of.days.into_iter().map(UsageDay::from).collect(),
        }
    }
}

impl From<DayUsage> for UsageDay {
    fn from(told: DayUsage) -> Self {
        Self {
            date: date(told.day),
            invocations: told.usage.invocations,
            compute_ms: told.usage.compute_ms,
        }
    }
}

impl From<headwater_platform::Usage> for UsageSum {
    fn from(usage: headwater_platform::Usage) -> Self {
        Self {
            invocations: usage.invocations,
            compute_ms: usage.compute_ms,
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
