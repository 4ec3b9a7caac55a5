//! Cells of tables of runs.

use serde_json::Value;

/// Characters of an error that a row of a table has room for.
const ERROR_CHARS: usize = 80;

pub(super) fn took(run: &Value) -> String {
    format!("{} ms", run["duration_ms"])
}

pub(super) fn beginning(error: &str) -> String {
    match error.char_indices().nth(ERROR_CHARS) {
        Some((end, _)) => format!("{}…", &error[..end]),
        None => error.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_error_is_cut_in_a_row() {
        assert_eq!(beginning("boom"), "boom");
        let cut = beginning(&"ä".repeat(200));
        assert_eq!(cut.chars().count(), ERROR_CHARS + 1);
        assert!(cut.ends_with('…'), "{cut}");
    }
}
