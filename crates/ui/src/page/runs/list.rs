//! `/runs`: those of all sources and workflows, whether they have ended or not; at first those that need somebody.

use std::sync::Arc;

use axum::extract::{Query, State};
use headwater_model::{id::RunnableId, time::EpochMs};
use headwater_platform::{
    CappedCount, KnownNames, RunCounts, RunEntries, RunEntry, RunHour, RunSearchFilter,
};
use maud::{Markup, html};

use super::{
    filter::{CHIPS, LEAST, TRIGGERS, Wanted, minute_of},
    matching,
    selected::REPLAYS,
};
use crate::{
    address::{self, Address as _},
    page::{deliveries::list::capped, picker::Picker},
    part::{
        code::quoted,
        empty::empty,
        event_list::live_bar,
        icon::{Icon, icon},
        outcome::{Cause, outcome, trigger},
        run_status, selection,
        strip::{Hour, strip},
        text, time,
    },
    query::ROWS,
    reply::{Page, PageReply, Section},
    state::Ui,
    topic::Topic,
    visit::{Visit, Visitor},
};

/// Characters of an error that a row shows.
const ERROR_CHARS: usize = 80;
/// Characters of a version's id that a row shows.
const VERSION_CHARS: usize = 6;

/// Lists runs.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Query(mut wanted): Query<Wanted>,
) -> PageReply {
    let (platform, caller) = (&ui.platform, visitor.caller());
    let workspace = visitor.workspace.clone();
    let in_any_state = wanted.in_any_state(workspace.clone(), visitor.now_ms);
    let counts = platform.count_runs(caller, &in_any_state).await?;
    // Where nobody is needed, all of them are shown.
    let needs_nobody = wanted.status.is_empty()
        && counts.failed.count + counts.open.count == 0
        && counts.total().count > 0;
    if needs_nobody {
        "any".clone_into(&mut wanted.status);
    }
    let filter = RunSearchFilter {
        states: wanted.states(),
        ..in_any_state.clone()
    };
    let found = platform
        .find_runs(caller, &filter, &visitor.page_request())
        .await?;
    let causes = found
        .items
        .iter()
        .filter_map(|entry| entry.run.caused_by.as_ref());
    let causes = causes.map(|of| of.emitter.clone());
    let names = platform.names(caller, causes, []).await?;
    let hours = platform.run_hours(caller, workspace.as_ref()).await?;
    let picker = Picker::of(&ui, &visitor, &wanted.emitter).await?;
    let body = html! {
        header.title { h1 { "Runs" } }
        div data-part="strip" { (strip(&bars(&hours, &visitor))) }
        h2 { "Runs whose records are kept" }
        div data-part="states" { (chips(&visitor, &wanted, &counts)) }
        (narrowed(&visitor, &wanted, &picker))
        (form(&visitor, &wanted, &picker))
        (live_bar())
        div data-part="runs" {
            @if needs_nobody { p.note { "None of them failed, and none is under way: these are all." } }
            @if found.items.is_empty() {
                (nothing(&ui, &visitor, &wanted, &found, &counts))
            } @else {
                (table(&found.items, &names, &visitor))
                @if found.items.iter().any(|entry| can_replay(entry).is_some()) { (matching::links(&visitor, &wanted.status)) }
            }
            (pages(&found, &visitor))
        }
    };
    Ok(Page::of(Section::Runs, "Runs", body)
        .changing(&Topic::Runs, &visitor)
        .command(command(&wanted, visitor.now_ms)))
}

