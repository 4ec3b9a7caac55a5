//! Everything that needs somebody, as cards, the node itself first.

use headwater_platform::{
    AccountView, Attempt, CappedCount, SourceHealth, SourceView, Webhook, Workflow, WorkflowHealth,
};
use maud::{Markup, html};

use super::needs::{Few, Needs};
use crate::{
    address::Address as _,
    page::{
        deliveries::list::capped,
        sources::head::health_state,
        webhooks::list::{name, word_of},
        workflows,
    },
    part::{
        delivery::answer,
        health::health,
        icon::{Icon, icon},
        state::{Tone, state},
        text::{self, grouped},
        time,
    },
    problem::capital,
    visit::Visitor,
};

pub(super) fn markup(needs: &Needs, visitor: &Visitor) -> Markup {
    let failing = visitor.with_state("/sources", "failing");
    let failing_workflows = visitor.with_state("/workflows", "failing");
    html! {
        h2 { "Needs you" }
        @if needs.are_none() { p { span.state.good { (icon(Icon::Ok)) "Nothing fails." } } }
        ul.cards {
            @for check in &needs.checks { (of_check(check)) }
            @if let Some(quota) = needs.quota { (of_quota(quota, visitor)) }
            @for (view, health) in &needs.sources.items { (of_source(view, health, visitor)) }
            (more(&needs.sources, &failing, "failing sources"))
            @for (workflow, health) in &needs.workflows.items { (of_workflow(workflow, health, visitor)) }
            (more(&needs.workflows, &failing_workflows, "failing workflows"))
            @for (webhook, last) in &needs.webhooks.items { (of_webhook(webhook, last.as_ref(), visitor)) }
            (more(&needs.webhooks, &visitor.to("/webhooks"), "failing webhooks"))
            @for view in &needs.accounts.items { (of_account(view)) }
            (more(&needs.accounts, &visitor.to("/accounts"), "accounts"))
            @if needs.dead.count > 0 { (of_dead_letters(needs.dead, visitor)) }
        }
        @if needs.are_webhooks_cut { p.note { "The first 1,000 webhooks were looked at. There may be others that fail." } }
    }
}

fn of_check([name, detail, next]: &[String; 3]) -> Markup {
    html! {
        li.card data-row={ "check-" (name) } {
            (state(Tone::Bad, "failed")) " " a href="/settings/node" { (text::line(name)) }
            p { (text::line(detail)) }
            p { (text::line(&capital(next))) "." }
        }
    }
}

fn of_quota((used, quota): (u64, u64), visitor: &Visitor) -> Markup {
    let tone = if used >= quota {
        Tone::Bad
    } else {
        Tone::Warning
    };
    html! {
        li.card data-row="quota" {
            (state(tone, if used >= quota { "used up" } else { "nearly used up" })) " "
            a href=(visitor.to("/settings/usage")) { "Runs of today" }
            p { (grouped(used)) " of " (grouped(quota)) ". When none is left, nothing runs until midnight UTC." }
        }
    }
}

fn of_source(view: &SourceView, health: &SourceHealth, visitor: &Visitor) -> Markup {
    let error = health
        .last_run
        .as_ref()
        .and_then(|run| run.ended.error.as_deref());
    html! {
        li.card data-row=(view.source.id) {
            (health_state(view, health)) " "
            a href=(view.source.id.address()) { (text::line(&view.source.spec.name)) }
            @if let Some(since) = health.failing_since_ms { p.note { "since " (time::ago(since, visitor.now_ms)) } }
            @if let Some(error) = error { p { (text::line(error)) } }
        }
    }
}

fn of_workflow(workflow: &Workflow, health: &WorkflowHealth, visitor: &Visitor) -> Markup {
    let error = health
        .last_run
        .as_ref()
        .and_then(|run| run.ended.error.as_deref());
    html! {
        li.card data-row=(workflow.id) {
            (workflows::head::health_state(true, health)) " "
            a href=(workflow.id.address()) { (text::line(&workflow.name)) }
            @if let Some(since) = health.failing_since_ms { p.note { "since " (time::ago(since, visitor.now_ms)) } }
            @if let Some(error) = error { p { (text::line(error)) } }
        }
    }
}

fn of_webhook(webhook: &Webhook, last: Option<&Attempt>, visitor: &Visitor) -> Markup {
    html! {
        li.card data-row=(webhook.id) {
            (word_of(webhook)) " "
            a href=(webhook.id.address()) { (text::line(name(webhook))) }
            @if let Some(since) = webhook.failing_since_ms { p.note { "since " (time::ago(since, visitor.now_ms)) } }
            @if let Some(reason) = &webhook.disabled_reason { p { (text::line(reason)) } }
            @if let Some(last) = last { p { "Last answer: " (answer(last)) } }
        }
    }
}

fn of_account(view: &AccountView) -> Markup {
    let account = &view.account;
    html! {
        li.card data-row=(account.id) {
            (health(view.health.status)) " "
            a href={ "/accounts/" (account.id) } { (text::line(&account.name)) }
            @if let Some(reason) = &view.health.reason { p { (text::sentence(&capital(reason))) } }
        }
    }
}

fn of_dead_letters(dead: CappedCount, visitor: &Visitor) -> Markup {
    let at = |path: &str| visitor.with_state(path, "dead");
    html! {
        li.card data-row="dead" {
            a href=(at("/deliveries")) { (capped(dead)) @if dead.count == 1 { " dead letter" } @else { " dead letters" } }
            p { "No attempt follows: the schedule ran out, the receiver wants nothing more (410), or the webhook was disabled." }
            div.actions {
                a.button href=(at("/deliveries/retry")) { "Send all again" }
                a.button.danger href=(at("/deliveries/discard")) { "Discard all" }
            }
        }
    }
}

/// The way to those that are not shown.
fn more<T>(few: &Few<T>, list: &str, things: &str) -> Markup {
    html! { @if few.more > 0 { li.card { a href=(list) { (grouped(few.more)) " more " (things) } } } }
}
