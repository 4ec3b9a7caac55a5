//! `/runs/{id}`: one run of a source with its times, its events and where they went, its log and its errors. That of a
//! workflow has its page there.

use std::sync::Arc;

use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use headwater_model::{
    channel::Channel,
    dedupe::Dropped,
    id::{InvocationId, RunnableId},
    webhook::DeliveryState,
};
use headwater_platform::{PlatformError, RunDeliveries, RunEvent, RunRecord, RunView};
use maud::{Markup, html};

use crate::{
    address::{self, Address as _},
    page::sources::logs,
    part::{
        empty::empty,
        icon::{Icon, icon},
        outcome::{outcome, trigger},
        payload,
        state::{Tone, state},
        text::{self, counted},
        time,
    },
    path::PathId,
    problem::Problem,
    reply::{Page, Section, see_other},
    state::Ui,
    visit::Visitor,
};

/// Shows a run.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<InvocationId>,
) -> Result<Response, Problem> {
    let view = match ui.platform.run(visitor.caller(), &id).await {
        Ok(view) => view,
        Err(error @ PlatformError::NotFound { .. }) => {
            return of_workflow(&ui, &visitor, &id, error).await;
        }
        Err(error) => return Err(error.into()),
    };
    let RunnableId::Source(source_id) = &view.run.runnable else {
        return Err(Problem::not_found("run", id.as_str()));
    };
    let source = ui.platform.source(visitor.caller(), source_id).await?;
    let name = &source.source.spec.name;
    let base = source_id.address();
    let body = html! {
        p.crumbs { a href="/sources" { "Sources" } " / " a href=(base) { (text::line(name)) } " / " a href={ (base) "/runs" } { "Runs" } }
        header.title {
            h1 { "Run of " (text::line(name)) }
            (outcome(view.run.ended.outcome))
            @if view.run.ended.trigger.of_invocation().is_some() {
                div.actions { a.button href={ "/runs/" (id) "/again" } { (icon(Icon::Play)) "Run again" } }
            }
        }
        (facts(&view.run, &visitor))
        (failures(&view))
        (events(&view, &base, &visitor))
        (log(&view))
        (dropped(&view.run.ended.dropped))
        @if view.has_more { p.note { "The run left more than is shown here; the source's pages have the rest." } }
    };
    let page = Page::of(Section::Sources, format!("Run of {name}"), body)
        .command(format!("headwater runs describe {id}"));
    Ok(page.into_response())
}

/// The way to the page of a run that is a workflow's.
async fn of_workflow(
    ui: &Ui,
    visitor: &Visitor,
    id: &InvocationId,
    error: PlatformError,
) -> Result<Response, Problem> {
    match ui.platform.workflow_run(visitor.caller(), id).await {
        Ok(run) => Ok(see_other(&address::of_workflow_run(&run.workflow_id, id))),
        Err(PlatformError::NotFound { .. }) => Err(error.into()),
        Err(other) => Err(other.into()),
    }
}

fn facts(run: &RunRecord, visitor: &Visitor) -> Markup {
    let ended = &run.ended;
    html! {
        dl.facts {
            dt { "Cause" } dd { (trigger(ended.trigger)) }
            dt { "Started" } dd { (time::exact(ended.started_at_ms)) " (" (time::ago(ended.started_at_ms, visitor.now_ms)) ")" }
            dt { "Waited" } dd { (time::took(ended.started_at_ms.since(ended.queued_at_ms))) }
            dt { "Took" } dd { (time::took(ended.ended_at_ms.since(ended.started_at_ms))) }
            dt { "Code" } dd { code { (ended.version.as_str()) } }
            dt { "Emitted" } dd { (counted(ended.emitted.into(), "event", "events")) }
            @if let Some(request) = &ended.origin.request_id { dt { "Request" } dd { a href=(address::of_origin(request)) { code { (request) } } } }
            @if let Some(trace) = &ended.origin.trace {
                @let id = format!("{:032x}", trace.trace_id);
                dt { "Trace" } dd { a href=(address::of_origin(&id)) { code { (id) } } }
            }
            dt { "Id" } dd { code { (run.id) } }
        }
    }
}

