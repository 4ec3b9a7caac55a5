//! `/events`: the kept events of all sources and workflows, searched by words and by values in their JSON.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::channel::Channel;
use headwater_platform::{EventsSearch, FoundEvent, FoundEvents, KnownNames, PlatformError};
use maud::{Markup, html};

use super::{
    export, matching,
    views::{self, Unsaved},
    wanted::Wanted,
};
use crate::{
    address,
    part::{
        empty::empty,
        event_list::live_bar,
        event_row,
        icon::{Icon, icon},
        marked::marked,
        name::named,
        payload, selection,
        text::{self, grouped},
        time,
    },
    problem::capital,
    query::ROWS,
    reply::{Page, PageReply, Section},
    state::Ui,
    topic::Topic,
    visit::Visitor,
};

/// Characters of an event without a summary that its row shows.
const PREVIEW_CHARS: usize = 120;

/// Searches events.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    let (_, query) = visitor.location.split_once('?').unwrap_or_default();
    page(&ui, &visitor, &Wanted::parse(query), None).await
}

/// The page of a search, perhaps with a view that could not be saved.
pub(super) async fn page(
    ui: &Ui,
    visitor: &Visitor,
    wanted: &Wanted,
    unsaved: Option<&Unsaved<'_>>,
) -> PageReply {
    let found = async {
        let search = EventsSearch {
            limit: ROWS,
            ..wanted.search(visitor)?
        };
        ui.platform.search_events(visitor.caller(), search).await
    };
    let (found, wrong) = match found.await {
        Ok(found) => (Some(found), None),
        Err(error @ PlatformError::Invalid(_)) => (None, Some(capital(&error.to_string()))),
        Err(error) => return Err(error.into()),
    };
    let emitters = found.iter().flat_map(|found| &found.events);
    let emitters: Vec<_> = emitters.map(|event| event.emitter.clone()).collect();
    let names = ui.platform.names(visitor.caller(), emitters, []).await?;
    let workspace = visitor.workspace.clone();
    let named = ui.platform.event_views(visitor.caller(), workspace).await?;
    // A search by words would be done anew for each run of anything.
    let is_followed = wanted.is_of_everything() && wanted.after.is_empty();
    let body = html! {
        header.title { h1 { "Events" } }
        (views::links(visitor, &named, wanted))
        (form(wanted, visitor, wrong.as_deref()))
        @if wanted.filters() { (views::form(visitor, wanted, unsaved)) }
        @if is_followed { (live_bar()) }
        @if let Some(found) = &found { div data-part="events" { (results(found, &names, wanted, visitor)) } }
    };
    let query = wanted.request(visitor);
    let path = format!("/events?{query}");
    let page = Page::of(Section::Events, "Events", body);
    let page = page.request(ui, "GET", path.trim_end_matches('?'));
    Ok(match is_followed {
        true => page.changing(&Topic::Runs, visitor),
        false => page,
    })
}

