//! Words of commands that people are told to run, as a shell takes them.

use std::path::Path;

pub(crate) use headwater_model::shell::quoted;

/// A path as one word.
pub(crate) fn word(path: &Path) -> String {
    quoted(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_a_shell_would_split_or_read_is_quoted() {
        for (path, shown) in [
            ("orders/eu-1", "orders/eu-1"),
            ("My New Flow", "'My New Flow'"),
            ("$HOME", "'$HOME'"),
            ("Ann's", "'Ann'\\''s'"),
            ("", "''"),
        ] {
            assert_eq!(word(Path::new(path)), shown);
        }
    }
}
