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
    time::EpochMs,
};
use headwater_platform::{
    KnownNames, PlatformError, RunDeliveries, RunEvent, RunOutcome, RunRecord, RunView,
    SourceDeployment,
};
use maud::{Markup, html};
use url::form_urlencoded::Serializer;

use super::{gone, log, open, stack};
use crate::{
    address::{self, Address as _},
    page::sources::versions::{component, short_hash},
    part::{
        delivery::delivery_state,
        empty::empty,
        icon::{Icon, icon},
        outcome::{Cause, outcome},
        payload,
        text::{self, counted},
        time,
        waterfall::{Bar, BarKind, Span},
    },
    path::PathId,
    problem::Problem,
    reply::{Page, PageReply, Section, see_other},
    state::Ui,
    visit::Visitor,
};

/// Shows a run.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<InvocationId>,
) -> Result<Response, Problem> {
    match ui.platform.run(visitor.caller(), &id).await {
        Ok(view) => Ok(ended(&ui, &visitor, &view).await?.into_response()),
        Err(PlatformError::NotFound { .. }) => elsewhere(&ui, &visitor, &id).await,
        Err(error) => Err(error.into()),
    }
}

/// The page of a run that has not ended, the way to that of a workflow's run, or word that there is none.
async fn elsewhere(ui: &Ui, visitor: &Visitor, id: &InvocationId) -> Result<Response, Problem> {
    let (platform, caller) = (&ui.platform, visitor.caller());
    match platform.open_source_run(caller, id).await {
        Ok((source, run)) => {
            let page = open::page(ui, visitor, source, &run).await?;
            return Ok(page.into_response());
        }
        Err(PlatformError::NotFound { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    match platform.workflow_run(caller, id).await {
        Ok(run) => return Ok(see_other(&address::of_workflow_run(&run.workflow_id, id))),
        Err(PlatformError::NotFound { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    // It may have ended between the two looks.
    match platform.run(caller, id).await {
        Ok(view) => Ok(ended(ui, visitor, &view).await?.into_response()),
        Err(PlatformError::NotFound { .. }) => Ok(gone::page(ui, id).into_response()),
        Err(error) => Err(error.into()),
    }
}

async fn ended(ui: &Ui, visitor: &Visitor, view: &RunView) -> PageReply {
    let id = &view.run.id;
    let RunnableId::Source(source_id) = &view.run.runnable else {
        return Ok(gone::page(ui, id));
    };
    let caller = visitor.caller();
    let source = ui.platform.source(caller, source_id).await?;
    let health = ui.platform.sources_health(std::slice::from_ref(&source));
    let failing_since_ms = health.await?.pop().and_then(|one| one.failing_since_ms);
    let deployment = ui.platform.deployment_of_run(caller, &view.run).await?;
    let deployment = deployment.map(|one| one.deployment);
    let code = match &deployment {
        Some(deployment) if !view.errors.is_empty() => {
            let detail = ui
                .platform
                .source_deployment(caller, source_id, &deployment.id)
                .await;
            detail.ok().and_then(|detail| detail.component)
        }
        _ => None,
    };
    let causes = view.run.caused_by.iter().map(|of| of.emitter.clone());
    let names = ui.platform.names(caller, causes, []).await?;
    let name = &source.source.spec.name;
    let base = source_id.address();
    let ended = &view.run.ended;
    let body = html! {
        div data-part="run" {
            (open::crumbs(&base, name))
            header.title {
                h1 { "Run of " (text::line(name)) }
                (outcome(ended.outcome))
                (actions(&view.run, &base))
            }
            (facts(&Facts { run: &view.run, base: &base, deployment: deployment.as_ref(), names: &names, now_ms: visitor.now_ms }))
            (course(&view.run))
            (failures(view, code.as_ref().map(|component| component.code.as_str())))
            (alike(&view.run, failing_since_ms, visitor))
            (events(view, &base, visitor))
            (log(view))
            (dropped(&ended.dropped))
            @if view.has_more { p.note { "The run left more than is shown here; the source's pages have the rest." } }
        }
    };
    Ok(Page::of(Section::Sources, format!("Run of {name}"), body)
        .command(format!("headwater runs describe {id}")))
}

fn actions(run: &RunRecord, base: &str) -> Markup {
    let is_hook = run.ended.trigger.of_invocation().is_none();
    let event = match &run.caused_by {
        Some(of) => format!("?event_id={}&emitter={}", of.id, of.emitter),
        None => String::new(),
    };
    html! {
        div.actions {
            @if !is_hook { a.button href={ "/runs/" (run.id) "/again" } data-key="r" { (icon(Icon::Play)) "Run again" } }
            @if RunOutcome::WRONG.contains(&run.ended.outcome) {
                a.button href={ (base) "/code" (event) } { @if event.is_empty() { "Open in the editor" } @else { "Open in the editor with this event" } }
            }
        }
    }
}

/// The things that a run's facts are told with.
struct Facts<'a> {
    run: &'a RunRecord,
    base: &'a str,
    /// The deployment that ran, if it is kept.
    deployment: Option<&'a SourceDeployment>,
    names: &'a KnownNames,
    now_ms: EpochMs,
}

fn facts(of: &Facts<'_>) -> Markup {
    let (run, ended) = (of.run, &of.run.ended);
    html! {
        dl.facts {
            dt { "Cause" }
            dd { (Cause::of_record(run).words(of.names)) }
            dt { "Queued" } dd { (time::exact(ended.queued_at_ms)) " (" (time::ago(ended.queued_at_ms, of.now_ms)) ")" }
            dt { "Started" } dd { (time::exact(ended.started_at_ms)) ", after " (time::took(ended.started_at_ms.since(ended.queued_at_ms))) }
            dt { "Ended" } dd { (time::exact(ended.ended_at_ms)) ", after " (time::took(ended.ended_at_ms.since(ended.started_at_ms))) }
            dt { "Code" }
            dd {
                @match of.deployment {
                    Some(deployment) => { a href={ (of.base) "/versions/" (deployment.id) } { (component(deployment)) } ", code " code { (short_hash(deployment)) } }
                    None => { code { (ended.version.as_str()) } ", of a version that is not kept any more" }
                }
            }
            dt { "Emitted" } dd { (counted(ended.emitted.into(), "event", "events")) }
            (super::facts::rows(&ended.facts, ended.ended_at_ms.since(ended.started_at_ms)))
            @if let Some(request) = &ended.origin.request_id { dt { "Request" } dd { a href=(address::of_origin(request)) { code { (request) } } } }
            @if let Some(trace) = &ended.origin.trace {
                @let id = format!("{:032x}", trace.trace_id);
                dt { "Trace" } dd { a href=(address::of_origin(&id)) { code { (id) } } }
            }
            dt { "Id" } dd { code { (run.id) } }
        }
    }
}

/// The time in the queue and at work, as two bars; the facts above say the same.
fn course(run: &RunRecord) -> Markup {
    let ended = &run.ended;
    let worked = match ended.outcome == RunOutcome::Returned {
        true => BarKind::Ran,
        false => BarKind::Failed,
    };
    let bar = |kind, title: &str, (from_ms, to_ms): (EpochMs, EpochMs)| Bar {
        kind,
        from_ms,
        to_ms,
        number: None,
        title: format!("{title} {}", time::span(to_ms.since(from_ms))),
    };
    let started_at_ms = ended.started_at_ms;
    let bars = [
        bar(
            BarKind::Queued,
            "Queued for",
            (ended.queued_at_ms, started_at_ms),
        ),
        bar(worked, "Ran for", (started_at_ms, ended.ended_at_ms)),
    ];
    Span {
        from_ms: ended.queued_at_ms,
        to_ms: ended.ended_at_ms,
    }
    .row(&bars)
}

/// Since when the source fails, and the way to the runs that failed with the same words.
fn alike(run: &RunRecord, failing_since_ms: Option<EpochMs>, visitor: &Visitor) -> Markup {
    let ended = &run.ended;
    let failing_since_ms = failing_since_ms.filter(|since| *since <= ended.started_at_ms);
    let same = ended.error.as_deref().map(|error| {
        let words = error.lines().next().unwrap_or_default();
        let mut query = Serializer::new(String::new());
        query.extend_pairs([
            ("status", "failed"),
            ("emitter", run.runnable.as_str()),
            ("q", words),
        ]);
        format!("/runs?{}", query.finish())
    });
    html! {
        @if RunOutcome::WRONG.contains(&ended.outcome) {
            p.note {
                @if let Some(since) = failing_since_ms { "Every run of the source has failed since " (time::ago(since, visitor.now_ms)) ". " }
                @if let Some(same) = same { a href=(same) { "Show the runs that failed with the same words" } }
            }
        }
    }
}

fn failures(view: &RunView, code: Option<&str>) -> Markup {
    html! {
        @for failed in &view.errors {
            h2 { "Error" }
            p { (text::value(&failed.error.name)) ": " (text::value(&failed.error.message)) }
            @if !failed.error.stack.is_empty() {
                pre.stack tabindex="0" { (text::value(&failed.error.stack)) }
                @if let Some(code) = code { (stack::code(&failed.error.stack, code)) }
            }
        }
        @if view.errors.is_empty() && let Some(error) = &view.run.ended.error {
            h2 { @if view.run.ended.outcome == RunOutcome::Cancelled { "Reason" } @else { "Error" } }
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

fn log(view: &RunView) -> Markup {
    html! {
        h2 { "Log" }
        @if view.logs.is_empty() { p.note { "It wrote nothing, or retention has taken it." } }
        @else { (log::lines(view.logs.iter().map(|logged| &logged.line))) }
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