/// The filters that are set, each with a way to be without it.
fn narrowed(visitor: &Visitor, wanted: &Wanted, picker: &Picker) -> Markup {
    let text = |value: &str| {
        let value = value.trim();
        (!value.is_empty()).then(|| html! { code { (text::visible(value)) } })
    };
    let known = TRIGGERS.iter().find(|(value, _)| *value == wanted.trigger);
    let all = [
        ("emitter", "Of", picker.chosen()),
        (
            "trigger",
            "Cause",
            known.map(|(_, of)| html! { (trigger(*of)) }),
        ),
        ("q", "Error has", text(&wanted.q)),
        (
            "min_ms",
            "Took at least",
            text(&wanted.min_ms).map(|ms| html! { (ms) " ms" }),
        ),
        ("since", "From", text(&wanted.since)),
        ("until", "Until", text(&wanted.until)),
        ("origin", "Request or trace", text(&wanted.origin)),
    ];
    let given: Vec<_> = all
        .into_iter()
        .filter_map(|(name, label, value)| Some((name, label, value?)))
        .collect();
    html! {
        @if !given.is_empty() {
            ul.chips aria-label="Filters" {
                @for (name, label, value) in given {
                    li { a href=(visitor.with(&[(name, None)])) title="Take this filter away" { span { (label) " " (value) " ×" span.unseen { " (take away)" } } } }
                }
            }
        }
    }
}

/// The hours as bars that lead to their runs.
pub(crate) fn bars(hours: &[RunHour], visit: &Visit) -> Vec<Hour> {
    let bars = hours.iter().map(|hour| {
        let since_ms = hour.since_ms();
        let last_ms = since_ms + std::time::Duration::from_mins(59);
        let mut href = format!(
            "/runs?status=any&since={}&until={}",
            time::minute(since_ms),
            time::minute(last_ms)
        );
        if let Some(id) = &visit.workspace {
            href += &format!("&workspace={id}");
        }
        Hour {
            since_ms,
            good: hour.succeeded,
            bad: hour.failed,
            href,
        }
    });
    bars.collect()
}

fn chips(visitor: &Visitor, wanted: &Wanted, counts: &RunCounts) -> Markup {
    let together = |counts: [CappedCount; 2]| CappedCount {
        count: counts.iter().map(|one| one.count).sum(),
        is_capped: counts.iter().any(|one| one.is_capped),
    };
    let of = |value: Option<&str>| match value {
        None => together([counts.failed, counts.open]),
        Some("open") => counts.open,
        Some("failed") => counts.failed,
        Some("succeeded") => counts.succeeded,
        Some("cancelled") => counts.cancelled,
        Some(_) => counts.total(),
    };
    html! {
        ul.chips aria-label="State" {
            @for (value, label) in CHIPS {
                li {
                    a href=(visitor.with(&[("status", value)])) aria-current=[(wanted.status == value.unwrap_or_default()).then_some("true")] {
                        (label) " " (capped(of(value)))
                    }
                }
            }
        }
    }
}

