//! Tables for people: columns without borders, headers in capitals. On a terminal they fit its width, and words that tell
//! a state have a colour. The content of the columns is the commands' business.

mod card;

use std::sync::atomic::{AtomicBool, Ordering};

use comfy_table::{
    Attribute, Cell, ColumnConstraint, ContentArrangement, Row, Table, Width, presets,
};

pub(crate) use self::card::{card, pairs};
use crate::display::{self, Display};
use crate::paint::Meaning;
use crate::usage_error::UsageError;

const GAP: u16 = 3;
/// Columns that are cut no shorter than this.
const NARROWEST: u16 = 8;
/// Characters of a cell that tell something, while other columns can give way.
const READABLE: usize = 16;
/// Headers of columns whose words tell a state.
const STATES: [&str; 7] = [
    "active", "health", "last run", "outcome", "result", "state", "status",
];

/// Headers of columns that have an age for people, which is short and of no use in parts.
const AGES: [&str; 12] = [
    "created",
    "deployed",
    "dispatched",
    "last event",
    "last used",
    "next",
    "next tick",
    "queued",
    "seen",
    "started",
    "updated",
    "written",
];

/// A command's table; an error if it does not have the columns that are wanted.
pub(crate) type Listing = Result<String, UsageError>;

/// Whether a table has shown the columns that were wanted.
static ARE_COLUMNS_SHOWN: AtomicBool = AtomicBool::new(false);

/// Whether columns are wanted that no table has shown.
pub(crate) fn lacks_columns() -> bool {
    display::current().columns.is_some() && !ARE_COLUMNS_SHOWN.load(Ordering::Relaxed)
}

/// A command's table with a header row. On a terminal a row is one line.
pub(crate) fn listing(headers: &[&str], rows: Vec<Vec<String>>) -> Listing {
    overview(headers, &[], rows)
}

/// A command's table of texts to read: on a terminal they go on in the lines below.
pub(crate) fn report(headers: &[&str], rows: Vec<Vec<String>>) -> Listing {
    let display = display::current();
    match wanted(display, headers)? {
        Some(columns) => Ok(of_columns(display, headers, &columns, rows, usize::MAX)),
        None => Ok(report_on(display, headers, rows)),
    }
}

fn report_on(display: Display, headers: &[&str], rows: Vec<Vec<String>>) -> String {
    table_on(display, headers, rows, usize::MAX)
}

/// A table that is a part of what a command shows.
pub(crate) fn part(headers: &[&str], rows: Vec<Vec<String>>) -> String {
    listing_on(display::current(), headers, rows)
}

/// A command's table whose columns give way where a terminal is narrow: these, in their order, those that say nothing first.
pub(crate) fn overview(headers: &[&str], yielding: &[&str], rows: Vec<Vec<String>>) -> Listing {
    overview_on(display::current(), headers, yielding, rows)
}

fn overview_on(
    display: Display,
    headers: &[&str],
    yielding: &[&str],
    rows: Vec<Vec<String>>,
) -> Listing {
    if let Some(columns) = wanted(display, headers)? {
        return Ok(of_columns(display, headers, &columns, rows, 1));
    }
    let Some(width) = display.width.filter(|_| display.is_overview()) else {
        return Ok(listing_on(display, headers, rows));
    };
    let mut columns: Vec<_> = (0..headers.len()).collect();
    let position = |name: &&str| headers.iter().position(|header| header == name);
    let mut yielding: Vec<_> = yielding.iter().filter_map(position).collect();
    yielding.sort_by_key(|&column| says_something(&rows, column));
    for column in yielding {
        if needed(headers, &rows, &columns) <= usize::from(width) {
            break;
        }
        columns.retain(|&it| it != column);
    }
    Ok(of_columns(display, headers, &columns, rows, 1))
}

/// The columns that are wanted, in the order in which they are.
fn wanted(display: Display, headers: &[&str]) -> Result<Option<Vec<usize>>, UsageError> {
    let Some(wanted) = display.columns else {
        return Ok(None);
    };
    ARE_COLUMNS_SHOWN.store(true, Ordering::Relaxed);
    let place = |name: &String| {
        let name = name.to_lowercase().replace([' ', '_'], "-");
        let place = headers.iter().position(|header| as_option(header) == name);
        place.ok_or_else(|| {
            let known: Vec<_> = headers.iter().map(|header| as_option(header)).collect();
            UsageError(format!(
                "-o {name}: the table has no such column; its columns are {}",
                known.join(", ")
            ))
        })
    };
    wanted.iter().map(place).collect::<Result<_, _>>().map(Some)
}

/// A header as the command line names it.
fn as_option(header: &str) -> String {
    header.replace(' ', "-")
}

/// The table with these of its columns.
fn of_columns(
    display: Display,
    headers: &[&str],
    columns: &[usize],
    rows: Vec<Vec<String>>,
    most_lines: usize,
) -> String {
    let headers: Vec<_> = columns.iter().map(|&column| headers[column]).collect();
    let shown = |cells: Vec<String>| {
        columns
            .iter()
            .map(|&column| cells[column].clone())
            .collect()
    };
    let rows = rows.into_iter().map(shown).collect();
    table_on(display, &headers, rows, most_lines)
}

