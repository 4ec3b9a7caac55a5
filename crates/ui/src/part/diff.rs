//! The difference between two texts, line by line. Bounded: beyond so many changes the whole middle counts as replaced.

use std::collections::{HashMap, hash_map::Entry};

use maud::{Markup, html};

use super::text::{counted, cut, visible};

/// Changed lines up to which the shortest difference is looked for.
const CHANGES: usize = 500;
/// Lines of a text up to which it is looked for.
const LINES: usize = 20_000;
/// Unchanged lines that are shown around a change.
const CONTEXT: usize = 3;
/// Lines of a difference that are shown.
const SHOWN: usize = 2_000;
/// Characters of a line that are shown.
const CHARS: usize = 400;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Both,
    Old,
    New,
}

/// A line, and the texts that have it.
type Edit<'a> = (Side, &'a str);

/// The lines that lead from the old text to the new one, with a few around them; `None` if the texts are the same.
pub(crate) fn diff(old: &str, new: &str) -> Option<Markup> {
    if old == new {
        return None;
    }
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let edits = edits(&old, &new);
    let count = |side| edits.iter().filter(|edit| edit.0 == side).count() as u64;
    let rows = rows(&edits);
    Some(html! {
        p.note {
            (counted(count(Side::New), "line", "lines")) " added, "
            (counted(count(Side::Old), "line", "lines")) " removed."
            @if rows.len() > SHOWN { " The first " (SHOWN) " lines of the difference are shown." }
        }
        pre.diff tabindex="0" {
            @for row in rows.iter().take(SHOWN) {
                @match row {
                    Row::Gap(lines) => span.gap { "… " (counted(*lines as u64, "line", "lines")) " alike\n" },
                    Row::Line((Side::Both, text)) => span { "  " (shown(text)) "\n" },
                    Row::Line((Side::Old, text)) => del { "- " (shown(text)) "\n" },
                    Row::Line((Side::New, text)) => ins { "+ " (shown(text)) "\n" },
                }
            }
        }
    })
}

fn shown(text: &str) -> String {
    let (start, is_cut) = cut(text, CHARS);
    let mut shown = visible(start);
    if is_cut {
        shown.push('…');
    }
    shown
}

enum Row<'a> {
    /// So many unchanged lines are left out.
    Gap(usize),
    Line(Edit<'a>),
}

/// The changed lines and those around them.
fn rows<'a>(edits: &[Edit<'a>]) -> Vec<Row<'a>> {
    let mut is_near = vec![false; edits.len()];
    for (at, _) in edits
        .iter()
        .enumerate()
        .filter(|(_, edit)| edit.0 != Side::Both)
    {
        let end = (at + CONTEXT + 1).min(edits.len());
        is_near[at.saturating_sub(CONTEXT)..end].fill(true);
    }
    let mut rows = Vec::new();
    for (edit, is_near) in edits.iter().zip(is_near) {
        match (is_near, rows.last_mut()) {
            (true, _) => rows.push(Row::Line(*edit)),
            (false, Some(Row::Gap(lines))) => *lines += 1,
            (false, _) => rows.push(Row::Gap(1)),
        }
    }
    rows
}

fn edits<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Edit<'a>> {
    let pairs = |from_end: bool| {
        let (old, new) = (old.iter(), new.iter());
        match from_end {
            false => old.zip(new).take_while(|(old, new)| old == new).count(),
            true => {
                let pairs = old.rev().zip(new.rev());
                pairs.take_while(|(old, new)| old == new).count()
            }
        }
    };
    let start = pairs(false);
    let end = pairs(true).min(old.len().min(new.len()) - start);
    let (old_middle, new_middle) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    let both = |lines: &[&'a str]| -> Vec<Edit<'a>> {
        lines.iter().map(|line| (Side::Both, *line)).collect()
    };
    let mut edits = both(&old[..start]);
    edits.extend(shortest(old_middle, new_middle).unwrap_or_else(|| {
        let gone = old_middle.iter().map(|line| (Side::Old, *line));
        gone.chain(new_middle.iter().map(|line| (Side::New, *line)))
            .collect()
    }));
    edits.extend(both(&old[old.len() - end..]));
    edits
}

/// The shortest difference (Myers: An O(ND) difference algorithm), if it has at most [`CHANGES`] changes.
fn shortest<'a>(old: &[&'a str], new: &[&'a str]) -> Option<Vec<Edit<'a>>> {
    if old.len().max(new.len()) > LINES {
        return None;
    }
    let mut numbers = HashMap::new();
    let mut numbered = |lines: &[&'a str]| -> Vec<usize> {
        let number = |line: &&'a str| {
            let next = numbers.len();
            match numbers.entry(*line) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => *new.insert(next),
            }
        };
        lines.iter().map(number).collect()
    };
    let (a, b) = (numbered(old), numbered(new));
    // For each diagonal (position in `old` less position in `new`, from `-CHANGES - 1` on), the furthest position in `old`.
    let mut furthest = vec![0_usize; 2 * CHANGES + 3];
    let mut rounds: Vec<Vec<usize>> = Vec::new();
    for changes in 0..=CHANGES {
        let low = CHANGES + 1 - changes;
        rounds.push(furthest[low - 1..=low + 2 * changes + 1].to_vec());
        for diagonal in (low..=low + 2 * changes).step_by(2) {
            let mut x = from(&furthest, diagonal, low, changes).1;
            // Never below zero: a diagonal has no position before its first.
            let mut y = x + CHANGES + 1 - diagonal;
            while x < a.len() && y < b.len() && a[x] == b[y] {
                (x, y) = (x + 1, y + 1);
            }
            furthest[diagonal] = x;
            if x >= a.len() && y >= b.len() {
                return Some(walked_back(&rounds, (old, new)));
            }
        }
    }
    None
}

