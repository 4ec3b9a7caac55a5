//! Lists of names and values. On a terminal a long value goes on in the lines below, between its words; what has no blanks,
//! such as a URL, stays whole, so that it can be copied.

use super::{GAP, STATES};
use crate::display::{self, Display};
use crate::paint::{Meaning, painted};
use crate::wrap;

/// Columns for values, below which nothing is broken.
const NARROWEST: usize = 20;

/// A list of fields and their values, without a header.
pub(crate) fn card(rows: Vec<(String, String)>) -> String {
    card_on(display::current(), rows)
}

fn card_on(display: Display, rows: Vec<(String, String)>) -> String {
    let rows = rows.into_iter().map(|(name, value)| {
        let is_state = STATES.contains(&&*name);
        let meaning = Meaning::of_state(&value).filter(|_| is_state);
        Pair {
            name: name.to_uppercase(),
            value,
            meaning,
            is_heading: true,
        }
    });
    lines(display, rows.collect())
}

/// A list of names as they are and their values, below a header.
pub(crate) fn pairs(headers: [&str; 2], rows: Vec<[String; 2]>) -> String {
    pairs_on(display::current(), headers, rows)
}

fn pairs_on(display: Display, headers: [&str; 2], rows: Vec<[String; 2]>) -> String {
    let [name, value] = headers.map(str::to_uppercase);
    let header = Pair {
        name,
        value,
        meaning: Some(Meaning::Heading),
        is_heading: true,
    };
    let rows = rows.into_iter().map(|[name, value]| Pair {
        name,
        value,
        meaning: None,
        is_heading: false,
    });
    lines(display, std::iter::once(header).chain(rows).collect())
}

struct Pair {
    name: String,
    value: String,
    /// That of the value.
    meaning: Option<Meaning>,
    /// Whether the name is a heading of the value.
    is_heading: bool,
}

fn lines(display: Display, pairs: Vec<Pair>) -> String {
    let names = pairs.iter().map(|pair| pair.name.chars().count());
    let indentation = names.max().unwrap_or_default() + usize::from(GAP);
    let room = display.width.filter(|_| display.is_overview());
    let room = room.map(|width| usize::from(width).saturating_sub(indentation));
    let room = room.filter(|room| *room >= NARROWEST);
    let mut shown = Vec::new();
    for pair in pairs {
        let value = match room {
            Some(room) => wrap::paragraphs(&pair.value, room),
            None => pair.value,
        };
        let name = format!("{:<indentation$}", pair.name);
        let heading = pair.is_heading.then_some(Meaning::Heading);
        let mut beginning = painted(&name, heading, display.has_colour);
        if value.is_empty() {
            shown.push(pair.name);
            continue;
        }
        for line in value.lines() {
            let line = painted(line, pair.meaning, display.has_colour);
            shown.push(format!("{beginning}{line}").trim_end().to_owned());
            beginning = " ".repeat(indentation).into();
        }
    }
    shown.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<(String, String)> {
        let url = "https://example.com/a/very/long/address";
        [
            ("id", "dc_1"),
            ("active", "no"),
            ("endpoint", url),
            ("last event", "2 s ago, an order of several kinds of tea"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
    }

    #[test]
    fn a_card_has_one_line_per_field_where_nobody_looks() {
        assert_eq!(
            card_on(Display::default(), rows()),
            "ID           dc_1\n\
             ACTIVE       no\n\
             ENDPOINT     https://example.com/a/very/long/address\n\
             LAST EVENT   2 s ago, an order of several kinds of tea"
        );
    }

    #[test]
    fn a_long_value_goes_on_below_and_a_word_stays_whole() {
        let terminal = Display {
            width: Some(40),
            ..Display::default()
        };
        assert_eq!(
            card_on(terminal, rows()),
            "ID           dc_1\n\
             ACTIVE       no\n\
             ENDPOINT     https://example.com/a/very/long/address\n\
             LAST EVENT   2 s ago, an order of\n\
             \x20            several kinds of tea"
        );
    }

    #[test]
    fn names_stand_out_and_states_have_a_colour_where_colours_are_wanted() {
        let coloured = Display {
            has_colour: true,
            width: Some(80),
            ..Display::default()
        };
        let shown = card_on(coloured, rows());
        assert!(
            shown.contains("\u{1b}[1mACTIVE       \u{1b}[0m\u{1b}[33mno\u{1b}[0m"),
            "{shown:?}"
        );
        assert!(shown.contains("\u{1b}[0mdc_1\n"), "{shown:?}");
    }

    #[test]
    fn names_of_pairs_stay_as_they_are() {
        let rows = vec![["feedUrl".to_owned(), "\"a b\"".to_owned()]];
        assert_eq!(
            pairs_on(Display::default(), ["prop", "value"], rows),
            "PROP      VALUE\nfeedUrl   \"a b\""
        );
    }
}
