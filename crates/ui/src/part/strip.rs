//! The last hours as bars: what went well and what went wrong, each bar a link, and a table that says the same.

use headwater_model::time::EpochMs;
use maud::{Markup, html};

use super::{
    text::{counted, grouped},
    time,
};

/// The height of the drawing; the highest bar fills it.
const HEIGHT: f64 = 40.0;
/// The lowest part of a bar.
const LOWEST: f64 = 1.5;

/// Every so many hours have their time below.
const LABELLED: u64 = 6;

/// An hour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hour {
    pub(crate) since_ms: EpochMs,
    pub(crate) good: u64,
    pub(crate) bad: u64,
    /// The address of the runs of the hour.
    pub(crate) href: String,
}

impl Hour {
    /// The hour in words, for those who do not see its bar.
    fn told(&self) -> String {
        let runs = counted(self.good + self.bad, "run", "runs");
        format!("{} UTC: {runs}, {} failed", self.span(), grouped(self.bad))
    }

    fn span(&self) -> String {
        let hour = std::time::Duration::from_hours(1);
        format!(
            "{}–{}",
            time::clock(self.since_ms),
            time::clock(self.since_ms + hour)
        )
    }
}

/// The hours, oldest first.
pub(crate) fn strip(hours: &[Hour]) -> Markup {
    let sum = |of: fn(&Hour) -> u64| hours.iter().map(of).sum::<u64>();
    let (good, bad) = (sum(|hour| hour.good), sum(|hour| hour.bad));
    let most = hours.iter().map(|hour| hour.good + hour.bad).max();
    let most = most.unwrap_or_default().max(1) as f64;
    html! {
        section.hours aria-labelledby="hours" {
            header {
                h2 #hours { "The last 24 hours" }
                p.legend {
                    span { (swatch("ok")) (grouped(good)) " ok" } " "
                    span { (swatch("failed")) (grouped(bad)) " failed" } " "
                    span { "times in UTC" }
                }
            }
            ol {
                @for hour in hours {
                    li {
                        a href=(hour.href) title=(hour.told()) aria-label=(hour.told()) { (bar(hour, most)) }
                        span.at aria-hidden="true" { @if hour.since_ms.hour().is_multiple_of(LABELLED) { (hour.since_ms.hour() % 24) " h" } }
                    }
                }
            }
            details {
                summary { "As a table" }
                table.list {
                    thead { tr { th scope="col" { "Hour (UTC)" } th.number scope="col" { "Ok" } th.number scope="col" { "Failed" } } }
                    tbody {
                        @for hour in hours.iter().rev() {
                            tr {
                                th scope="row" { a href=(hour.href) { (hour.span()) } }
                                td.number data-label="Ok" { (grouped(hour.good)) }
                                td.number data-label="Failed" { (grouped(hour.bad)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn swatch(class: &str) -> Markup {
    html! { svg.swatch viewBox="0 0 10 10" aria-hidden="true" focusable="false" { rect class=(class) width="10" height="10" rx="2" {} } }
}

/// The bar of an hour: failures on top.
fn bar(hour: &Hour, most: f64) -> Markup {
    let height = |count: u64| match count {
        0 => 0.0,
        count => (count as f64 / most * (HEIGHT - LOWEST)).max(LOWEST),
    };
    let (good, bad) = (height(hour.good), height(hour.bad));
    let at = |height: f64| format!("{height:.2}");
    html! {
        svg.strip viewBox={ "0 0 10 " (HEIGHT) } preserveAspectRatio="none" aria-hidden="true" focusable="false" {
            rect.ground y=(HEIGHT - 0.5) width="10" height="0.5" {}
            @if good > 0.0 { rect.ok x="1" y=(at(HEIGHT - good)) width="8" height=(at(good)) {} }
            @if bad > 0.0 { rect.failed x="1" y=(at((HEIGHT - good - bad).max(0.0))) width="8" height=(at(bad)) {} }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hour(number: u64, good: u64, bad: u64) -> Hour {
        Hour {
            since_ms: EpochMs(number * 3_600_000),
            good,
            bad,
            href: format!("/runs?since={number}&x=<b>"),
        }
    }

    #[test]
    fn bars_are_in_proportion_and_failures_are_on_top() {
        let shown = strip(&[hour(0, 30, 10), hour(23, 0, 0), hour(24, 1, 0)]).into_string();
        assert!(shown.contains(r#"<rect class="ok" x="1" y="11.12" width="8" height="28.88">"#));
        assert!(shown.contains(r#"<rect class="failed" x="1" y="1.50" width="8" height="9.62">"#));
        assert!(shown.contains("00:00–01:00 UTC: 40 runs, 10 failed"));
        assert!(shown.contains("23:00–00:00 UTC: 0 runs, 0 failed"));
        assert!(shown.contains("UTC: 1 run, 0 failed"));
        assert_eq!(shown.matches(r#"class="ok" x="#).count(), 2, "{shown}");
        assert!(
            !shown.contains("<b>") && !shown.contains("style="),
            "{shown}"
        );
    }

    #[test]
    fn the_legend_and_the_table_say_the_same() {
        let shown = strip(&[hour(1, 2_000, 3), hour(2, 5, 0)]).into_string();
        assert!(
            shown.contains("2,005 ok") && shown.contains("3 failed"),
            "{shown}"
        );
        assert!(shown.contains(r#"data-label="Ok">2,000</td>"#), "{shown}");
    }
}
