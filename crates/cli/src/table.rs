//! Tables for people: columns without borders, headers in capitals. On a terminal they fit its width, and words that tell
//! a state have a colour. The content of the columns is the commands' business.

use comfy_table::{Cell, Color, ColumnConstraint, ContentArrangement, Row, Table, Width, presets};

use crate::display::{self, Display};

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
const AGES: [&str; 10] = [
    "created",
    "deployed",
    "dispatched",
    "last event",
    "last used",
    "next tick",
    "queued",
    "seen",
    "started",
    "updated",
];

/// A table with a header row. On a terminal a row is one line.
pub(crate) fn listing(headers: &[&str], rows: Vec<Vec<String>>) -> String {
    listing_on(display::current(), headers, rows)
}

/// A table of texts to read: on a terminal they go on in the lines below.
pub(crate) fn report(headers: &[&str], rows: Vec<Vec<String>>) -> String {
    report_on(display::current(), headers, rows)
}

fn report_on(display: Display, headers: &[&str], rows: Vec<Vec<String>>) -> String {
    table_on(display, headers, rows, usize::MAX)
}

/// A table whose columns give way where a terminal is narrow: these, in their order, those that say nothing first.
pub(crate) fn overview(headers: &[&str], yielding: &[&str], rows: Vec<Vec<String>>) -> String {
    overview_on(display::current(), headers, yielding, rows)
}

fn overview_on(
    display: Display,
    headers: &[&str],
    yielding: &[&str],
    rows: Vec<Vec<String>>,
) -> String {
    let Some(width) = display.width.filter(|_| display.is_overview()) else {
        return listing_on(display, headers, rows);
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
    let headers: Vec<_> = columns.iter().map(|&column| headers[column]).collect();
    let shown = |cells: Vec<String>| {
        columns
            .iter()
            .map(|&column| cells[column].clone())
            .collect()
    };
    listing_on(display, &headers, rows.into_iter().map(shown).collect())
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
    table.set_header(headers.iter().map(|header| header.to_uppercase()));
    for cells in rows {
        let cells = cells.into_iter().enumerate().map(|(column, text)| {
            let is_state = headers.get(column).is_some_and(|it| STATES.contains(it));
            match colour(&text).filter(|_| is_state && display.has_colour) {
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

/// A list of names and values, without a header.
pub(crate) fn card(rows: Vec<(String, String)>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let rows = rows.into_iter();
    table.add_rows(rows.map(|(name, value)| vec![name.to_uppercase(), value]));
    render(table, &[], Display::default())
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
    table.trim_fmt()
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

/// The colour of a state: of those that ask for something, of those in between, of those that are well.
fn colour(text: &str) -> Option<Color> {
    let word = text.split([' ', ',']).next().unwrap_or_default();
    Some(match word {
        "failed" | "threw" | "dead" | "lost" | "refused" | "expired" | "wall_limit"
        | "memory_limit" | "output_limit" | "error" => Color::Red,
        "no" | "paused" | "pending" | "waiting" | "discarded" | "cancelled" | "warning" => {
            Color::Yellow
        }
        "yes" | "ok" | "returned" | "succeeded" | "delivered" | "healthy" => Color::Green,
        _ => return None,
    })
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
            listing(&["id", "name"], rows),
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
        let shown = |width| overview_on(terminal(width), &headers, &["trigger", "dropped"], rows());
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
        assert!(shown.contains("\u{1b}[38;5;9mthrew"), "{shown:?}");
        let plain = listing_on(terminal(80), &["id", "name", "outcome"], rows());
        assert!(!plain.contains('\u{1b}'), "{plain:?}");
    }

    #[test]
    fn a_card_has_one_line_per_field() {
        let rows = vec![
            ("id".into(), "dc_1".into()),
            ("endpoint".into(), "http://x/e/1".into()),
        ];
        assert_eq!(card(rows), "ID         dc_1\nENDPOINT   http://x/e/1");
    }
}
