//! The variables that code and expressions read: `process.env.NAME` and `process.env["NAME"]`, as far as their text shows.

use std::collections::BTreeSet;

const ENVIRONMENT: &str = "process.env";
/// These are set by the node.
const OWN_PREFIX: &str = "PIPEDREAM_";

/// The names in a text, which may be of any language around them. Those that the node sets are left out.
pub fn variables_read_by(text: &str) -> BTreeSet<String> {
    let behind = text.match_indices(ENVIRONMENT);
    let behind = behind.map(|(at, _)| &text[at + ENVIRONMENT.len()..]);
    let names = behind.filter_map(name);
    names
        .filter(|name| !name.starts_with(OWN_PREFIX))
        .map(str::to_owned)
        .collect()
}

fn name(access: &str) -> Option<&str> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let rest = match access.strip_prefix('[') {
        Some(rest) => rest.strip_prefix(['"', '\'', '`'])?,
        None => access
            .strip_prefix("?.")
            .or_else(|| access.strip_prefix('.'))?,
    };
    let end = rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
    (end > 0).then_some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_however_they_are_read() {
        let text = "process.env.A + process.env['B_2'] + process.env[`C`] + process.env?.D + process.env[name]
            process.env.PIPEDREAM_WORKFLOW_ID process.environment {{process.env.A}} process.env";
        let names: Vec<_> = variables_read_by(text).into_iter().collect();
        assert_eq!(names, ["A", "B_2", "C", "D"]);
    }
}
