//! Text for a terminal of some width: lines are broken between words, and words stay whole. Everything else than a terminal
//! gets lines as they are (`output`).

/// A message of whole sentences. Indented lines, such as those of code, stay as they are.
pub(crate) fn message(text: &str, width: usize) -> String {
    each_line(text, |line| match line.starts_with([' ', '\t']) {
        true => line.to_owned(),
        false => wrapped(line, "", width),
    })
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

fn each_line(text: &str, wrapped: impl Fn(&str) -> String) -> String {
    text.split('\n').map(wrapped).collect::<Vec<_>>().join("\n")
}

/// A line with breaks, behind each of which the indentation stands.
fn wrapped(line: &str, indentation: &str, width: usize) -> String {
    let mut text = String::new();
    let mut room = width;
    let mut is_behind_word = false;
    for (at, word) in line.split(' ').enumerate() {
        let length = word.chars().count();
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