fn form(visitor: &Visitor, wanted: &Wanted, picker: &Picker) -> Markup {
    let more = [&wanted.min_ms, &wanted.since, &wanted.until, &wanted.origin];
    let has_more = more.iter().any(|value| !value.is_empty());
    html! {
        form.filters action="/runs" {
            @if !wanted.status.is_empty() { input type="hidden" name="status" value=(wanted.status); }
            @if let Some(id) = &visitor.workspace { input type="hidden" name="workspace" value=(id); }
            div {
                label for="trigger" { "Cause " }
                select #trigger name="trigger" {
                    option value="" { "any" }
                    @for (value, of) in TRIGGERS { option value=(value) selected[wanted.trigger == value] { (trigger(of)) } }
                }
            }
            (picker.field("emitter"))
            div { label for="q" { "Error has " } input #q type="search" name="q" value=(wanted.q) autocomplete="off"; }
            details.more open[has_more] {
                summary { "More filters" }
                div.filters {
                    div {
                        label for="min_ms" { "Took at least " }
                        select #min_ms name="min_ms" {
                            option value="" { "any time" }
                            @let least = LEAST.map(|(ms, label)| (ms.to_string(), label));
                            @for (value, label) in &least { option value=(value) selected[wanted.min_ms == *value] { (label) } }
                            @if !wanted.min_ms.is_empty() && least.iter().all(|(value, _)| *value != wanted.min_ms) {
                                option value=(wanted.min_ms) selected { (text::visible(&wanted.min_ms)) " ms" }
                            }
                        }
                    }
                    div { label for="since" { "From (UTC) " } input #since type="datetime-local" name="since" value=(minute_of(&wanted.since, visitor.now_ms)); }
                    div { label for="until" { "Until (UTC) " } input #until type="datetime-local" name="until" value=(minute_of(&wanted.until, visitor.now_ms)); }
                    div { label for="origin" { "Request or trace " } input #origin name="origin" value=(wanted.origin) placeholder="its id" autocomplete="off" spellcheck="false"; }
                }
            }
            button { (icon(Icon::Search)) "Filter" }
            @if wanted.narrows(visitor.now_ms) { a.button href=(cleared(visitor)) { "Clear" } }
        }
    }
}

/// The address of the same states without the other filters.
fn cleared(visitor: &Visitor) -> String {
    let names = [
        "trigger", "min_ms", "since", "until", "emitter", "q", "origin",
    ];
    visitor.with(&names.map(|name| (name, None)))
}

fn table(runs: &[RunEntry], names: &KnownNames, visitor: &Visitor) -> Markup {
    let some_replay = runs.iter().any(|entry| can_replay(entry).is_some());
    html! {
        @if some_replay { (selection::bar(visitor, "/runs/selected", &REPLAYS)) }
        table.list {
            thead { tr {
                @if some_replay { (selection::head()) }
                th scope="col" { "Queued" } th scope="col" { "State" } th scope="col" { "Source or workflow" } th scope="col" { "Cause" }
                th.number scope="col" { "Took" } th.number scope="col" { "Emitted" } th.number.spare scope="col" { "Dropped" }
                th.spare scope="col" { "Version" } th scope="col" { "Error" }
            } }
            tbody { @for entry in runs { (row(entry, some_replay, names, visitor)) } }
        }
    }
}

/// The id of a run that can be done again from its event: one of a workflow that has ended. Runs of sources keep none.
fn can_replay(entry: &RunEntry) -> Option<&str> {
    let is_over = entry.run.ended_at_ms.is_some();
    match &entry.runnable {
        RunnableId::Workflow(_) if is_over => Some(entry.run.id.as_str()),
        RunnableId::Workflow(_) | RunnableId::Source(_) => None,
    }
}

fn row(entry: &RunEntry, some_replay: bool, names: &KnownNames, visitor: &Visitor) -> Markup {
    let run = &entry.run;
    let queued = time::ago(run.queued_at_ms, visitor.now_ms);
    let base = entry.runnable.address();
    let address = address::of_run(&entry.runnable, &run.id);
    let cause = Cause::of_run(&entry.runnable, run);
    html! {
        tr data-row=(run.id) {
            @if some_replay { (selection::cell(visitor, can_replay(entry), run.id.as_str())) }
            td.narrow { a href=(address) data-main { (queued) } }
            td data-label="State" {
                @match (&entry.runnable, &entry.ended) {
                    (RunnableId::Source(_), Some(ended)) => { (outcome(ended.outcome)) }
                    (RunnableId::Source(_), None) | (RunnableId::Workflow(_), _) => { (run_status::of_run(run.status)) }
                }
            }
            th scope="row" { a href=(base) { (text::line(&entry.name)) } }
            td data-label="Cause" { (cause.words(names)) }
            td.number data-label="Took" {
                @if let (Some(started), Some(ended)) = (run.started_at_ms, run.ended_at_ms) { (time::took(ended.since(started))) }
            }
            td.number data-label="Emitted" { @if let Some(ended) = &entry.ended { (text::grouped(ended.emitted.into())) } }
            td.number.spare data-label="Dropped" { @if let Some(ended) = &entry.ended && ended.dropped.count > 0 { (text::grouped(ended.dropped.count.into())) } }
            td.spare data-label="Version" { (version(entry, &base)) }
            td data-label="Error" { @if let Some(error) = &run.error { (error_line(error)) } }
        }
    }
}

/// The end of the id of the code that ran; a workflow's leads to the deployment.
fn version(entry: &RunEntry, base: &str) -> Markup {
    let of_source = entry.ended.as_ref().map(|ended| &ended.version);
    html! {
        @match (&entry.run.deployment_id, of_source) {
            (Some(id), _) => { a href={ (base) "/steps?deployment=" (id) } title=(id) { code { (end_of(id.as_str())) } } }
            (None, Some(version)) => { a href={ (base) "/versions" } title=(version.as_str()) { code { (end_of(version.as_str())) } } }
            (None, None) => {}
        }
    }
}

/// The characters of an id that differ most from those of others.
fn end_of(id: &str) -> &str {
    id.char_indices()
        .rev()
        .nth(VERSION_CHARS - 1)
        .map_or(id, |(at, _)| &id[at..])
}

/// The beginning of an error: the run's page has the rest.
fn error_line(error: &str) -> Markup {
    let (shown, is_cut) = text::cut(error, ERROR_CHARS);
    html! { (text::value(shown)) @if is_cut { "…" } }
}

/// The reason why there are no runs, and what to do.
fn nothing(
    ui: &Ui,
    visitor: &Visitor,
    wanted: &Wanted,
    found: &RunEntries,
    counts: &RunCounts,
) -> Markup {
    let config = ui.platform.config();
    let kept = html! { "Of each source and workflow, the newest " (text::grouped(config.retained_runs.into())) " runs that succeeded and " (text::grouped(config.retained_failed_runs.into())) " that failed are kept" };
    let all = html! { p { a href=(visitor.with(&[("status", Some("any"))])) { "Show runs in any state" } } };
    match (wanted.narrows(visitor.now_ms), counts.total().count) {
        _ if found.searched_to.is_some() => empty(
            "None of those searched so far is like this.",
            html! { p { "There are older ones, which the next page searches." } },
        ),
        (false, 0) if config.retained_runs == 0 => empty(
            "No run that succeeded is kept, and none has failed or is under way.",
            html! { p { (kept) "; the bars above count all." } },
        ),
        (false, 0) => empty(
            "Nothing has run yet.",
            html! { p { "Runs appear here as soon as a source or workflow has something to do. " a href="/sources" { "Show the sources" } " or " a href="/workflows" { "the workflows" } "." } },
        ),
        (false, _) => empty("No kept run is in this state.", all),
        (true, 0) => empty(
            "No kept run is like this.",
            html! {
                p { (kept) "; the bars above count all." }
                p { a href=(cleared(visitor)) { "Show all runs in this state" } }
            },
        ),
        (true, _) => empty("No kept run like this is in this state.", all),
    }
}

/// The ways to the next and the first page. A search that found little has looked at many, and goes on there.
fn pages(found: &RunEntries, visitor: &Visitor) -> Markup {
    let is_full = found.items.len() >= ROWS as usize;
    let last = found.items.last().map(|entry| &entry.run.id);
    let next = found.searched_to.as_ref().or(last.filter(|_| is_full));
    html! {
        nav.pager aria-label="Pages" {
            @if visitor.parameter("after").is_some() { a href=(visitor.with(&[])) { "First page" } }
            @if let Some(next) = next { a rel="next" href=(visitor.with(&[("after", Some(next.as_str()))])) { "Next" (icon(Icon::Next)) } }
        }
    }
}

/// The command that lists the same.
fn command(wanted: &Wanted, now_ms: EpochMs) -> String {
    let asked = wanted.asked(wanted.in_any_state(None, now_ms)).into_iter();
    let arguments = asked.map(|(name, value)| match name {
        "source_id" | "workflow_id" => format!(" {value}"),
        "q" => format!(" --query {}", quoted(&value)),
        name => format!(" --{} {}", name.replace('_', "-"), quoted(&value)),
    });
    format!("headwater runs list{}", arguments.collect::<String>())
}