/// Whether a cell of the column has more than a placeholder.
fn says_something(rows: &[Vec<String>], column: usize) -> bool {
    rows.iter()
        .any(|cells| !["", "-", "0"].contains(&cells[column].as_str()))
}

/// The width that these columns take when the others are cut to what can still be read.
fn needed(headers: &[&str], rows: &[Vec<String>], columns: &[usize]) -> usize {
    let widths = columns.iter().enumerate().map(|(place, &column)| {
        let cells = rows.iter().map(|cells| cells[column].chars().count());
        let content = cells.max().unwrap_or_default();
        let is_whole = place == 0 || STATES.contains(&headers[column]);
        let content = if is_whole {
            content
        } else {
            content.min(READABLE)
        };
        content.max(headers[column].len())
    });
    let gaps = usize::from(GAP) * columns.len().saturating_sub(1);
    widths.sum::<usize>() + gaps
}

fn listing_on(display: Display, headers: &[&str], rows: Vec<Vec<String>>) -> String {
    table_on(display, headers, rows, 1)
}

/// A table whose rows have at most so many lines where people want an overview.
fn table_on(
    display: Display,
    headers: &[&str],
    rows: Vec<Vec<String>>,
    most_lines: usize,
) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let header = headers.iter().map(|header| {
        let cell = Cell::new(header.to_uppercase());
        match display.has_colour {
            true => cell.add_attribute(Attribute::Bold),
            false => cell,
        }
    });
    table.set_header(header);
    for cells in rows {
        let cells = cells.into_iter().enumerate().map(|(column, text)| {
            let is_state = headers.get(column).is_some_and(|it| STATES.contains(it));
            let meaning = Meaning::of_state(&text).filter(|_| is_state && display.has_colour);
            match meaning.and_then(Meaning::colour) {
                Some(colour) => Cell::new(text).fg(colour),
                None => Cell::new(text),
            }
        });
        let mut row = Row::from(cells.collect::<Vec<_>>());
        if display.is_overview() {
            row.max_height(most_lines);
        }
        table.add_row(row);
    }
    render(table, headers, display)
}

fn render(mut table: Table, headers: &[&str], display: Display) -> String {
    table.set_truncation_indicator("…");
    match display.has_colour {
        true => table.enforce_styling(),
        false => table.force_no_tty(),
    };
    for column in table.column_iter_mut() {
        column.set_padding((0, GAP));
    }
    if let Some(width) = display.width.filter(|_| display.is_overview()) {
        // The gap behind the last column is not seen.
        fit(&mut table, headers, width.saturating_add(GAP));
    }
    let lines = table.lines();
    lines
        .map(|line| trimmed(&line))
        .collect::<Vec<_>>()
        .join("\n")
}

/// A line without the blanks at its end, also those that have a colour: a terminal would break the line for them.
fn trimmed(line: &str) -> String {
    let text = line.trim_end();
    match text.rfind('\u{1b}') {
        Some(at) if text[at..].find('m') == Some(text.len() - at - 1) => {
            format!("{}{}", text[..at].trim_end(), &text[at..])
        }
        Some(_) | None => text.to_owned(),
    }
}

