//! The log of a run, under way or not.

use headwater_platform::LogLine;
use maud::{Markup, html};

use crate::{
    page::sources::logs,
    part::{payload, text, time},
};

/// Lines that a run has logged, oldest first.
pub(super) fn lines<'a>(lines: impl Iterator<Item = &'a LogLine>) -> Markup {
    html! {
        div.log tabindex="0" role="region" aria-label="Log of the run" {
            ol { @for line in lines {
                @let (word, class) = logs::level(line.level);
                li class=(class) { (time::exact(line.ts)) span { (word) } span { (payload::inline(text::value(&line.message))) } }
            } }
        }
    }
}