fn failures(view: &RunView) -> Markup {
    html! {
        @for failed in &view.errors {
            h2 { "Error" }
            p { (text::value(&failed.error.name)) ": " (text::value(&failed.error.message)) }
            @if !failed.error.stack.is_empty() { pre.stack { (text::value(&failed.error.stack)) } }
        }
        @if view.errors.is_empty() && let Some(error) = &view.run.ended.error {
            h2 { "Error" }
            p { (text::sentence(error)) }
        }
    }
}

fn events(view: &RunView, base: &str, visitor: &Visitor) -> Markup {
    html! {
        h2 { "Events" }
        @if view.events.is_empty() {
            @match (view.run.ended.emitted, view.run.ended.dropped.count) {
                (0, 0) => { (empty("It emitted nothing.", html! {})) }
                (0, dropped) => { (empty(&format!("Dedupe dropped all that it emitted ({dropped})."), html! {})) }
                (emitted, _) => {
                    (empty(&format!("It emitted {}, which retention has taken since.", counted(emitted.into(), "event", "events")), html! {}))
                }
            }
        } @else {
            table.list {
                thead { tr { th scope="col" { "Time" } th scope="col" { "Summary" } th scope="col" { "Channel" } th scope="col" { "Deliveries" } } }
                tbody { @for event in &view.events { (row(event, base, visitor)) } }
            }
        }
    }
}

fn row(event: &RunEvent, base: &str, visitor: &Visitor) -> Markup {
    let address = format!("{base}/events/{}", event.id);
    html! {
        tr {
            td.narrow { (time::ago(event.id.ms, visitor.now_ms)) }
            th scope="row" { a href=(address) { @match &event.summary { Some(summary) => { (payload::inline(text::line(summary))) } None => { (event.id) } } } }
            td data-label="Channel" { @if event.channel != Channel::default() { (text::line(event.channel.name())) } }
            td data-label="Deliveries" { (deliveries(&event.deliveries)) }
        }
    }
}

fn deliveries(deliveries: &RunDeliveries) -> Markup {
    html! {
        @if deliveries.shown.is_empty() { span.note { "none" } }
        @for delivery in &deliveries.shown {
            a href={ "/deliveries/" (delivery.id) } { (delivery_state(delivery.state)) } " "
        }
        @if deliveries.has_more { "…" }
    }
}

/// Where a delivery is in its life.
pub(crate) fn delivery_state(of: DeliveryState) -> Markup {
    match of {
        DeliveryState::Pending => state(Tone::Busy, "pending"),
        DeliveryState::Delivered => state(Tone::Good, "delivered"),
        DeliveryState::Dead => state(Tone::Bad, "dead"),
        DeliveryState::Discarded => state(Tone::Quiet, "discarded"),
    }
}

fn log(view: &RunView) -> Markup {
    html! {
        h2 { "Log" }
        @if view.logs.is_empty() { p.note { "It wrote nothing, or retention has taken it." } }
        @else {
            div.log tabindex="0" role="region" aria-label="Log of the run" {
                ol { @for logged in &view.logs {
                    @let (word, class) = logs::level(logged.line.level);
                    li class=(class) { (time::exact(logged.line.ts)) span { (word) } span { (payload::inline(text::value(&logged.line.message))) } }
                } }
            }
        }
    }
}

fn dropped(dropped: &Dropped) -> Markup {
    html! {
        @if dropped.count > 0 {
            h2 { "Dropped by dedupe" }
            p { (counted(dropped.count.into(), "event", "events")) " with ids that were there before:" }
            ul { @for key in &dropped.keys { li { code { (text::visible(key)) } } } }
        }
    }
}