/// Cuts the widest columns, evenly, until everything fits, states last, and ages never. Ids come first, and are of no use in
/// parts.
fn fit(table: &mut Table, headers: &[&str], width: u16) {
    let mut widths = table.column_max_content_widths();
    let room =
        width.saturating_sub(GAP.saturating_mul(u16::try_from(widths.len()).unwrap_or(u16::MAX)));
    let is_one = |of: &[&str], column: usize| headers.get(column).is_some_and(|it| of.contains(it));
    for cuts_states in [false, true] {
        loop {
            let total: u32 = widths.iter().copied().map(u32::from).sum();
            let cut = widths.iter_mut().enumerate().skip(1);
            let cut = cut.filter(|(column, _)| !is_one(&AGES, *column));
            let cut = cut.filter(|(column, _)| cuts_states || !is_one(&STATES, *column));
            let widest = cut.map(|(_, width)| width).rev().max();
            match widest {
                Some(widest) if total > u32::from(room) && *widest > NARROWEST => *widest -= 1,
                Some(_) | None => break,
            }
        }
    }
    table.set_content_arrangement(ContentArrangement::Dynamic);
    let total: u16 = widths
        .iter()
        .fold(0, |sum: u16, it| sum.saturating_add(*it + GAP));
    table.set_width(total);
    let fixed = widths.into_iter();
    table.set_constraints(fixed.map(|it| ColumnConstraint::Absolute(Width::Fixed(it + GAP))));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terminal(width: u16) -> Display {
        Display {
            width: Some(width),
            ..Display::default()
        }
    }

    fn rows() -> Vec<Vec<String>> {
        vec![
            vec!["dc_1".into(), "rss".into(), "returned".into()],
            vec![
                "dc_22".into(),
                "a name that is longer than others".into(),
                "threw".into(),
            ],
        ]
    }

    #[test]
    fn columns_line_up_without_borders_or_trailing_blanks() {
        let rows = vec![
            vec!["dc_1".into(), "rss".into()],
            vec!["dc_22".into(), "a longer name".into()],
        ];
        assert_eq!(
            part(&["id", "name"], rows),
            "ID      NAME\ndc_1    rss\ndc_22   a longer name"
        );
    }

    #[test]
    fn a_table_fits_the_terminal_and_cuts_what_is_longest() {
        let headers = ["id", "name", "outcome"];
        let shown = listing_on(terminal(40), &headers, rows());
        assert_eq!(
            shown,
            "ID      NAME                    OUTCOME\n\
             dc_1    rss                     returned\n\
             dc_22   a name that is longe…   threw"
        );
        for width in [20, 40, 60, 80] {
            let shown = listing_on(terminal(width), &headers, rows());
            assert!(shown.contains("dc_22 "), "ids stay whole: {shown}");
            let longest = shown.lines().map(|line| line.chars().count()).max();
            assert!(
                longest <= Some(usize::from(width.max(30))),
                "{width}: {shown}"
            );
        }
        let all = listing_on(
            Display {
                is_wide: true,
                ..terminal(20)
            },
            &headers,
            rows(),
        );
        assert!(all.contains("longer than others"), "{all}");
    }

    #[test]
    fn an_age_stays_whole_where_an_error_is_cut() {
        let row = [
            "inv_1",
            "12 min ago",
            "orders",
            "TypeError: it is not a function",
        ];
        let headers = ["id", "queued", "of", "error"];
        let shown = listing_on(
            terminal(38),
            &headers,
            vec![row.map(str::to_owned).to_vec()],
        );
        assert_eq!(
            shown,
            "ID      QUEUED       OF       ERROR\n\
             inv_1   12 min ago   orders   TypeErr…"
        );
    }

    #[test]
    fn a_report_goes_on_below_where_a_listing_is_cut() {
        let detail = "the secret key does not open what is stored; restore the former file";
        let rows = vec![vec!["key".into(), "failed".into(), detail.into()]];
        assert_eq!(
            report_on(terminal(50), &["check", "result", "detail"], rows),
            "CHECK   RESULT   DETAIL\n\
             key     failed   the secret key does not open what\n\
             \x20                is stored; restore the former\n\
             \x20                file"
        );
    }

    #[test]
    fn columns_give_way_in_order_and_those_that_say_nothing_first() {
        let headers = ["id", "trigger", "dropped", "outcome", "error"];
        let row = [
            "inv_1234567890",
            "manual",
            "0",
            "threw",
            "TypeError: x is not a function",
        ];
        let rows = || vec![row.map(str::to_owned).to_vec()];
        let shown = |width| {
            let yielding = ["trigger", "dropped"];
            overview_on(terminal(width), &headers, &yielding, rows()).unwrap()
        };
        let first_line = |width| shown(width).lines().next().unwrap_or_default().to_owned();
        assert!(
            first_line(80).contains("TRIGGER   DROPPED   OUTCOME"),
            "{}",
            shown(80)
        );
        assert!(
            first_line(60).contains("TRIGGER   OUTCOME   ERROR"),
            "{}",
            shown(60)
        );
        assert!(!first_line(50).contains("TRIGGER"), "{}", shown(50));
        assert!(shown(50).contains("threw"), "{}", shown(50));
    }

    #[test]
    fn states_have_a_colour_where_colours_are_wanted() {
        let coloured = Display {
            has_colour: true,
            ..terminal(80)
        };
        let shown = listing_on(coloured, &["id", "name", "outcome"], rows());
        assert!(shown.contains("\u{1b}[38;5;1mthrew"), "{shown:?}");
        for line in shown.lines() {
            let (text, _) = line.rsplit_once('\u{1b}').unwrap();
            assert!(!text.ends_with(' '), "no blanks at the end: {line:?}");
        }
        let plain = listing_on(terminal(80), &["id", "name", "outcome"], rows());
        assert!(!plain.contains('\u{1b}'), "{plain:?}");
    }

    #[test]
    fn columns_that_are_wanted_are_shown_in_their_order_and_others_are_refused() {
        let headers = ["id", "last run", "name"];
        let rows = || vec![["dc_1", "returned", "rss"].map(str::to_owned).to_vec()];
        let of = |columns: &[&str]| {
            let columns: Vec<_> = columns.iter().map(|&it| it.to_owned()).collect();
            let display = Display {
                columns: Some(columns.leak()),
                ..terminal(20)
            };
            overview_on(display, &headers, &["name"], rows())
        };
        assert_eq!(of(&["name", "id"]).unwrap(), "NAME   ID\nrss    dc_1");
        assert_eq!(of(&["Last_Run"]).unwrap(), "LAST RUN\nreturned");
        assert_eq!(
            of(&["name", "state"]).unwrap_err().to_string(),
            "-o state: the table has no such column; its columns are id, last-run, name"
        );
    }
}