fn form(wanted: &Wanted, visitor: &Visitor, wrong: Option<&str>) -> Markup {
    html! {
        form.filters action="/events" {
            div { label for="q" { "Words " } input #q type="search" name="q" value=(wanted.words) autocomplete="off"; }
            div {
                label for="path" { "Value at " }
                input #path name="path" value=(wanted.paths.first().map_or("", String::as_str)) placeholder="user.plan=pro" autocomplete="off" spellcheck="false"
                    aria-invalid=[wrong.map(|_| "true")] aria-describedby=[wrong.map(|_| "wrong")];
            }
            @for path in wanted.paths.iter().skip(1) { div { label { "and at " input name="path" value=(path) autocomplete="off" spellcheck="false"; } } }
            div { label for="channel" { "Channel " } input #channel name="channel" value=(wanted.channel) placeholder="$errors" autocomplete="off"; }
            div { label for="since" { "Since " } input #since name="since" value=(wanted.since) size="18" placeholder="24h or 2026-01-31" autocomplete="off"; }
            div { label for="until" { "Until " } input #until name="until" value=(wanted.until) size="18" placeholder="now" autocomplete="off"; }
            @if !wanted.emitter.is_empty() { input type="hidden" name="emitter" value=(wanted.emitter); }
            @if let Some(id) = &visitor.workspace { input type="hidden" name="workspace" value=(id); }
            button { (icon(Icon::Search)) "Search" }
        }
        @if let Some(wrong) = wrong { p.wrong role="alert" #wrong { (icon(Icon::Warning)) (text::sentence(wrong)) } }
    }
}

fn results(found: &FoundEvents, names: &KnownNames, wanted: &Wanted, visitor: &Visitor) -> Markup {
    let is_filtered = wanted.filters();
    let words = wanted.marked_words();
    html! {
        @if is_filtered {
            p.note role="status" { "Searched " (grouped(found.scanned.into())) " of " (grouped(found.kept_at_most)) " kept." }
        }
        @if found.events.is_empty() {
            (nothing(found, is_filtered))
        } @else {
            (selection::bar(visitor, "/events/selected", &event_row::ACTS))
            table.list {
                thead { tr { (selection::head()) th scope="col" { "Time" } th scope="col" { "Event" } th scope="col" { "Channel" } th scope="col" { "Of" } } }
                tbody { @for event in &found.events { (row(event, names, &words, visitor)) } }
            }
        }
        @if !found.events.is_empty() {
            p {
                a href=(export::address(visitor, wanted)) download { "Download all as NDJSON" } " · "
                @let all = Wanted { after: String::new(), ..wanted.clone() };
                a href=(matching::address(visitor, &all)) { "Send all that match again…" }
            }
        }
        nav.pager aria-label="Pages" {
            @if !wanted.after.is_empty() { a href=(visitor.with(&[])) { "First page" } }
            @if let Some(next) = &found.next {
                a rel="next" href=(visitor.with(&[("after", Some(&next.to_string()))])) { "Older ones" (icon(Icon::Next)) }
            }
        }
    }
}

/// A row, in which the words that were searched for are marked: in the summary, and in the value if they are not all there.
fn row(event: &FoundEvent, names: &KnownNames, words: &[String], visitor: &Visitor) -> Markup {
    let emitter = event.emitter.as_str();
    let data = serde_json::to_string(&event.data).unwrap_or_default();
    let summary = event
        .summary
        .as_deref()
        .filter(|summary| !summary.trim().is_empty());
    let has_all = |text: &str| {
        let text = text.to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    let place = format!("{}@{emitter}", event.id);
    html! {
        tr data-row=(place) {
            (selection::cell(visitor, Some(&place), &event.id.to_string()))
            td.narrow { (time::ago(event.indexed_at_ms, visitor.now_ms)) }
            th scope="row" {
                a href=(address::of_event(&event.emitter, &event.id)) { (payload::inline(marked(summary.unwrap_or(&data), words, PREVIEW_CHARS))) }
                @if summary.is_some_and(|summary| !has_all(summary)) { div.note { (payload::inline(marked(&data, words, PREVIEW_CHARS))) } }
            }
            td data-label="Channel" { @if event.channel != Channel::default() { (text::line(event.channel.name())) } }
            td.named data-label="Of" { a href=(visitor.with(&[("emitter", Some(emitter))])) { (named(names.of_emitter(&event.emitter), emitter)) } }
        }
    }
}

fn nothing(found: &FoundEvents, is_filtered: bool) -> Markup {
    match (is_filtered, found.next.is_some()) {
        (false, _) => empty(
            "No source or workflow has emitted an event that is kept.",
            html! { p { a href="/sources" { "Show the sources" } } },
        ),
        (true, true) => empty(
            "None of those searched so far is like this.",
            html! { p { "There are older ones, which the next page searches." } },
        ),
        (true, false) => empty(
            "No kept event is like this.",
            html! {
                p { "The filter left out all " (grouped(found.scanned.into())) " that it looked at. Retention may have taken others: of each source and workflow the newest are kept." }
                p { a href="/events" { "Show all events" } }
            },
        ),
    }
}
