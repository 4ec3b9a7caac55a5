//! `/settings/usage`: runs and their time, day by day, and the quota.

use std::{sync::Arc, time::Duration};

use axum::extract::State;
use headwater_model::time::EpochMs;
use headwater_platform::{DayUsage, PlanView};
use maud::{Markup, html};

use super::page;
use crate::{
    part::{
        text::{self, grouped},
        time,
    },
    reply::PageReply,
    state::Ui,
    visit::Visitor,
};

/// Days that are shown.
const DAYS: u32 = 30;
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// Shows the usage of the user, or of the workspace in the address.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    let workspace = visitor.workspace.clone();
    let usage = ui
        .platform
        .daily_usage(visitor.caller(), workspace, DAYS)
        .await?;
    let me = ui.platform.me(visitor.caller()).await?;
    let today = usage.days.last().map(|day| day.usage).unwrap_or_default();
    let body = html! {
        dl.facts {
            dt { "Today" } dd { (text::counted(today.invocations, "run", "runs")) ", " (time::took(Duration::from_millis(today.compute_ms))) " of code" }
            dt { "Quota" }
            dd {
                @match usage.invocations_quota {
                    Some(quota) => { (grouped(quota)) " runs a day; " (grouped(quota.saturating_sub(today.invocations))) " left" }
                    None => { "none" }
                }
            }
            dt { "Resets" } dd { (time::ago(usage.resets_at.to_ms(), visitor.now_ms)) ", at midnight UTC" }
            @if let PlanView::Paid { period_start_at, period_end_at, usage } = &me.plan {
                dt { "Billing period" }
                dd { (time::exact(period_start_at.to_ms())) " to " (time::exact(period_end_at.to_ms())) ": " (grouped(usage.invocations)) " credits" }
            }
        }
        (chart(&usage.days))
        (table(&usage.days))
    };
    let of = visitor.workspace.as_ref();
    let of = of.map_or_else(String::new, |id| format!("&workspace_id={id}"));
    Ok(page(&visitor, "usage", body).command(format!(
        "curl '{}/v1/usage?days={DAYS}{of}' -H \"Authorization: Bearer $HEADWATER_API_KEY\"",
        ui.platform.config().public_url
    )))
}

/// A bar for each day, oldest first; the table says the same.
fn chart(days: &[DayUsage]) -> Markup {
    let most = days.iter().map(|day| day.usage.invocations).max();
    let most = most.unwrap_or_default().max(1);
    let count = days.len().max(1);
    html! {
        svg.strip viewBox={ "0 0 " (count * 10) " 40" } preserveAspectRatio="none" aria-hidden="true" focusable="false" {
            @for (at, day) in days.iter().enumerate() {
                @let height = 38.0 * day.usage.invocations as f64 / most as f64;
                rect.ok x=(at * 10 + 1) y=(format!("{:.2}", 40.0 - height)) width="8" height=(format!("{height:.2}")) {}
            }
        }
    }
}

fn table(days: &[DayUsage]) -> Markup {
    html! {
        table.list {
            thead { tr { th scope="col" { "Day (UTC)" } th.number scope="col" { "Runs" } th.number scope="col" { "Time of code" } } }
            tbody {
                @for day in days.iter().rev() {
                    tr {
                        th scope="row" { (time::date(EpochMs(day.day * DAY_MS))) }
                        td.number data-label="Runs" { (grouped(day.usage.invocations)) }
                        td.number data-label="Time of code" { (time::took(Duration::from_millis(day.usage.compute_ms))) }
                    }
                }
            }
        }
    }
}
