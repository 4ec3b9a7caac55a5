//! The course of a run over time: a row for each step with its tries and waits as bars. A table: the bars repeat what its
//! other cells say.

use headwater_model::time::EpochMs;
use maud::{Markup, html};

use super::text;

/// Bars narrower than this have no number in them, in percent of the whole.
const NUMBERED_FROM: f64 = 4.0;
/// The narrowest bar, in percent.
const NARROWEST: f64 = 0.3;

/// The kind of a bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BarKind {
    /// Something ran.
    Ran,
    /// It ran, and failed.
    Failed,
    /// Something was waited for.
    Waited,
    /// The run had not begun.
    Queued,
}

/// A span of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bar {
    pub(crate) kind: BarKind,
    pub(crate) from_ms: EpochMs,
    pub(crate) to_ms: EpochMs,
    /// The number of the try, if there are several.
    pub(crate) number: Option<u32>,
    pub(crate) title: String,
}

/// The time that a waterfall shows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) from_ms: EpochMs,
    pub(crate) to_ms: EpochMs,
}

/// The pattern of waits, once for a page.
pub(crate) fn patterns() -> Markup {
    html! {
        svg.patterns width="0" height="0" aria-hidden="true" focusable="false" {
            defs {
                pattern #hatch width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                    rect.ground width="6" height="6" {}
                    rect.stripe width="2.5" height="6" {}
                }
            }
        }
    }
}

impl Span {
    /// The bars of one row.
    pub(crate) fn row(self, bars: &[Bar]) -> Markup {
        html! {
            svg.waterfall width="100%" height="20" aria-hidden="true" focusable="false" {
                rect.track x="0" y="9" width="100%" height="2" {}
                @for bar in bars {
                    @let (left, width) = self.place(bar);
                    g {
                        title { (text::visible(&bar.title)) }
                        rect class=(class(bar.kind)) x=(percent(left)) y="2" width=(percent(width)) height="16" rx="2"
                            fill=[(bar.kind == BarKind::Waited).then_some("url(#hatch)")] {}
                        @if let Some(number) = bar.number && width >= NUMBERED_FROM {
                            text x=(percent(left)) y="14" dx="4" { (number) }
                        }
                    }
                }
            }
        }
    }

    /// Left edge and width of a bar, in percent.
    fn place(self, bar: &Bar) -> (f64, f64) {
        let whole = self.to_ms.since(self.from_ms).as_millis().max(1) as f64;
        let at = |moment: EpochMs| {
            let passed = moment.since(self.from_ms).as_millis() as f64;
            (passed / whole * 100.0).clamp(0.0, 100.0)
        };
        let (left, right) = (at(bar.from_ms), at(bar.to_ms));
        let width = (right - left).max(NARROWEST);
        (left.min(100.0 - width), width)
    }
}

fn percent(value: f64) -> String {
    format!("{value:.2}%")
}

fn class(kind: BarKind) -> &'static str {
    match kind {
        BarKind::Ran => "bar",
        BarKind::Failed => "bar failed",
        BarKind::Waited => "bar waited",
        BarKind::Queued => "bar queued",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(from_ms: u64, to_ms: u64) -> Bar {
        Bar {
            kind: BarKind::Ran,
            from_ms: EpochMs(from_ms),
            to_ms: EpochMs(to_ms),
            number: Some(2),
            title: "<b>".to_owned(),
        }
    }

    const SPAN: Span = Span {
        from_ms: EpochMs(1_000),
        to_ms: EpochMs(2_000),
    };

    #[test]
    fn bars_are_in_proportion_and_never_invisible() {
        assert_eq!(SPAN.place(&bar(1_250, 1_750)), (25.0, 50.0));
        assert_eq!(SPAN.place(&bar(2_000, 2_000)), (99.7, NARROWEST));
        assert_eq!(SPAN.place(&bar(0, 9_000)), (0.0, 100.0));
        let none = Span {
            from_ms: EpochMs(1),
            to_ms: EpochMs(1),
        };
        assert_eq!(none.place(&bar(1, 1)), (0.0, NARROWEST));
    }

    #[test]
    fn wide_bars_have_the_number_of_their_try() {
        let wide = SPAN.row(&[bar(1_000, 1_500)]).into_string();
        assert!(
            wide.contains(">2</text>") && wide.contains("&lt;b&gt;"),
            "{wide}"
        );
        let narrow = SPAN.row(&[bar(1_000, 1_001)]).into_string();
        assert!(!narrow.contains("<text"), "{narrow}");
        assert!(!wide.contains("style="), "{wide}");
    }
}
