//! Excerpts of code around a place in it. Lines may be very long, as minified code has them, and are then cut around the
//! column, all in the same way, so that a mark stays below what it marks.

/// Characters of a line that are shown.
const SHOWN: usize = 120;
/// Of those, the ones before the column where the beginning is cut.
const BEFORE: usize = 24;
/// The last column whose line is shown from its beginning.
const NEAR: usize = SHOWN - BEFORE / 2;
const CUT: &str = "…";

/// The characters of each line that an excerpt shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Window {
    start: usize,
    end: usize,
}

impl Window {
    /// The window over these lines around a column, from 1: all of them, if none is long.
    fn around<'a>(column: usize, lines: impl IntoIterator<Item = &'a str>) -> Self {
        let mut lines = lines.into_iter();
        let is_long = lines.any(|line| line.chars().nth(SHOWN).is_some());
        if !is_long {
            return Self {
                start: 0,
                end: usize::MAX,
            };
        }
        let start = match column {
            0..=NEAR => 0,
            far => far - BEFORE,
        };
        Self {
            start,
            end: start + SHOWN,
        }
    }

    /// The part of a line, with marks where it is cut.
    fn of(&self, line: &str) -> String {
        let mut shown = self.mark(line);
        if let Some(first) = shown.chars().next().filter(|_| self.start > 0) {
            shown.replace_range(..first.len_utf8(), CUT);
        }
        if line.chars().nth(self.end).is_some() {
            shown.pop();
            shown.push_str(CUT);
        }
        shown
    }

    /// The part of a line that marks a place in another one.
    fn mark(&self, line: &str) -> String {
        let length = self.end - self.start;
        line.chars().skip(self.start).take(length).collect()
    }
}

/// The lines around a place in code, from 1, with their numbers and a mark below its column.
pub(crate) fn around(code: &str, (line, column): (usize, usize), lines_around: usize) -> String {
    let first = line.saturating_sub(lines_around).max(1);
    let last = line.saturating_add(lines_around);
    let width = last.to_string().len();
    let lines = code.lines().enumerate().map(|(at, line)| (at + 1, line));
    let shown: Vec<_> = lines
        .skip(first - 1)
        .take_while(|(number, _)| *number <= last)
        .collect();
    let window = Window::around(column, shown.iter().map(|(_, line)| *line));
    let mut excerpt = Vec::new();
    for (number, text) in shown {
        excerpt.push(format!("{number:width$} | {}", window.of(text)));
        if number == line {
            // Tabs stay, so that the mark is below its character.
            let before = text.chars().take(column.saturating_sub(1));
            let before: String = before
                .map(|char| if char == '\t' { '\t' } else { ' ' })
                .collect();
            let mark = window.mark(&format!("{before}^"));
            excerpt.push(format!("{:width$} | {mark}", ""));
        }
    }
    excerpt.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_shown_with_the_lines_around_it() {
        let code = "one\n\ttwo\nthree\nfour";
        assert_eq!(
            around(code, (2, 3), 1),
            "1 | one\n2 | \ttwo\n  | \t ^\n3 | three"
        );
        assert_eq!(around(code, (9, 1), 1), "");
    }

    #[test]
    fn short_lines_are_whole() {
        let window = Window::around(3, ["ab cd", ""]);
        assert_eq!(window.of("ab cd"), "ab cd");
        assert_eq!(window.mark("  ^"), "  ^");
    }

    #[test]
    fn long_lines_are_cut_around_the_column_and_the_mark_with_them() {
        let line = format!("{}X{}", "é".repeat(9_999), "b".repeat(5_000));
        let window = Window::around(10_000, [line.as_str()]);
        let shown = window.of(&line);
        assert_eq!(shown.chars().count(), SHOWN);
        assert!(shown.starts_with("…é") && shown.ends_with("b…"), "{shown}");
        let mark = window.mark(&format!("{}^", " ".repeat(9_999)));
        let at = mark.chars().position(|char| char == '^').unwrap();
        assert_eq!(shown.chars().nth(at), Some('X'));
        assert_eq!(window.of("short"), "");
    }

    #[test]
    fn the_beginning_of_a_long_line_is_cut_at_its_end_alone() {
        let line = "a".repeat(500);
        let shown = Window::around(5, [line.as_str()]).of(&line);
        assert_eq!(shown, format!("{}…", "a".repeat(SHOWN - 1)));
    }
}