/// The diagonal from which a change leads to this one, and the position in `old` behind it.
fn from(furthest: &[usize], diagonal: usize, low: usize, changes: usize) -> (usize, usize) {
    let (below, above) = (furthest[diagonal - 1], furthest[diagonal + 1]);
    let is_added = diagonal == low || (diagonal != low + 2 * changes && below < above);
    match is_added {
        true => (diagonal + 1, above),
        false => (diagonal - 1, below + 1),
    }
}

/// The changes in their order, found from the end.
fn walked_back<'a>(rounds: &[Vec<usize>], (old, new): (&[&'a str], &[&'a str])) -> Vec<Edit<'a>> {
    let (mut x, mut y) = (old.len(), new.len());
    let mut edits = Vec::new();
    for (changes, furthest) in rounds.iter().enumerate().rev() {
        // The round's part of the diagonals begins one below its lowest.
        let diagonal = x + changes + 1 - y;
        let (former, start) = from(furthest, diagonal, 1, changes);
        let same = x - start.min(x);
        edits.extend(
            old[x - same..x]
                .iter()
                .rev()
                .map(|line| (Side::Both, *line)),
        );
        (x, y) = (x - same, y - same);
        if changes > 0 {
            match former > diagonal {
                true => {
                    y -= 1;
                    edits.push((Side::New, new[y]));
                }
                false => {
                    x -= 1;
                    edits.push((Side::Old, old[x]));
                }
            }
        }
    }
    edits.reverse();
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(old: &[&str], new: &[&str]) -> String {
        let line = |(side, text): Edit<'_>| match side {
            Side::Both => format!(" {text}"),
            Side::Old => format!("-{text}"),
            Side::New => format!("+{text}"),
        };
        let lines: Vec<_> = edits(old, new).into_iter().map(line).collect();
        lines.join("")
    }

    fn split(text: &str) -> Vec<&str> {
        text.split_terminator(' ').collect()
    }

    #[test]
    fn the_difference_is_the_shortest() {
        for (old, new, expected) in [
            ("", "", ""),
            ("a", "a", " a"),
            ("", "a b", "+a+b"),
            ("a b", "", "-a-b"),
            ("a b c", "a x c", " a-b+x c"),
            ("a b c", "b c d", "-a b c+d"),
            ("a a", "a a a", " a a+a"),
            ("a b c a b b a", "c b a b a c", "-a-b c+b a b-b a+c"),
        ] {
            assert_eq!(told(&split(old), &split(new)), expected, "{old} -> {new}");
        }
    }

    #[test]
    fn every_difference_leads_from_one_text_to_the_other() {
        // All pairs of texts of up to five lines, each one of two.
        let texts: Vec<Vec<&str>> = (0..6_u32)
            .flat_map(|length| {
                (0..1_u32 << length).map(move |bits| {
                    let line = move |at: u32| if bits >> at & 1 == 1 { "a" } else { "b" };
                    (0..length).map(line).collect()
                })
            })
            .collect();
        for (old, new) in texts
            .iter()
            .flat_map(|old| texts.iter().map(move |new| (old, new)))
        {
            let found = edits(old, new);
            let having = |side: Side| -> Vec<&str> {
                let with = found
                    .iter()
                    .filter(|edit| edit.0 == Side::Both || edit.0 == side);
                with.map(|edit| edit.1).collect()
            };
            assert_eq!((&having(Side::Old), &having(Side::New)), (old, new));
        }
    }

    #[test]
    fn too_many_changes_replace_everything_between_what_is_alike() {
        let of = |word: &str| -> Vec<String> {
            (0..CHANGES)
                .map(|number| format!("{word}{number}"))
                .collect()
        };
        let (old, new) = (of("old"), of("new"));
        let whole = |lines: &[String]| format!("first\n{}\nlast", lines.join("\n"));
        let (old, new) = (whole(&old), whole(&new));
        let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
        let found = edits(&old, &new);
        assert_eq!(found.len(), 2 * CHANGES + 2);
        assert_eq!(found[0], (Side::Both, "first"));
        assert!(found[1..=CHANGES].iter().all(|edit| edit.0 == Side::Old));
        assert_eq!(found[2 * CHANGES + 1], (Side::Both, "last"));
    }

    #[test]
    fn lines_far_from_a_change_are_left_out() {
        let old: String = (0..20).map(|number| format!("{number}\n")).collect();
        let new = old.replace("10\n", "ten <b>\n");
        let shown = diff(&old, &new).unwrap().into_string();
        assert!(
            shown.contains("<del>- 10\n</del><ins>+ ten &lt;b&gt;\n</ins>"),
            "{shown}"
        );
        assert!(
            shown.contains("… 7 lines alike") && shown.contains("… 6 lines alike"),
            "{shown}"
        );
        assert!(shown.contains("1 line added, 1 line removed"), "{shown}");
        assert!(
            !shown.contains("  6\n") && shown.contains("  7\n"),
            "{shown}"
        );
        assert!(diff(&old, &old).is_none());
    }
}
