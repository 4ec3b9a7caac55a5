//! The steps of a run: their course over time, and each with its input, results, log and error.

use std::collections::HashMap;

use headwater_model::time::EpochMs;
use headwater_platform::{
    DeploymentView, NodeOutline, Phase, PlaceStatus, StepPath, StepView, WaitKind, WorkflowRunView,
};
use maud::{Markup, html};
use serde_json::value::RawValue;
use url::form_urlencoded::byte_serialize;

use super::steps;
use crate::{
    page::{configured::Things, sources::logs::level},
    part::{
        empty::empty,
        payload, run_status,
        text::{self, counted, grouped},
        time,
        tree::Tree,
        waterfall::{Bar, BarKind, Span, patterns},
    },
    visit::Visitor,
};

/// Steps of one page.
const STEPS: usize = 200;
/// Bytes of values that are shown as trees on the run's page; larger ones have a page of their own.
const VALUE_BYTES: usize = 64 * 1_024;

/// The steps that a page shows.
pub(super) struct Steps<'a> {
    /// The names of what the steps' values name.
    pub(super) things: &'a Things,
    pub(super) view: &'a WorkflowRunView,
    pub(super) followed: Option<&'a DeploymentView>,
    /// The address of the run.
    pub(super) base: &'a str,
    pub(super) visitor: &'a Visitor,
}

impl Steps<'_> {
    fn only_failed(&self) -> bool {
        self.visitor.parameter("steps").as_deref() == Some("failed")
    }

    /// The number of steps in front of those shown.
    fn from(&self) -> usize {
        let from = self.visitor.parameter("from");
        from.and_then(|from| from.parse().ok()).unwrap_or_default()
    }

    /// The steps that the filter leaves, with their numbers.
    fn chosen(&self) -> Vec<(usize, &StepView)> {
        let all = self.view.steps.iter().enumerate();
        all.filter(|(_, step)| !self.only_failed() || step.status == PlaceStatus::Failed)
            .collect()
    }

    /// The steps of the page.
    fn shown(&self) -> Vec<(usize, &StepView)> {
        let chosen = self.chosen().into_iter();
        chosen.skip(self.from()).take(STEPS).collect()
    }

    /// The time from the first to the last thing that happened.
    fn span(&self) -> Span {
        let run = &self.view.run;
        Span {
            from_ms: run.queued_at_ms,
            to_ms: run.ended_at_ms.unwrap_or(self.visitor.now_ms),
        }
    }
}

/// The course of the run over time.
pub(super) fn course(steps: &Steps<'_>) -> Markup {
    let shown = steps.shown();
    if steps.view.steps.is_empty() {
        return html! {};
    }
    let span = steps.span();
    let whole = time::took(span.to_ms.since(span.from_ms));
    html! {
        h2 { "Course" }
        (patterns())
        (filters(steps))
        table.list.course {
            thead {
                tr {
                    th scope="col" { "Step" }
                    th scope="col" { "Status" }
                    th.number scope="col" { "Began after" }
                    th.number scope="col" { "Took" }
                    @if can_rerun(steps) { th scope="col" { "Again" } }
                    th.wide scope="col" aria-label={ "Course over " (whole) } { span.axis { span { "0" } span { (whole) } } }
                }
            }
            tbody {
                @if steps.from() == 0 { (queued_row(steps, span)) }
                @for (number, step) in shown { (course_row(steps, number, step, span)) }
            }
        }
        (windows(steps))
    }
}

fn queued_row(steps: &Steps<'_>, span: Span) -> Markup {
    let run = &steps.view.run;
    let started = run.started_at_ms.unwrap_or(span.to_ms);
    let queued = Bar {
        kind: BarKind::Queued,
        from_ms: run.queued_at_ms,
        to_ms: started,
        number: None,
        title: "queued".to_owned(),
    };
    html! {
        tr {
            th scope="row" { span.note { "in the queue" } }
            td data-label="Status" {}
            td.number data-label="Began after" { "0 ms" }
            td.number data-label="Took" { (time::took(started.since(run.queued_at_ms))) }
            @if can_rerun(steps) { td data-label="Again" {} }
            td.wide { (span.row(&[queued])) }
        }
    }
}

