//! Tables for people: columns without borders, headers in capitals. The content of the columns is the
//! commands' business.

use comfy_table::{Table, presets};

/// A table with a header row.
pub(crate) fn listing(headers: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(headers.iter().map(|header| header.to_uppercase()));
    render(table, rows)
}

/// A list of names and values, without a header.
pub(crate) fn card(rows: Vec<(String, String)>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let rows = rows
        .into_iter()
        .map(|(name, value)| vec![name.to_uppercase(), value]);
    render(table, rows.collect())
}

fn render(mut table: Table, rows: Vec<Vec<String>>) -> String {
    table.add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, 3));
    }
    table.trim_fmt()
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_card_has_one_line_per_field() {
        let rows = vec![
            ("id".into(), "dc_1".into()),
            ("endpoint".into(), "http://x/e/1".into()),
        ];
        assert_eq!(card(rows), "ID         dc_1\nENDPOINT   http://x/e/1");
    }
}
