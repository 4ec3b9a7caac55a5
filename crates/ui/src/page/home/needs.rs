//! Everything that needs somebody: parts of the node, the quota, sources, workflows, webhooks, accounts and deliveries.

use std::cmp::Reverse;

use headwater_model::{id::WorkspaceId, page::PageRequest, webhook::DeliveryState};
use headwater_platform::{
    AccountView, AccountsFilter, Attempt, CappedCount, DeliveryFilter, HealthStatus, PlatformError,
    SourceHealth, SourceView, Standing, Wanted, Webhook, Workflow, WorkflowHealth,
};

use crate::{page::settings::doctor, state::Ui, visit::Visitor};

/// Things of a kind that are looked at in each workspace.
const LOOKED_AT: u32 = 100;
/// Things of a kind that are shown.
const SHOWN: usize = 20;
/// Failing webhooks whose last answer is told.
const ANSWERED: usize = 10;
/// Deliveries of each among which it is looked for.
const DELIVERIES: u32 = 10;
/// The part of the quota from which on it is told.
const QUOTA_PERCENT: u64 = 80;

/// Things of a kind, and how many there are besides.
pub(super) struct Few<T> {
    pub(super) items: Vec<T>,
    pub(super) more: u64,
}

impl<T> Few<T> {
    /// The first of those that were found, and of a number of others that were not read.
    fn of(mut items: Vec<T>, unread: u64) -> Self {
        let more = items.len().saturating_sub(SHOWN) as u64 + unread;
        items.truncate(SHOWN);
        Self { items, more }
    }

    fn are_none(&self) -> bool {
        self.items.is_empty() && self.more == 0
    }
}

pub(super) struct Needs {
    /// The failing checks of the node, for its administrator.
    pub(super) checks: Vec<[String; 3]>,
    /// The runs of today and those of a day, if few are left.
    pub(super) quota: Option<(u64, u64)>,
    pub(super) sources: Few<(SourceView, SourceHealth)>,
    pub(super) workflows: Few<(Workflow, WorkflowHealth)>,
    /// Each with its last attempt.
    pub(super) webhooks: Few<(Webhook, Option<Attempt>)>,
    /// Whether there are webhooks that were not looked at.
    pub(super) are_webhooks_cut: bool,
    pub(super) accounts: Few<AccountView>,
    pub(super) dead: CappedCount,
}

impl Needs {
    pub(super) async fn of(
        ui: &Ui,
        visitor: &Visitor,
        scopes: &[Option<WorkspaceId>],
    ) -> Result<Self, PlatformError> {
        let (webhooks, are_webhooks_cut) = webhooks(ui, visitor, scopes).await?;
        Ok(Self {
            checks: checks(ui, visitor).await,
            quota: quota(ui, visitor).await?,
            sources: sources(ui, visitor, scopes).await?,
            workflows: workflows(ui, visitor, scopes).await?,
            webhooks,
            are_webhooks_cut,
            accounts: accounts(ui, visitor, scopes).await?,
            dead: dead(ui, visitor).await?,
        })
    }

    pub(super) fn are_none(&self) -> bool {
        self.checks.is_empty()
            && self.quota.is_none()
            && self.sources.are_none()
            && self.workflows.are_none()
            && self.webhooks.are_none()
            && self.accounts.are_none()
            && self.dead.count == 0
    }
}

async fn checks(ui: &Ui, visitor: &Visitor) -> Vec<[String; 3]> {
    match visitor.caller().identity.user.is_admin {
        true => doctor::failing(&ui.platform.readiness().await, ui.platform.config()),
        false => Vec::new(),
    }
}

/// The runs of today and of a day, from that part of them on that needs somebody.
async fn quota(ui: &Ui, visitor: &Visitor) -> Result<Option<(u64, u64)>, PlatformError> {
    if visitor.workspace.is_some() || ui.platform.config().daily_invocations_quota.is_none() {
        return Ok(None);
    }
    let usage = ui.platform.daily_usage(visitor.caller(), None, 1).await?;
    let today = usage.days.last().map(|day| day.usage.invocations);
    let used = today.unwrap_or_default();
    let quota = usage
        .invocations_quota
        .filter(|quota| is_short(used, *quota));
    Ok(quota.map(|quota| (used, quota)))
}

fn is_short(used: u64, quota: u64) -> bool {
    u128::from(used) * 100 >= u128::from(quota) * u128::from(QUOTA_PERCENT)
}

fn failing() -> Wanted {
    Wanted {
        standing: Some(Standing::Failing),
        ..Wanted::default()
    }
}

/// Those that are active, and those that began to fail last first.
async fn sources(
    ui: &Ui,
    visitor: &Visitor,
    scopes: &[Option<WorkspaceId>],
) -> Result<Few<(SourceView, SourceHealth)>, PlatformError> {
    let (mut found, mut unread) = (Vec::<SourceView>::new(), 0);
    for scope in scopes {
        let page = PageRequest::first(LOOKED_AT);
        let sources = ui
            .platform
            .sources(visitor.caller(), scope.clone(), failing(), &page);
        let sources = sources.await?;
        unread += sources.total_count - sources.items.len() as u64;
        // Those of a workspace are among one's own, too, if one deployed them.
        let new = sources.items.into_iter();
        let new = new.filter(|new| found.iter().all(|known| known.source.id != new.source.id));
        let new: Vec<_> = new.collect();
        found.extend(new);
    }
    found.retain(SourceView::active);
    let health = ui.platform.sources_health(&found).await?;
    let mut found: Vec<_> = found.into_iter().zip(health).collect();
    found.sort_by_key(|(_, health)| Reverse(health.failing_since_ms));
    Ok(Few::of(found, unread))
}

