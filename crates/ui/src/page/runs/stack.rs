//! The places of a stack in a component's own code, each with the lines around it.

use maud::{Markup, html};

use crate::part::{excerpt, payload, text};

/// The file of a component's own code, as stacks name it without its ending.
const OWN_FILE: &str = "component.";
/// Places that are shown: the innermost ones.
const PLACES_MAX: usize = 3;
/// Lines that are shown above and below a place.
const AROUND: usize = 3;

/// The code at the places that a stack names.
pub(super) fn code(stack: &str, code: &str) -> Markup {
    let shown = places(stack).into_iter().take(PLACES_MAX);
    let shown = shown.filter_map(|(line, column)| {
        let excerpt = excerpt::around(code, (line, column), AROUND);
        (!excerpt.is_empty()).then_some(((line, column), excerpt))
    });
    html! {
        @for ((line, column), excerpt) in shown {
            div {
                p.note { "Line " (line) ", column " (column) " of the component" }
                (payload::block(html! { pre tabindex="0" { (text::value(&excerpt)) } }))
            }
        }
    }
}

/// Lines and columns in the component's own file, from 1, the innermost first and each once.
fn places(stack: &str) -> Vec<(usize, usize)> {
    let mut places = Vec::new();
    let frames = stack.lines().map(str::trim);
    for frame in frames.filter(|line| line.starts_with("at ")) {
        let Some(place) = place(frame) else {
            continue;
        };
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// The place that a frame such as `at run (component.mjs:3:11)` names.
fn place(frame: &str) -> Option<(usize, usize)> {
    let (_, file) = frame.rsplit_once(['(', '/', ' '])?;
    let rest = file.trim_end_matches(')').strip_prefix(OWN_FILE)?;
    let mut parts = rest.split(':').skip(1);
    let line = parts.next()?.parse().ok()?;
    let column = parts.next()?.parse().ok()?;
    parts.next().is_none().then_some((line, column))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_the_components_own_file_are_found() {
        let stack = "Error: at (component.mjs:9:9)\n    at check (component.mjs:2:9)\n    at Object.run (file:///code/component.ts:1:5)\n    \
                     at check (component.mjs:2:9)\n    at other (npm/index.js:7:1)\n    at component.mjs:3:1\n    at x (component.mjs:3)";
        assert_eq!(places(stack), [(2, 9), (1, 5), (3, 1)]);
    }

    #[test]
    fn a_place_behind_the_code_shows_nothing() {
        let html = code(
            "at run (component.mjs:2:3)\nat run (component.mjs:80:1)",
            "a\n<b>\nc",
        );
        let html = html.into_string();
        assert!(
            html.contains("&lt;b&gt;") && html.contains("Line 2, column 3"),
            "{html}"
        );
        assert_eq!(html.matches("<pre").count(), 1, "{html}");
    }
}
