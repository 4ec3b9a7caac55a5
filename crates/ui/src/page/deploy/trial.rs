//! The result of trying a source's code without deploying it, above the form or the editor that it was tried from.

use headwater_model::{channel::Channel, component::Hooks, event::Emit};
use headwater_platform::{Response, TrialReport};
use maud::{Markup, html};
use serde_json::Value;

use super::failure::advised;
use crate::{
    page::sources::logs::level,
    part::{
        icon::{Icon, icon},
        payload,
        state::{Tone, state},
        text::{self, counted},
        tree::Tree,
    },
};

/// Events that are shown.
const SHOWN: usize = 20;
/// Characters of a response's body that are shown.
const BODY_CHARS: usize = 2_000;

/// The code that is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tried {
    /// One that may be deployed, with the hooks that it has.
    Draft(Hooks),
    /// One that was.
    Former,
}

impl Tried {
    fn title(self) -> &'static str {
        match self {
            Self::Draft(_) => "Tried, not deployed",
            Self::Former => "Tried on the code of then",
        }
    }

    fn note(self) -> &'static str {
        match self {
            Self::Draft(_) => {
                "Everything that the code does outside has happened. Its events went nowhere, dedupe saw none of them, its key-value map was empty, and its hooks did not run."
            }
            Self::Former => {
                "Everything that the code does outside has happened. Its events went nowhere, dedupe saw none of them, and the key-value map is as it was."
            }
        }
    }
}

/// The result: events, log, response and error; with the id of the form that deploys the code, if there is one.
pub(crate) fn result(report: &TrialReport, of: Tried, form: Option<&str>) -> Markup {
    let error = report.outcome.error();
    html! {
        section.card.trial role="status" tabindex="-1" #trial aria-labelledby="trial-title" {
            header.title {
                h2 #trial-title { (of.title()) }
                @match &error {
                    Some(_) => { (state(Tone::Bad, "failed")) }
                    None => { (state(Tone::Good, "ok")) }
                }
            }
            @if let Some(error) = &error {
                (without_hooks(of, form))
                p { (text::value(&error.name)) ": " (text::sentence(&advised(error.message.clone()))) }
                @if !error.stack.is_empty() { (text::stack(&error.stack)) }
            }
            (events(report))
            @if let Some(given) = &report.response { h3 { "Response" } (response(given)) }
            @if !report.logs.is_empty() {
                h3 { "Log" }
                div.log tabindex="0" role="region" aria-label="Log of the run" {
                    ol { @for line in &report.logs {
                        @let (word, class) = level(line.level);
                        li class=(class) { span {} span { (word) } span { (payload::inline(text::value(&line.message))) } }
                    } }
                }
            }
            p.note { (icon(Icon::Warning)) (of.note()) }
        }
    }
}

/// The likely reason why the code of a component with hooks failed: they prepare the state that it expects.
fn without_hooks(of: Tried, form: Option<&str>) -> Markup {
    let names: Vec<_> = match of {
        Tried::Draft(hooks) => hooks.names().filter(|name| *name != "deactivate").collect(),
        Tried::Former => Vec::new(),
    };
    html! {
        @if !names.is_empty() {
            p {
                "A trial runs without the component's " (if names.len() == 1 { "hook " } else { "hooks " })
                @for (at, name) in names.iter().enumerate() { @if at > 0 { " and " } code { (name) } }
                ", which may prepare what its run needs, so that this error may not occur once it is deployed."
            }
            @if let Some(form) = form {
                p { button form=(form) name="action" value="run" { (icon(Icon::Play)) "Deploy, then run it" } }
            }
        }
    }
}

fn events(report: &TrialReport) -> Markup {
    let shown = &report.events[..report.events.len().min(SHOWN)];
    html! {
        h3 { "It emitted " (counted(report.emitted, "event", "events")) }
        @for (at, emit) in shown.iter().enumerate() {
            details open[at == 0] {
                summary { (payload::inline(text::line(&line(emit)))) @if let Some(channel) = channel(emit) { " " span.class { (text::visible(channel)) } } }
                (value(emit))
            }
        }
        @if report.emitted > shown.len() as u64 { p.note { "The first " (shown.len()) " are shown." } }
    }
}

/// The line that tells an event from others, as lists of events have it.
fn line(emit: &Emit) -> String {
    let summary = emit.options.summary.as_deref();
    let summary = summary.filter(|summary| !summary.trim().is_empty());
    summary.unwrap_or_else(|| emit.event.get()).to_owned()
}

fn channel(emit: &Emit) -> Option<&str> {
    let name = emit.options.name.as_ref().map(Channel::name);
    name.filter(|name| !name.is_empty())
}

fn value(emit: &Emit) -> Markup {
    let value: Value = serde_json::from_str(emit.event.get()).unwrap_or_default();
    // Nothing of a trial is kept.
    let tree = Tree {
        part: None,
        name: "event",
        at: "",
        from: None,
        raw: None,
    };
    tree.markup(&value)
}

fn response(given: &Response) -> Markup {
    let body = String::from_utf8_lossy(&given.body);
    let (shown, is_cut) = text::cut(&body, BODY_CHARS);
    html! {
        p { "Status " (given.status) }
        (payload::block(html! { pre tabindex="0" { (text::value(shown)) @if is_cut { "…" } } }))
    }
}
