//! Text for a terminal of some width: lines are broken between words, and words stay whole. Everything else than a terminal
//! gets lines as they are (`output`).

const CUT: &str = "…";

/// A message of whole sentences. Indented lines, such as those of code, stay as they are; a long one with a mark below it is
/// cut around the mark, which would be below something else if the terminal broke the line.
pub(crate) fn message(text: &str, width: usize) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let shown = lines.iter().enumerate().map(|(at, line)| {
        let above = at.checked_sub(1).and_then(|above| lines.get(above));
        match lines.get(at + 1).filter(|below| is_mark(below)) {
            Some(mark) => cut(line, mark, width),
            None if is_mark(line) && above.is_some_and(|above| is_long(above, width)) => {
                part(line, start(line, width), width)
            }
            None if line.starts_with([' ', '\t']) => (*line).to_owned(),
            None => wrapped(line, "", width),
        }
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// Whether a line marks a place in the one above it.
fn is_mark(line: &str) -> bool {
    let mark = line.trim();
    !mark.is_empty() && mark.chars().all(|char| matches!(char, '^' | '~'))
}

fn is_long(line: &str, width: usize) -> bool {
    line.chars().nth(width).is_some()
}

/// A line of code, cut around the mark if it is longer than the terminal is wide.
fn cut(line: &str, mark: &str, width: usize) -> String {
    if !is_long(line, width) {
        return line.to_owned();
    }
    let start = start(mark, width);
    let mut shown = part(line, start, width);
    if let Some(first) = shown.chars().next().filter(|_| start > 0) {
        shown.replace_range(..first.len_utf8(), CUT);
    }
    if is_long(line, start + width) {
        shown.pop();
        shown.push_str(CUT);
    }
    shown
}

/// The first character to show: the mark is on the first line of the terminal, and some code before it.
fn start(mark: &str, width: usize) -> usize {
    let column = mark.chars().take_while(|char| *char == ' ').count();
    match column < width.saturating_sub(width / 4) {
        true => 0,
        false => column - width / 3,
    }
}

fn part(line: &str, start: usize, width: usize) -> String {
    line.chars().skip(start).take(width).collect()
}

/// A report of paragraphs and lists: a line goes on below its own beginning, an item of a list behind its dash.
pub(crate) fn report(text: &str, width: usize) -> String {
    each_line(text, |line| {
        let text = line.trim_start_matches(' ');
        let mut indentation = " ".repeat(line.len() - text.len());
        if text.starts_with("- ") {
            indentation += "  ";
        }
        wrapped(line, &indentation, width)
    })
}

/// Text whose lines are broken between words, and go on at the same place.
pub(crate) fn paragraphs(text: &str, width: usize) -> String {
    each_line(text, |line| wrapped(line, "", width))
}

fn each_line(text: &str, wrapped: impl Fn(&str) -> String) -> String {
    text.split('\n').map(wrapped).collect::<Vec<_>>().join("\n")
}

/// The columns that a word takes: the sequences that paint it take none.
fn columns(word: &str) -> usize {
    let mut parts = word.split('\u{1b}');
    let first = parts.next().unwrap_or_default();
    let rest = parts.map(|part| part.split_once('m').map_or(part, |(_, text)| text));
    let parts = std::iter::once(first).chain(rest);
    parts.map(|part| part.chars().count()).sum()
}

/// A line with breaks, behind each of which the indentation stands.
fn wrapped(line: &str, indentation: &str, width: usize) -> String {
    let mut text = String::new();
    let mut room = width;
    let mut is_behind_word = false;
    for (at, word) in line.split(' ').enumerate() {
        let length = columns(word);
        if at > 0 && (length < room || !is_behind_word) {
            text.push(' ');
            room = room.saturating_sub(1);
        } else if at > 0 {
            text.push('\n');
            text.push_str(indentation);
            room = width.saturating_sub(indentation.len());
        }
        text.push_str(word);
        room = room.saturating_sub(length);
        is_behind_word |= !word.is_empty();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole_and_code_stays_as_it_is() {
        let text = "error: the feed is at https://example.com/feed.xml\n    at run (a.mjs:1:1)";
        assert_eq!(
            message(text, 16),
            "error: the feed\nis at\nhttps://example.com/feed.xml\n    at run (a.mjs:1:1)"
        );
        assert_eq!(message("a b", 80), "a b");
        let painted = "at \u{1b}[31merror\u{1b}[0m it";
        assert_eq!(message(painted, 11), painted);
    }

    #[test]
    fn a_long_line_is_cut_around_the_mark_below_it() {
        let code = "  const one = 1; const two = ; const three = 3;";
        let mark = "                             ~";
        let shown = message(
            &format!("Expression expected\n\n{code}\n{mark}\n    at a.mjs:1:28"),
            30,
        );
        let lines: Vec<_> = shown.lines().collect();
        assert_eq!(lines[2], "…st two = ; const three = 3;");
        assert_eq!(lines[3], "          ~");
        let fits = format!("{code}\n{mark}");
        assert_eq!(message(&fits, 80), fits);
        let near = "  ~";
        assert_eq!(
            message(&format!("{code}\n{near}"), 20),
            format!("  const one = 1; co…\n{near}")
        );
    }

    #[test]
    fn an_item_goes_on_behind_its_dash_and_a_line_below_its_beginning() {
        let text = "To do:\n- connect the account\n    one two three\n\nend";
        assert_eq!(
            report(text, 12),
            "To do:\n- connect\n  the\n  account\n    one two\n    three\n\nend"
        );
    }
}
