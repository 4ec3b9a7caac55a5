//! Ids, addresses and times that a document shows: read from what was printed, put into commands, and left out where
//! output is compared.

use std::collections::HashMap;

/// Prefixes of ids.
const PREFIXES: [&str; 12] = [
    "apn", "d", "dc", "dep", "dlv", "hw", "inv", "o", "p", "sc", "u", "whsec",
];

/// Words of documents that stand for an id of a prefix.
const WORDS: [(&str, &str); 2] = [("RUN", "inv"), ("ID", "dc")];

/// The text that was printed last for each kind of thing.
#[derive(Debug, Default)]
pub(super) struct Placeholders {
    known: HashMap<String, String>,
}

impl Placeholders {
    /// A text of documents, and the one to use instead.
    pub(super) fn set(&mut self, placeholder: &str, value: &str) {
        self.known.insert(placeholder.to_owned(), value.to_owned());
    }

    /// Keeps the ids and addresses of an output. Lines `PLACEHOLDER = VALUE` set one.
    pub(super) fn learn(&mut self, printed: &str) {
        for line in printed.lines() {
            if let Some((placeholder, value)) = line.split_once(" = ") {
                self.set(placeholder, value);
            }
        }
        for word in words(printed) {
            if let Some(prefix) = prefix(word) {
                self.set(&format!("{prefix}_"), word);
            } else if word.contains("/e/") && word.starts_with("http") {
                self.set("ENDPOINT_URL", word);
                self.set("ENDPOINT", word);
            }
        }
    }

    /// The command with what is known in the place of what the document shows.
    pub(super) fn fill(&self, command: &str) -> String {
        let (ids, mut texts): (Vec<_>, Vec<_>) =
            self.known.iter().partition(|(it, _)| it.ends_with('_'));
        // Longer ones first: `ENDPOINT_URL` before `ENDPOINT`.
        texts.sort_by_key(|(placeholder, _)| std::cmp::Reverse(placeholder.len()));
        // What took a text's place is not looked at again.
        let mark = |index: usize| format!("\u{e000}{index}\u{e001}");
        let mut filled = command.to_owned();
        for (index, (placeholder, _)) in texts.iter().enumerate() {
            filled = filled.replace(&***placeholder, &mark(index));
        }
        for (prefix, value) in ids {
            filled = replaced_ids(&filled, prefix, value);
        }
        for (word, prefix) in WORDS {
            if let Some(value) = self.known.get(&format!("{prefix}_")) {
                filled = replaced_word(&filled, word, value);
            }
        }
        for (index, (_, value)) in texts.iter().enumerate() {
            filled = filled.replace(&mark(index), value);
        }
        filled
    }

    /// A line of output with the addresses that there are here.
    pub(super) fn fill_addresses(&self, shown: &str) -> String {
        let addresses = self.known.iter();
        let addresses = addresses.filter(|(placeholder, _)| placeholder.starts_with("http"));
        addresses.fold(shown.to_owned(), |line, (placeholder, value)| {
            line.replace(&**placeholder, value)
        })
    }
}

/// Whether a printed line is what the document shows, but for ids, times, numbers and widths of columns.
pub(super) fn is_like(shown: &str, printed: &str) -> bool {
    let (shown, printed) = (plain(shown), plain(printed));
    let mut rest = &*printed;
    let mut parts = shown.split('…').peekable();
    let mut is_first = true;
    while let Some(part) = parts.next() {
        let part = part.trim();
        let at = match rest.find(part) {
            Some(at) if !is_first || at == 0 => at,
            _ => return false,
        };
        rest = &rest[at + part.len()..];
        if parts.peek().is_none() && !shown.ends_with('…') && !rest.trim().is_empty() {
            return false;
        }
        is_first = false;
    }
    true
}

/// The line with `#` for each id and number, and single blanks.
fn plain(line: &str) -> String {
    let mut plain = String::new();
    for word in line.split_whitespace() {
        if !plain.is_empty() {
            plain.push(' ');
        }
        let mut was_digit = false;
        let mut pieces = pieces(word).into_iter().peekable();
        while let Some(piece) = pieces.next() {
            let is_cut = pieces.peek() == Some(&"…");
            match piece {
                id if prefix(id).is_some() || is_hash(id) => plain.push('…'),
                id if is_cut && is_id_of_kind(id) => {}
                piece => {
                    for char in piece.chars() {
                        match char.is_ascii_digit() {
                            true if was_digit => {}
                            true => plain.push('#'),
                            false => plain.push(char),
                        }
                        was_digit = char.is_ascii_digit();
                    }
                }
            }
        }
    }
    plain
}

