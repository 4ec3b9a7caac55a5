//! A drawing of what follows what: boxes from top to bottom, branches beside each other.

use maud::{Markup, html};

use super::text::{cut, visible};

const BOX_WIDTH: u32 = 148;
const BOX_HEIGHT: u32 = 32;
const GAP: u32 = 18;
const MARGIN: u32 = 8;
/// Characters of a name that a box shows.
const NAME_CHARS: usize = 18;
/// Boxes of one drawing.
const BOXES_MAX: usize = 200;

/// A step or block to draw.
#[derive(Debug, Clone, Default)]
pub(crate) struct Drawn {
    pub(crate) name: String,
    /// Whether it has steps in it, or decides something.
    pub(crate) is_block: bool,
    /// The names of its branches, each with what is in it.
    pub(crate) branches: Vec<(String, Vec<Drawn>)>,
}

/// Where the drawing of something goes.
#[derive(Debug, Clone, Copy)]
struct At {
    /// The middle.
    x: u32,
    y: u32,
}

/// The drawing; nothing if there is too much for one.
pub(crate) fn graph(steps: &[Drawn]) -> Option<Markup> {
    if steps.is_empty() || count(steps) > BOXES_MAX {
        return None;
    }
    let width = width_of(steps) + 2 * MARGIN;
    let height = height_of(steps) + 2 * MARGIN;
    let at = At {
        x: width / 2,
        y: MARGIN,
    };
    Some(html! {
        div.graph tabindex="0" role="region" aria-label="Drawing of the steps" {
            svg role="img" aria-label="The steps as a drawing; the list below says the same" width=(width) height=(height)
                viewBox={ "0 0 " (width) " " (height) } { (sequence(steps, at)) }
        }
    })
}

fn count(steps: &[Drawn]) -> usize {
    let inner = steps.iter().flat_map(|step| &step.branches);
    steps.len() + inner.map(|(_, steps)| count(steps)).sum::<usize>()
}

fn width_of(steps: &[Drawn]) -> u32 {
    let widths = steps.iter().map(|step| {
        let branches = step.branches.iter().map(|(_, steps)| width_of(steps));
        let gaps = GAP * (step.branches.len().saturating_sub(1) as u32);
        (branches.sum::<u32>() + gaps).max(BOX_WIDTH)
    });
    widths.max().unwrap_or(BOX_WIDTH)
}

fn height_of(steps: &[Drawn]) -> u32 {
    let heights = steps.iter().map(step_height);
    heights.sum::<u32>() + GAP * (steps.len().saturating_sub(1) as u32)
}

/// The box, below it the names of its branches with what is in them, and where these come together.
fn step_height(step: &Drawn) -> u32 {
    let inner = step.branches.iter().map(|(_, steps)| height_of(steps));
    match inner.max() {
        Some(inner) => BOX_HEIGHT + 3 * GAP + inner,
        None => BOX_HEIGHT,
    }
}

fn sequence(steps: &[Drawn], at: At) -> Markup {
    let mut y = at.y;
    let mut parts = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        if number > 0 {
            parts.push(line(
                At {
                    x: at.x,
                    y: y - GAP,
                },
                At { x: at.x, y },
            ));
        }
        parts.push(drawn(step, At { x: at.x, y }));
        y += step_height(step) + GAP;
    }
    html! { @for part in &parts { (part) } }
}

fn drawn(step: &Drawn, at: At) -> Markup {
    let below = At {
        x: at.x,
        y: at.y + BOX_HEIGHT,
    };
    let widths: Vec<u32> = step
        .branches
        .iter()
        .map(|(_, steps)| width_of(steps))
        .collect();
    let whole = widths.iter().sum::<u32>() + GAP * (widths.len().saturating_sub(1) as u32);
    let end = At {
        x: at.x,
        y: at.y + step_height(step),
    };
    let mut left = (at.x * 2).saturating_sub(whole) / 2;
    let mut parts = Vec::new();
    for ((name, steps), width) in step.branches.iter().zip(&widths) {
        let top = At {
            x: left + width / 2,
            y: below.y + 2 * GAP,
        };
        let last = At {
            x: top.x,
            y: match steps.is_empty() {
                true => below.y + GAP + MARGIN,
                false => top.y + height_of(steps),
            },
        };
        parts.push(html! {
            (line(below, At { x: top.x, y: below.y + GAP / 2 }))
            text.branch x=(top.x) y=(below.y + GAP + 6) text-anchor="middle" { (shown(name)) }
            (sequence(steps, top))
            (line(last, end))
        });
        left += width + GAP;
    }
    html! {
        rect class=(if step.is_block { "block" } else { "step" }) x=(at.x - BOX_WIDTH / 2) y=(at.y)
            width=(BOX_WIDTH) height=(BOX_HEIGHT) rx="5" {}
        text x=(at.x) y=(at.y + 20) text-anchor="middle" { (shown(&step.name)) }
        @for part in &parts { (part) }
    }
}

fn line(from: At, to: At) -> Markup {
    html! { line x1=(from.x) y1=(from.y) x2=(to.x) y2=(to.y) {} }
}

fn shown(name: &str) -> String {
    let (shown, is_cut) = cut(name, NAME_CHARS);
    let shown = visible(shown);
    match is_cut {
        true => format!("{shown}…"),
        false => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(name: &str) -> Drawn {
        Drawn {
            name: name.to_owned(),
            ..Drawn::default()
        }
    }

    #[test]
    fn branches_stand_beside_each_other() {
        let branches = [("yes", vec![step("a"), step("b")]), ("no", Vec::new())];
        let block = Drawn {
            is_block: true,
            branches: branches
                .map(|(name, steps)| (name.to_owned(), steps))
                .to_vec(),
            ..step("route")
        };
        assert_eq!(width_of(std::slice::from_ref(&block)), 2 * BOX_WIDTH + GAP);
        assert_eq!(
            step_height(&block),
            BOX_HEIGHT + 3 * GAP + 2 * BOX_HEIGHT + GAP
        );
        let html = graph(&[block, step("<script>")]).unwrap().into_string();
        assert!(
            html.contains("&lt;script&gt;") && !html.contains("style="),
            "{html}"
        );
    }

    #[test]
    fn too_much_is_not_drawn() {
        assert!(graph(&vec![step("a"); BOXES_MAX + 1]).is_none());
        assert!(graph(&[]).is_none());
    }
}