async fn workflows(
    ui: &Ui,
    visitor: &Visitor,
    scopes: &[Option<WorkspaceId>],
) -> Result<Few<(Workflow, WorkflowHealth)>, PlatformError> {
    let (mut found, mut unread) = (Vec::<Workflow>::new(), 0);
    for scope in scopes {
        let page = PageRequest::first(LOOKED_AT);
        let workflows =
            ui.platform
                .listed_workflows(visitor.caller(), scope.clone(), failing(), &page);
        let workflows = workflows.await?;
        unread += workflows.total_count - workflows.items.len() as u64;
        let new = workflows.items.into_iter();
        let new = new.filter(|new| found.iter().all(|known| known.id != new.id));
        let new: Vec<_> = new.collect();
        found.extend(new);
    }
    found.retain(|workflow| workflow.state == headwater_platform::WorkflowState::Active);
    let ids: Vec<_> = found.iter().map(|workflow| workflow.id.clone()).collect();
    let health = ui.platform.workflows_health(&ids).await?;
    let mut found: Vec<_> = found.into_iter().zip(health).collect();
    found.sort_by_key(|(_, health)| Reverse(health.failing_since_ms));
    Ok(Few::of(found, unread))
}

/// The webhooks that fail, with the last attempts at the first of them, and whether some were not looked at.
async fn webhooks(
    ui: &Ui,
    visitor: &Visitor,
    scopes: &[Option<WorkspaceId>],
) -> Result<(Few<(Webhook, Option<Attempt>)>, bool), PlatformError> {
    let (mut found, mut are_cut) = (Vec::<Webhook>::new(), false);
    for scope in scopes {
        let failing = ui
            .platform
            .failing_webhooks(visitor.caller(), scope.clone());
        let (webhooks, is_whole) = failing.await?;
        are_cut |= !is_whole;
        let new = webhooks.into_iter();
        let new = new.filter(|new| found.iter().all(|known| known.id != new.id));
        let new: Vec<_> = new.collect();
        found.extend(new);
    }
    found.sort_by_key(|webhook| Reverse(webhook.failing_since_ms));
    let ids = found.iter().take(ANSWERED);
    let ids: Vec<_> = ids.map(|webhook| webhook.id.clone()).collect();
    let answers = match ids.is_empty() {
        true => Vec::new(),
        false => ui.platform.last_attempts(&ids, DELIVERIES).await?,
    };
    let answers = answers.into_iter().chain(std::iter::repeat(None));
    Ok((
        Few::of(found.into_iter().zip(answers).collect(), 0),
        are_cut,
    ))
}

/// The accounts whose credentials are not good any more.
async fn accounts(
    ui: &Ui,
    visitor: &Visitor,
    scopes: &[Option<WorkspaceId>],
) -> Result<Few<AccountView>, PlatformError> {
    let (mut found, mut unread) = (Vec::<AccountView>::new(), 0);
    for status in [HealthStatus::Refused, HealthStatus::Expired] {
        for scope in scopes {
            let filter = AccountsFilter {
                health: Some(status),
                ..AccountsFilter::default()
            };
            let page = PageRequest::first(LOOKED_AT);
            let accounts =
                ui.platform
                    .accounts_like(visitor.caller(), scope.clone(), &filter, &page);
            let page = accounts.await?.page;
            unread += page.total_count - page.items.len() as u64;
            let new = page.items.into_iter();
            let new =
                new.filter(|new| found.iter().all(|known| known.account.id != new.account.id));
            let new: Vec<_> = new.collect();
            found.extend(new);
        }
    }
    Ok(Few::of(found, unread))
}

async fn dead(ui: &Ui, visitor: &Visitor) -> Result<CappedCount, PlatformError> {
    let filter = DeliveryFilter {
        states: vec![DeliveryState::Dead],
        workspace_id: visitor.workspace.clone(),
        ..DeliveryFilter::default()
    };
    let counts = ui.platform.count_deliveries(visitor.caller(), &filter);
    Ok(counts.await?.dead)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_told_of_when_little_is_left() {
        for (used, quota, expected) in [
            (0, 10, false),
            (7, 10, false),
            (8, 10, true),
            (12, 10, true),
            (0, 0, true),
            (u64::MAX, u64::MAX, true),
        ] {
            assert_eq!(is_short(used, quota), expected, "{used} of {quota}");
        }
    }

    #[test]
    fn those_that_are_not_shown_are_counted() {
        let few = Few::of((0..SHOWN + 2).collect(), 3);
        assert_eq!((few.items.len(), few.more), (SHOWN, 5));
        assert!(!Few::<u8>::of(Vec::new(), 1).are_none());
        assert!(Few::<u8>::of(Vec::new(), 0).are_none());
    }
}