fn course_row(steps: &Steps<'_>, number: usize, step: &StepView, span: Span) -> Markup {
    let ended_at_ms = step.ended_at_ms.unwrap_or(span.to_ms);
    html! {
        tr {
            th scope="row" { a href={ "#step-" (number) } { (path(&step.path)) } }
            td data-label="Status" {
                (run_status::of_step(step.status))
                @if step.attempts > 1 { " " span.note { (counted(step.attempts.into(), "try", "tries")) } }
            }
            td.number data-label="Began after" { (time::took(step.started_at_ms.since(span.from_ms))) }
            td.number data-label="Took" { (time::took(ended_at_ms.since(step.started_at_ms))) }
            @if can_rerun(steps) { td data-label="Again" { a href=(rerun_address(steps, step)) { "from here" } } }
            td.wide { a href={ "#step-" (number) } tabindex="-1" aria-hidden="true" { (span.row(&bars(step, span.to_ms))) } }
        }
    }
}

/// The tries and waits of a step. Tries are numbered from the last, since the first may not be kept.
fn bars(step: &StepView, now_ms: EpochMs) -> Vec<Bar> {
    let tries = step.phases.iter().filter(|phase| phase.wait.is_none());
    let mut number = (step.attempts + 1).saturating_sub(tries.count() as u32);
    let mut bars = Vec::new();
    for (at, phase) in step.phases.iter().enumerate() {
        let next = step.phases.get(at + 1);
        let to_ms = phase.ended_at_ms.unwrap_or(now_ms);
        let took = time::took(to_ms.since(phase.started_at_ms));
        let (kind, title) = match phase.wait {
            Some(kind) => (
                BarKind::Waited,
                format!("waited for {}: {took}", run_status::wait(kind)),
            ),
            None if has_failed(step, next) => {
                (BarKind::Failed, format!("try {number} failed after {took}"))
            }
            None => (BarKind::Ran, format!("try {number}: {took}")),
        };
        let is_try = phase.wait.is_none();
        bars.push(Bar {
            kind,
            from_ms: phase.started_at_ms,
            to_ms,
            number: (is_try && step.attempts > 1).then_some(number),
            title,
        });
        number += u32::from(is_try);
    }
    bars
}

/// Whether a try failed that this wait follows, or with which the step ended.
fn has_failed(step: &StepView, next: Option<&Phase>) -> bool {
    match next {
        Some(next) => next.wait == Some(WaitKind::Retry),
        None => step.status == PlaceStatus::Failed,
    }
}

/// A path, of which the last name counts most.
fn path(path: &StepPath) -> Markup {
    let text = path.to_string();
    let (around, name) = text.rsplit_once('.').unwrap_or(("", &text));
    html! {
        @if !around.is_empty() { span.note { (text::visible(around)) "." } }
        (text::line(name))
    }
}

fn filters(steps: &Steps<'_>) -> Markup {
    let all = &steps.view.steps;
    let failed = all.iter().filter(|step| step.status == PlaceStatus::Failed);
    let failed = failed.count();
    let only_failed = steps.only_failed();
    let visitor = steps.visitor;
    html! {
        @if failed > 0 && failed < all.len() {
            ul.chips aria-label="Steps" {
                li { a href=(visitor.with(&[("steps", None), ("from", None)])) aria-current=[(!only_failed).then_some("true")] { "all " (grouped(all.len() as u64)) } }
                li { a href=(visitor.with(&[("steps", Some("failed")), ("from", None)])) aria-current=[only_failed.then_some("true")] { "failed " (grouped(failed as u64)) } }
            }
        }
    }
}

