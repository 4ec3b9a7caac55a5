//! Positions in a text as people count them.

/// The line and the column of an offset, both from 1; columns are characters.
pub fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    (line, before[line_start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::line_and_column;

    #[test]
    fn lines_and_columns_count_from_one_and_by_characters() {
        let text = "ab\nüb";
        let found: Vec<_> = [0, 2, 3, 5, 6, 99]
            .iter()
            .map(|offset| line_and_column(text, *offset))
            .collect();
        assert_eq!(found, [(1, 1), (1, 3), (2, 1), (2, 2), (2, 3), (2, 3)]);
    }
}
