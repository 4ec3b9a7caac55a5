//! `init`: writes a component to begin with, and a test of it, into the current folder. Asks no node.

use std::path::PathBuf;

use anyhow::Result;
use serde_json::json;

use super::new_files::{refuse_existing, write_new};
use super::workflows;
use crate::arguments::{InitArguments, InitKind};
use crate::exit::Exit;
use crate::output;
use crate::usage_error::UsageError;

const SOURCE: [&str; 2] = [
    include_str!("../../templates/source.mjs"),
    include_str!("../../templates/source.test.mjs"),
];
const ACTION: [&str; 2] = [
    include_str!("../../templates/action.mjs"),
    include_str!("../../templates/action.test.mjs"),
];
const NAME_BYTES: usize = 60;

pub(crate) fn run(arguments: &InitArguments, as_json: bool) -> Result<Exit> {
    let (templates, default, next) = match arguments.kind {
        InitKind::Source => (SOURCE, "my-source", "headwater dev"),
        InitKind::Action => (ACTION, "my-action", "headwater run-action"),
        InitKind::Workflow => return workflows::init(arguments.name.as_deref(), as_json),
    };
    let name = arguments.name.as_deref().unwrap_or(default);
    let key = key_of(name)?;
    let file = format!("{key}.mjs");
    let paths = [PathBuf::from(&file), format!("{key}.test.mjs").into()];
    refuse_existing(&paths)?;
    for (path, template) in paths.iter().zip(templates) {
        let text = template
            .replace("\"{{name}}\"", &json!(name).to_string())
            .replace("{{key}}", &key)
            .replace("{{file}}", &file);
        write_new(path, &text)?;
    }
    let [component, test] = paths.map(|path| path.display().to_string());
    match as_json {
        true => output::json(&json!({"component": component, "test": test}))?,
        false => output::data(&format!("{component}\n{test}"))?,
    }
    output::note(&format!(
        "test it:  node --test {test}\n\
         \x20    or:  $(headwater runtime) test --allow-env {test}\n\
         run it:   {next} {component}"
    ));
    Ok(Exit::Success)
}

/// The name as keys and files have it.
fn key_of(name: &str) -> Result<String, UsageError> {
    let lower = name.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let key = words.join("-");
    let printable = !name.chars().any(char::is_control);
    match !key.is_empty() && name.len() <= NAME_BYTES && printable {
        true => Ok(key),
        false => Err(UsageError(format!(
            "{name:?} is not a name for a component: use letters and digits, {NAME_BYTES} at most"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_makes_a_key() {
        for (name, key) in [
            ("my-source", "my-source"),
            ("New Orders (shop)", "new-orders-shop"),
            ("RSS2", "rss2"),
        ] {
            assert_eq!(key_of(name).unwrap(), key);
        }
        for name in ["", "…", "a\nb", &"x".repeat(61)] {
            assert!(key_of(name).is_err(), "{name}");
        }
    }
}
