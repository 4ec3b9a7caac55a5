//! One attempt of a delivery: its class of failure, what went out and what came back, and the same as a command.

use std::time::Duration;

use headwater_model::{
    time::EpochMs,
    webhook::{AttemptCause, AttemptFailure},
};
use headwater_platform::Attempt;
use maud::{Markup, html};

use crate::part::{
    code::enquoted,
    delivery::answer,
    icon::{Icon, icon},
    payload,
    state::{Tone, state},
    text, time,
    verification::{COPIED_BYTES_MAX, block},
};

/// An attempt in the line of time, folded; its bar is as long as its share of the slowest one.
pub(super) fn card(attempt: &Attempt, slowest_ms: u64, now_ms: EpochMs, curl: Markup) -> Markup {
    let is_good = attempt
        .status
        .is_some_and(|status| (200..300).contains(&status));
    let width = (attempt.latency_ms * 100 / slowest_ms).max(1);
    html! {
        details.card {
            summary {
                (icon(if is_good { Icon::Ok } else { Icon::Failed })) (time::ago(attempt.at_ms, now_ms))
                @if attempt.cause == Some(AttemptCause::Manual) { ", by hand" }
                ": " (answer(attempt))
                @if let Some(kind) = attempt.failure { " " (class(kind)) }
                svg.waterfall viewBox="0 0 100 3" height="6" width="200" aria-hidden="true" {
                    rect class=(if is_good { "latency" } else { "latency failed" }) x="0" y="0" height="3" width=(width) {}
                }
            }
            dl.facts {
                dt { "At" } dd { (time::exact(attempt.at_ms)) }
                @if let Some(cause) = attempt.cause { dt { "Cause" } dd { (told(cause)) } }
                dt { "Took" } dd { (time::took(Duration::from_millis(attempt.latency_ms))) }
                @if let Some(error) = &attempt.error { dt { "Error" } dd { (text::sentence(error)) } }
            }
            (exchange(attempt))
            (curl)
        }
    }
}

fn told(cause: AttemptCause) -> &'static str {
    match cause {
        AttemptCause::Event => "It is the first attempt of the delivery.",
        AttemptCause::Retry => "The attempt before had failed, and its time had come.",
        AttemptCause::Manual => "Somebody asked for it.",
    }
}

/// Whether an attempt that was made at once was taken.
pub(crate) fn result(attempt: &Attempt) -> Markup {
    match attempt.is_delivered() {
        true => state(Tone::Good, "delivered"),
        false => state(Tone::Bad, "not delivered"),
    }
}

/// The answer of an attempt that was made at once.
pub(crate) fn facts(attempt: &Attempt) -> Markup {
    html! {
        dl.facts {
            dt { "Answer" }
            dd {
                @match attempt.status { Some(status) => (status), None => "none" }
                @if let Some(kind) = attempt.failure { " " (class(kind)) }
            }
            dt { "Sent" } dd { (time::exact(attempt.at_ms)) }
            dt { "Took" } dd { (time::took(Duration::from_millis(attempt.latency_ms))) }
            @if let Some(error) = &attempt.error { dt { "Error" } dd { (text::sentence(error)) } }
        }
    }
}

/// The kind of failure, as the filter of deliveries names it, and in words.
pub(crate) fn class(of: AttemptFailure) -> Markup {
    let (kind, told) = match of {
        AttemptFailure::Dns => ("dns", "the host's name does not resolve"),
        AttemptFailure::Refused => ("refused", "the host refused the connection"),
        AttemptFailure::Tls => ("tls", "the connection could not be secured"),
        AttemptFailure::Timeout => ("timeout", "no answer in time"),
        AttemptFailure::Blocked => ("blocked", "the node may not reach the address"),
        AttemptFailure::Broken => ("broken", "the connection broke, or the answer is not HTTP"),
        AttemptFailure::Redirect => ("redirect", "redirects are not followed"),
        AttemptFailure::Status => ("status", "another status than 2xx"),
    };
    html! { span.class title=(told) { (kind) } }
}

/// The headers of both sides, and the beginning of the answer.
pub(crate) fn exchange(attempt: &Attempt) -> Markup {
    html! {
        @if let Some(kept) = &attempt.headers {
            (headers("Request headers", &kept.request))
            (headers("Response headers", &kept.response))
        }
        @if let Some(excerpt) = &attempt.response_excerpt { h3 { "Response" } (payload::block(html! { pre { (text::value(excerpt)) } })) }
    }
}

fn headers(title: &str, headers: &[(String, String)]) -> Markup {
    html! {
        @if !headers.is_empty() {
            h3 { (title) }
            (payload::block(html! { dl.facts { @for (name, value) in headers { dt { (text::visible(name)) } dd { code { (text::visible(value)) } } } } }))
        }
    }
}

/// The attempt as a command, if its headers are kept.
pub(crate) fn as_curl(attempt: &Attempt, url: &str, body: &str) -> Markup {
    html! {
        @if let Some(kept) = attempt.headers.as_ref().filter(|kept| !kept.request.is_empty()) {
            h3 { "As a command" }
            @if body.len() <= COPIED_BYTES_MAX {
                (payload::block(block(&curl(&kept.request, url, &format!("--data-raw {}", enquoted(body))))))
            } @else {
                (payload::block(block(&curl(&kept.request, url, "--data-binary @body.json"))))
                p.note { "The body has " (text::bytes(body.len())) ", which is more than is copied: save it as " code { "body.json" } ". " code { "headwater deliveries describe" } " with " code { "--json" } " has it in " code { "event" } "." }
            }
            p.note { "The signature is that of the attempt: a receiver that checks its time takes it for five minutes." }
        }
    }
}

/// The request for a shell: every part in quotes, and nothing in it that a terminal obeys.
fn curl(headers: &[(String, String)], url: &str, data: &str) -> String {
    let mut command = format!("curl {}", enquoted(url));
    for (name, value) in headers {
        let header = enquoted(&format!("{name}: {value}"));
        command.push_str(&format!(" \\\n  --header {header}"));
    }
    command.push_str(&format!(" \\\n  {data}"));
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_command_is_in_quotes() {
        let headers = [
            ("content-type".to_owned(), "application/json".to_owned()),
            ("x-channel".to_owned(), "it's; rm -r /".to_owned()),
        ];
        let shown = curl(
            &headers,
            "https://a.example/?b=$(c)",
            &format!("--data-raw {}", enquoted("{\"a\": \"\u{202e}\n\"}")),
        );
        let expected = r#"curl 'https://a.example/?b=$(c)' \
  --header 'content-type: application/json' \
  --header 'x-channel: it'\''s; rm -r /' \
  --data-raw $'{"a": "\u202e\u000a"}'"#;
        assert_eq!(shown, expected);
    }
}
