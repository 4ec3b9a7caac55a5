//! The checks of a node on its page, as `headwater doctor` has them: each part with its state, and with the next step if it
//! is not well.

use headwater_model::sandbox_layer::LayerState;
use headwater_platform::{PlatformConfig, Readiness};
use maud::{Markup, html};

use crate::part::{
    state::{Tone, state},
    text::{self, bytes},
};

/// A check and its result.
struct Check<'a> {
    name: String,
    verdict: Verdict,
    detail: String,
    /// The next step; empty unless failed.
    next: &'a str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Ok,
    Failed,
    /// Does not apply here.
    Skipped,
}

/// The failing checks: each with its name, its detail and the next step.
pub(in crate::page) fn failing(found: &Readiness, config: &PlatformConfig) -> Vec<[String; 3]> {
    let failing = all(found, config).into_iter();
    let failing = failing.filter(|check| check.verdict == Verdict::Failed);
    failing
        .map(|check| [check.name, check.detail, check.next.to_owned()])
        .collect()
}

/// All checks, the failing ones first.
fn all<'a>(found: &'a Readiness, config: &PlatformConfig) -> Vec<Check<'a>> {
    let mut checks = parts(found, config);
    let layers = found.engine.sandbox.iter();
    checks.extend(layers.map(|(name, is_on)| layer(name, *is_on)));
    checks.sort_by_key(|check| check.verdict != Verdict::Failed);
    checks
}

/// The table of all checks, the failing ones first.
pub(super) fn table(found: &Readiness, config: &PlatformConfig) -> Markup {
    let checks = all(found, config);
    let failing = checks
        .iter()
        .filter(|check| check.verdict == Verdict::Failed);
    let failing = failing.count() as u64;
    html! {
        p.note {
            @match failing {
                0 => "Everything is well.",
                _ => { (text::counted(failing, "check fails", "checks fail")) ": the table says what to do." }
            }
            " In a terminal, " code { "headwater doctor" } " checks the way to the node, too."
        }
        table.list {
            thead { tr { th scope="col" { "Check" } th scope="col" { "State" } th scope="col" { "Detail" } th scope="col" { "Next step" } } }
            tbody { @for check in &checks { (row(check)) } }
        }
    }
}

fn row(check: &Check<'_>) -> Markup {
    html! {
        tr {
            th scope="row" { (text::line(&check.name)) }
            td data-label="State" {
                @match check.verdict {
                    Verdict::Ok => (state(Tone::Good, "ok")),
                    Verdict::Failed => (state(Tone::Bad, "failed")),
                    Verdict::Skipped => (state(Tone::Quiet, "not here")),
                }
            }
            td data-label="Detail" { (check.detail) }
            td data-label="Next step" { (check.next) }
        }
    }
}

fn parts<'a>(found: &'a Readiness, config: &PlatformConfig) -> Vec<Check<'a>> {
    let engine = &found.engine;
    let room = match engine.free_bytes {
        Some(free) => format!(
            "{} free",
            bytes(usize::try_from(free).unwrap_or(usize::MAX))
        ),
        None => "its free space cannot be told".to_owned(),
    };
    let part = |name: &str, detail: String, hint: Option<&'a str>| Check {
        name: name.to_owned(),
        verdict: if hint.is_none() {
            Verdict::Ok
        } else {
            Verdict::Failed
        },
        detail,
        next: hint.unwrap_or_default(),
    };
    let told = |hint: Option<&str>, good: &str, bad: &str| match hint {
        None => good.to_owned(),
        Some(_) => bad.to_owned(),
    };
    let (store, code) = (found.store_hint(), found.code_hint());
    let (builder, key) = (found.builder_hint(), found.secret_key_hint());
    vec![
        part("Node", format!("answers at {}", config.public_url), None),
        part(
            "Store",
            told(
                store,
                "can be read and written",
                "cannot be read or written",
            ),
            store,
        ),
        part(
            "Code folder",
            told(code, "can be written", "cannot be written"),
            code,
        ),
        part("Disk of the data folder", room, found.room_hint()),
        part("Runtime", runtime(found), found.runtime_hint()),
        part(
            "Builder",
            told(
                builder,
                "builds components",
                "saved sources run, and none can be built",
            ),
            builder,
        ),
        part(
            "Secret key",
            told(
                key,
                "decrypts the stored secrets",
                "is not that of the stored secrets",
            ),
            key,
        ),
    ]
}

fn runtime(found: &Readiness) -> String {
    let engine = &found.engine;
    match engine.runtime_version.as_str() {
        "" => "does not start".to_owned(),
        version => format!(
            "Deno {version}, {}, {}",
            text::counted(engine.routes as u64, "route", "routes"),
            text::counted(
                engine.ca_certificates as u64,
                "certificate of its own",
                "certificates of its own"
            ),
        ),
    }
}

fn layer<'a>(name: &str, is_on: bool) -> Check<'a> {
    let (verdict, detail, next) = match LayerState::of(name, is_on) {
        LayerState::On(meaning) => (Verdict::Ok, meaning, ""),
        LayerState::Absent(reason) => (Verdict::Skipped, reason, ""),
        LayerState::Wanting { absence, advice } => (Verdict::Failed, absence, advice),
    };
    Check {
        name: format!("Sandbox: {name}"),
        verdict,
        detail: detail.to_owned(),
        next,
    }
}