/// Links to the steps around those shown.
fn windows(steps: &Steps<'_>) -> Markup {
    let (from, count) = (steps.from(), steps.chosen().len());
    let to = |from: usize| {
        let from = from.to_string();
        steps.visitor.with(&[("from", Some(&from))])
    };
    html! {
        @if count > STEPS {
            nav.pager aria-label="Steps" {
                span { (grouped((from + 1).min(count) as u64)) " to " (grouped((from + STEPS).min(count) as u64)) " of " (grouped(count as u64)) }
                @if from > 0 { a rel="prev" href=(to(from.saturating_sub(STEPS))) { "Earlier" } }
                @if from + STEPS < count { a rel="next" href=(to(from + STEPS)) { "Later" } }
            }
        }
    }
}

/// Each step with everything that is known of it.
pub(super) fn list(steps: &Steps<'_>) -> Markup {
    let nodes = steps.followed.into_iter().flat_map(|view| &view.nodes);
    let nodes: HashMap<String, &NodeOutline> =
        nodes.map(|node| (node.path.to_string(), node)).collect();
    let shown = steps.shown();
    html! {
        h2 { "Steps" }
        @if shown.is_empty() {
            @match steps.view.run.status.is_open() {
                true => { (empty("No step has begun yet.", html! {})) }
                false => { (empty("No step is kept, or none began.", html! {})) }
            }
        }
        @for (number, step) in shown {
            @let node = nodes.get(&step.path.without_indices().to_string()).copied();
            (item(steps, number, step, node))
        }
    }
}

fn item(steps: &Steps<'_>, number: usize, step: &StepView, node: Option<&NodeOutline>) -> Markup {
    let is_open = matches!(step.status, PlaceStatus::Failed | PlaceStatus::Waiting);
    let took = step
        .ended_at_ms
        .map(|ended| ended.since(step.started_at_ms));
    html! {
        details.part id={ "step-" (number) } open[is_open] {
            summary {
                (run_status::of_step(step.status)) " " b id={ "step:" (step.path) } { (path(&step.path)) }
                @if let Some(node) = node { " " span.kind { (node.kind) } }
                @if let Some(took) = took { " " span.note { (time::took(took)) } }
                @if step.attempts > 1 { " " span.note { (counted(step.attempts.into(), "try", "tries")) } }
                @if let Some((_, summary)) = step.exports.iter().find(|(name, _)| name == "$summary") { " " (summary_line(summary)) }
            }
            (rerun(steps, step))
            @if let Some(error) = &step.error {
                h3 { "Error" }
                p { (text::value(&error.name)) ": " (text::value(&error.message)) }
                @if !error.stack.is_empty() { pre.stack { (text::value(&error.stack)) } }
            }
            (results(steps, number, step))
            @if !step.logs.is_empty() {
                h3 { "Log" }
                div.log tabindex="0" role="region" aria-label={ "Log of " (step.namespace) } {
                    ol { @for line in &step.logs {
                        @let (word, class) = level(line.level);
                        li class=(class) { (time::exact(line.ts)) span { (word) } span { (payload::inline(text::value(&line.message))) } }
                    } }
                }
            }
            @if let Some(node) = node && !node.settings.is_empty() {
                details { summary { "Input, as the file has it" } (steps::given(node, steps.things)) }
            }
        }
    }
}

/// The ways to begin again here.
fn rerun(steps: &Steps<'_>, step: &StepView) -> Markup {
    html! {
        @if can_rerun(steps) { p.actions { a.button href=(rerun_address(steps, step)) { "Run again from here" } } }
    }
}

/// Whether the run can begin again at a step: it has ended, and its event is kept.
fn can_rerun(steps: &Steps<'_>) -> bool {
    !steps.view.run.status.is_open() && steps.view.event.is_some()
}

fn rerun_address(steps: &Steps<'_>, step: &StepView) -> String {
    let from = step.path.to_string();
    let from: String = byte_serialize(from.as_bytes()).collect();
    format!("{}/replay?from={from}", steps.base)
}

