//! A value as typed on the command line, or in the file that it names: `@FILE`, `@-` for standard
//! input, and `@@…` for a value that begins with an @. The meaning of the text is the command's
//! business.

use std::io::Read as _;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::usage_error::UsageError;

/// Stands for the text on standard input.
const STDIN: &str = "@-";

/// Whether it is read from standard input, which is there once.
pub(crate) fn is_stdin(given: &str) -> bool {
    given == STDIN
}

/// The value; `what` names it in errors. Of a file, the line ends that editors put at its end are left out.
pub(crate) fn read(given: &str, what: &str) -> Result<String> {
    let Some(path) = given.strip_prefix('@') else {
        return Ok(given.to_owned());
    };
    if path.starts_with('@') {
        return Ok(path.to_owned());
    }
    if is_stdin(given) {
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .with_context(|| format!("cannot read {what} from standard input"))?;
        return Ok(trimmed(text));
    }
    let text = std::fs::read_to_string(path);
    text.map(trimmed).with_context(|| {
        format!("cannot read {what} from the file {path:?}; a value that begins with @ is written @{given}")
    })
}

/// The same of a flag whose value is JSON.
pub(crate) fn read_json(given: &str, flag: &str, what: &str) -> Result<Value> {
    let parsed = serde_json::from_str(&read(given, what)?);
    Ok(parsed.map_err(|error| UsageError(not_json(given, flag, &error)))?)
}

fn not_json(given: &str, flag: &str, error: &serde_json::Error) -> String {
    if given.starts_with('@') {
        return format!("{flag}: {given} is not JSON: {error}");
    }
    let next = match std::path::Path::new(given).is_file() {
        true => format!("a file is named with an @: {flag} @{given}"),
        false => format!("a text is JSON in quotes: {flag} '\"…\"', and a file is named as @FILE"),
    };
    format!("{flag} is not JSON: {given:?} ({error}); {next}")
}

fn trimmed(mut text: String) -> String {
    text.truncate(text.trim_end_matches(['\r', '\n']).len());
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_given_or_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("event.json");
        std::fs::write(&path, "{\"a\": 1}").unwrap();
        let reference = format!("@{}", path.display());
        let read = |given: &str| read_json(given, "--event", "the event");
        assert_eq!(read(&reference).unwrap(), json!({"a": 1}));
        assert_eq!(read("[1]").unwrap(), json!([1]));
        assert!(read("{").unwrap_err().is::<UsageError>());
        let told = |given: &str| read(given).unwrap_err().to_string();
        let error = told("nojson");
        assert!(
            error.starts_with("--event is not JSON: \"nojson\" ("),
            "{error}"
        );
        assert!(error.contains("@FILE"), "{error}");
        let error = told(path.to_str().unwrap());
        assert!(error.ends_with(&format!("--event {reference}")), "{error}");
        std::fs::write(&path, "no").unwrap();
        let error = told(&reference);
        assert!(error.contains("event.json is not JSON"), "{error}");
    }

    #[test]
    fn a_value_is_itself_or_what_is_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key.pem");
        std::fs::write(&path, " first\nsecond\r\n\n").unwrap();
        let reference = format!("@{}", path.display());
        assert_eq!(read(&reference, "it").unwrap(), " first\nsecond");
        for (given, value) in [
            ("a@b", "a@b"),
            ("", ""),
            ("a\n", "a\n"),
            ("@@a", "@a"),
            ("@@", "@"),
            ("@@-", "@-"),
        ] {
            assert_eq!(read(given, "it").unwrap(), value);
        }
        let error = read("@no-such-file", "field a").unwrap_err();
        let told = format!("{error:#}");
        assert!(
            told.contains("field a") && told.contains("@@no-such-file"),
            "{told}"
        );
    }
}
