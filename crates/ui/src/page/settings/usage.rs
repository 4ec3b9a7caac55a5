//! `/settings/usage`: runs and their time, day by day and by source and workflow, and the quota.

use std::{sync::Arc, time::Duration};

use axum::extract::State;
use headwater_model::time::EpochMs;
use headwater_platform::{
    DayUsage, PlanView, RunnableUsage, RunnablesUsageView, USAGE_RUNNABLES_MAX, Usage,
};
use maud::{Markup, html};

use super::page;
use crate::{
    address::Address as _,
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
    let told = ui
        .platform
        .usage_by_runnable(visitor.caller(), workspace, DAYS)
        .await?;
    let usage = &told.all;
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
        (by_runnable(&told))
        h2 { "By day" }
        (table(&usage.days))
    };
    let of = visitor.workspace.as_ref();
    let of = of.map_or_else(String::new, |id| format!("&workspace_id={id}"));
    let path = format!("/usage?by=source&days={DAYS}{of}");
    Ok(page(&visitor, "usage", body).request(&ui, "GET", &path))
}

/// The sources and workflows with most runs, with their part of the day's quota.
fn by_runnable(told: &RunnablesUsageView) -> Markup {
    let others = told.others != Usage::default();
    html! {
        h2 { "By source and workflow" }
        @if told.runnables.is_empty() && !others { p.note { "Nothing ran in these days." } }
        @else {
            table.list {
                thead { tr {
                    th scope="col" { "Name" } th.number scope="col" { "Runs today" } th.number scope="col" { "Runs" } th.number scope="col" { "Time of code" }
                } }
                tbody {
                    @for of in &told.runnables { (row(of, told)) }
                    @if others {
                        tr {
                            th scope="row" { "Others" }
                            td.number data-label="Runs today" {}
                            (sums(told.others))
                        }
                    }
                }
            }
            p.note {
                "Of the last " (told.all.days.len()) " days"
                @if told.runnables.len() == USAGE_RUNNABLES_MAX as usize { ", the first " (USAGE_RUNNABLES_MAX) }
                @if others { ". Others are single runs of actions, what is deleted, and runs from before each was counted" }
                "."
            }
        }
    }
}

fn row(of: &RunnableUsage, told: &RunnablesUsageView) -> Markup {
    let today = told.all.days.last().map(|day| day.day);
    let of_today = of.days.last().filter(|day| Some(day.day) == today);
    let runs = of_today.map_or(0, |day| day.usage.invocations);
    let share = told.all.invocations_quota.filter(|quota| *quota > 0);
    let share = share.map(|quota| runs as f64 * 100.0 / quota as f64);
    html! {
        tr {
            th scope="row" { a href=(of.runnable.address()) { (text::line(&of.name)) } }
            td.number data-label="Runs today" {
                (grouped(runs))
                @if let Some(share) = share { " (" (format!("{share:.1}")) " % of the quota)" }
            }
            (sums(of.sum()))
        }
    }
}

fn sums(usage: Usage) -> Markup {
    html! {
        td.number data-label="Runs" { (grouped(usage.invocations)) }
        td.number data-label="Time of code" { (time::took(Duration::from_millis(usage.compute_ms))) }
    }
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