fn results(steps: &Steps<'_>, number: usize, step: &StepView) -> Markup {
    let address = |of: &str| {
        let of: String = byte_serialize(of.as_bytes()).collect();
        format!("{}/value?step={number}&of={of}", steps.base)
    };
    let name = |export: &str| format!("steps.{}.{export}", step.namespace);
    html! {
        @if let Some(returned) = &step.return_value {
            h3 { "Return value" }
            (value(returned, &name("$return_value"), &address("$return_value")))
        }
        @for (export, exported) in &step.exports {
            h3 { "Export " code { (text::visible(export)) } }
            (value(exported, &name(export), &address(export)))
        }
    }
}

fn summary_line(summary: &RawValue) -> Markup {
    match serde_json::from_str::<String>(summary.get()) {
        Ok(summary) => html! { span.note { (payload::inline(text::line(&summary))) } },
        Err(_) => html! {},
    }
}

/// A value as a tree; a large one as a link to its page.
pub(super) fn value(value: &RawValue, name: &str, address: &str) -> Markup {
    let text = value.get();
    if text.len() > VALUE_BYTES {
        return html! { p { a href=(address) { (text::bytes(text.len())) " of JSON" } } };
    }
    let value = serde_json::from_str(text).unwrap_or_default();
    tree(&value, name, ("", 0), address)
}

/// A part of a value as a tree from one of its children on; its own parts are at an address with their pointers.
pub(super) fn tree(
    value: &serde_json::Value,
    name: &str,
    (at, from): (&str, usize),
    address: &str,
) -> Markup {
    let part = |pointer: &str| {
        let pointer: String = byte_serialize(pointer.as_bytes()).collect();
        format!("{address}&at={pointer}")
    };
    Tree {
        part: Some(&part),
        name,
        at,
        from: Some(from),
        raw: None,
    }
    .markup(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(wait: Option<WaitKind>, from: u64, to: Option<u64>) -> Phase {
        Phase {
            wait,
            started_at_ms: EpochMs(from),
            ended_at_ms: to.map(EpochMs),
        }
    }

    fn step(status: PlaceStatus, attempts: u32, phases: Vec<Phase>) -> StepView {
        StepView {
            path: "a.b[1].send".parse().unwrap(),
            namespace: "send".to_owned(),
            status,
            attempts,
            started_at_ms: EpochMs(0),
            ended_at_ms: None,
            phases,
            return_value: None,
            exports: Vec::new(),
            logs: Vec::new(),
            error: None,
        }
    }

    #[test]
    fn each_try_and_each_wait_is_a_bar() {
        let retry = Some(WaitKind::Retry);
        let phases = vec![
            phase(None, 0, Some(10)),
            phase(retry, 10, Some(30)),
            phase(None, 30, None),
        ];
        let bars = bars(&step(PlaceStatus::Running, 2, phases), EpochMs(50));
        let shown = bars.iter().map(|bar| (bar.kind, bar.to_ms.0, bar.number));
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                (BarKind::Failed, 10, Some(1)),
                (BarKind::Waited, 30, None),
                (BarKind::Ran, 50, Some(2)),
            ]
        );
        assert_eq!(bars[0].title, "try 1 failed after 10 ms");
    }

    #[test]
    fn tries_that_are_not_kept_count() {
        let phases = vec![phase(None, 0, Some(5))];
        let bars = bars(&step(PlaceStatus::Failed, 60, phases), EpochMs(9));
        assert_eq!(bars[0].number, Some(60));
        assert_eq!(bars[0].kind, BarKind::Failed);
        let bars_of_one = super::bars(
            &step(PlaceStatus::Succeeded, 1, vec![phase(None, 0, Some(5))]),
            EpochMs(9),
        );
        assert_eq!(bars_of_one[0].number, None);
    }
}