/// The parts of a word of which ids may be some.
fn pieces(word: &str) -> Vec<&str> {
    word.split_inclusive(|char: char| !(char.is_ascii_alphanumeric() || "_-".contains(char)))
        .flat_map(|piece| {
            let end = piece
                .char_indices()
                .last()
                .filter(|(_, char)| !(char.is_ascii_alphanumeric() || "_-".contains(*char)));
            match end {
                Some((at, _)) => vec![&piece[..at], &piece[at..]],
                None => vec![piece],
            }
        })
        .filter(|piece| !piece.is_empty())
        .collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| char.is_whitespace() || "\"'`,;()".contains(char))
        .filter(|word| !word.is_empty())
}

/// The prefix of an id that is written out.
fn prefix(word: &str) -> Option<&'static str> {
    let (prefix, rest) = word.split_once('_')?;
    let is_long = rest.len() >= 16;
    let is_id = rest
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"+/=_-".contains(&byte));
    let known = PREFIXES.iter().copied().find(|known| *known == prefix);
    known.filter(|_| is_long && is_id)
}

fn is_id_of_kind(word: &str) -> bool {
    let prefix = word.split_once('_').map(|(prefix, _)| prefix);
    prefix.is_some_and(|prefix| PREFIXES.contains(&prefix))
}

/// Whether it is the beginning of a hash, as tables show it.
fn is_hash(word: &str) -> bool {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    word.len() == 12 && word.bytes().all(is_hex)
}

/// Ids of the prefix, whole or cut off by `…`, replaced.
fn replaced_ids(text: &str, prefix: &str, value: &str) -> String {
    let mut replaced = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(prefix) {
        let before = rest[..at].chars().next_back();
        let is_start = before.is_none_or(|char| !(char.is_ascii_alphanumeric() || char == '_'));
        let after = &rest[at + prefix.len()..];
        let id = after
            .find(|char: char| !char.is_ascii_alphanumeric())
            .unwrap_or(after.len());
        let is_cut = after[id..].starts_with('…');
        if is_start && (is_cut || id >= 16) {
            replaced.push_str(&rest[..at]);
            replaced.push_str(value);
            rest = &after[id + if is_cut { '…'.len_utf8() } else { 0 }..];
        } else {
            replaced.push_str(&rest[..at + prefix.len()]);
            rest = after;
        }
    }
    replaced.push_str(rest);
    replaced
}

/// The word replaced where it is one by itself.
fn replaced_word(text: &str, word: &str, value: &str) -> String {
    let mut replaced = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (before, after) = (&rest[..at], &rest[at + word.len()..]);
        let is_part = |char: char| char.is_ascii_alphanumeric() || "_-".contains(char);
        let is_alone = !before.chars().next_back().is_some_and(is_part)
            && !after.chars().next().is_some_and(is_part);
        replaced.push_str(before);
        replaced.push_str(if is_alone { value } else { word });
        rest = after;
    }
    replaced.push_str(rest);
    replaced
}

#[test]
fn what_was_printed_takes_the_place_of_what_is_shown() {
    let mut known = Placeholders::default();
    known.learn("ID  dc_0DkqLtSyJ4yOMpWg5tVxNq\nENDPOINT  http://127.0.0.1:1/e/abc\nMSG = msg_1\n");
    let filled = known.fill("curl ENDPOINT; show dc_… ID dc_0AAAAAAAAAAAAAAAAAAAAA MSG 'dc_*' IDS");
    let id = "dc_0DkqLtSyJ4yOMpWg5tVxNq";
    let expected = format!("curl http://127.0.0.1:1/e/abc; show {id} {id} {id} msg_1 'dc_*' IDS");
    assert_eq!(filled, expected);
}

#[test]
fn output_is_alike_but_for_ids_times_and_widths() {
    let shown = "2026-01-31T12:00:00.079Z  -  Order 7  →  200 OK, 12 ms";
    let printed = "2026-11-24T20:00:01.101Z - Order 7 → 200 OK, 3 ms";
    assert!(is_like(shown, printed));
    assert!(is_like(
        "secret: whsec_…",
        "secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    ));
    assert!(is_like(
        "INVOCATION   inv_…",
        "INVOCATION  inv_0DkqLtSyJ4yOMpWg5tVxNq"
    ));
    assert!(!is_like("OUTCOME   returned", "OUTCOME   threw"));
    assert!(!is_like("17", "17 more"));
}
