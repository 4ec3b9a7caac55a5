//! `/sources/{id}/logs`: what its code wrote, oldest first as it was written.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::{
    channel::Channel,
    event::Event,
    id::{InvocationId, SourceId},
};
use headwater_platform::{LogLevel, LogLine};
use maud::{Markup, html};

use super::head::Shown;
use crate::{
    part::{
        empty::empty,
        event_list::live_bar,
        icon::{Icon, icon},
        pager::{Ends, pager},
        payload,
        text::{self, counted},
        time,
    },
    path::PathId,
    reply::{Page, PageReply, Section},
    state::Ui,
    topic::Topic,
    visit::Visitor,
};

/// Shows the log of a source.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<SourceId>,
) -> PageReply {
    let shown = Shown::of(&ui, &visitor, &id).await?;
    let log = ui
        .platform
        .source_log(visitor.caller(), &id, visitor.page_request())
        .await?;
    let lines = &log.lines;
    let is_wrapped = visitor.parameter("wrap").as_deref() != Some("no");
    let body = html! {
        (shown.head(&ui, &visitor, "logs"))
        (tools(&id, &visitor, is_wrapped))
        (live_bar())
        div data-part="log" {
            @if lines.items.is_empty() && log.open.is_empty() {
                (empty(match shown.health.last_run { Some(_) => "Its code wrote nothing that is kept.", None => "It has not run yet, so it wrote nothing." }, html! {
                    p { "Lines of " code { "console.log" } " and its like appear here." }
                }))
            } @else {
                div.log.unwrapped[!is_wrapped] tabindex="0" role="log" aria-label="Log" {
                    ol {
                        @for line in lines.items.iter().rev() { (row(line)) }
                        @for log in &log.open { @for line in &log.lines { (open_row(&log.run_id, line)) } }
                    }
                }
                @if !log.open.is_empty() { p.note { (counted(log.open.len() as u64, "run", "runs")) " under way: more lines appear as they are written." } }
                (pager(&visitor, &Ends::of(lines, |line| line.id)))
            }
        }
    };
    Ok(
        Page::of(Section::Sources, format!("{} · log", shown.name()), body)
            .changing(&Topic::Source(id), &visitor)
            .command(format!("headwater logs {} -f", shown.quoted())),
    )
}

/// The search among the lines, the file of them, and the switch of long lines.
fn tools(id: &SourceId, visitor: &Visitor, is_wrapped: bool) -> Markup {
    let lines = format!("emitter={id}&channel=%24logs");
    let wrap = match is_wrapped {
        true => (Some("no"), "Do not wrap lines"),
        false => (None, "Wrap lines"),
    };
    html! {
        form.filters action="/events" {
            input type="hidden" name="emitter" value=(id);
            input type="hidden" name="channel" value=(Channel::LOGS);
            div { label for="words" { "Words " } input #words type="search" name="q" autocomplete="off"; }
            button { (icon(Icon::Search)) "Search" }
            a.button.quiet href={ "/events/export?" (lines) } download { "Download all as NDJSON" }
            a.button.quiet href=(visitor.with(&[("wrap", wrap.0)])) { (wrap.1) }
        }
    }
}

fn row(event: &Event) -> Markup {
    let Ok(line) = serde_json::from_str::<LogLine>(event.event.get()) else {
        return html! { li data-row=(event.id) { (time::exact(event.indexed_at_ms)) span {} span { (payload::inline(text::value(event.event.get()))) } } };
    };
    html! { li class=(level(line.level).1) data-row=(event.id) { (columns(event.run_id.as_ref(), &line)) } }
}

/// A line that is not an event yet.
fn open_row(run: &InvocationId, line: &LogLine) -> Markup {
    html! { li class=(level(line.level).1) { (columns(Some(run), line)) } }
}

fn columns(run: Option<&InvocationId>, line: &LogLine) -> Markup {
    let (word, _) = level(line.level);
    html! {
        (time::exact(line.ts))
        @match run {
            Some(run) => { span { (word) " " a href={ "/runs/" (run) } title=(run) { "run" } } }
            None => { span { (word) } }
        }
        span { (payload::inline(text::value(&line.message))) }
    }
}

/// The word and the class of a severity.
pub(crate) fn level(level: LogLevel) -> (&'static str, &'static str) {
    match level {
        LogLevel::Debug => ("debug", "debug"),
        LogLevel::Info => ("info", "info"),
        LogLevel::Warn => ("warn", "warn"),
        LogLevel::Error => ("error", "error"),
    }
}
