//! `workflows init`: writes the folder of a workflow to begin with. Asks no node.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::json;

use super::super::new_files::{refuse_existing, write_new};
use crate::arguments::InitWorkflowArguments;
use crate::exit::Exit;
use crate::output;
use crate::shell;
use crate::usage_error::UsageError;
use crate::workflow::folder::STATE_FILE;

/// The files by their paths within the folder.
const TEMPLATES: [(&str, &str); 3] = [
    (
        "workflow.yaml",
        include_str!("../../../templates/workflow/workflow.yaml"),
    ),
    (
        "greet/entry.js",
        include_str!("../../../templates/workflow/greet/entry.js"),
    ),
    (
        "README.md",
        include_str!("../../../templates/workflow/README.md"),
    ),
];

pub(super) fn run(arguments: &InitWorkflowArguments, as_json: bool) -> Result<Exit> {
    let dir = &arguments.dir;
    let name = match &arguments.name {
        Some(name) => name.clone(),
        None => name_of(dir)?,
    };
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        let complaint =
            format!("{name:?} is not a name for a workflow; give another one with --name");
        return Err(UsageError(complaint).into());
    }
    let paths = TEMPLATES.map(|(path, _)| dir.join(path));
    refuse_existing(&paths)?;
    refuse_existing(&[dir.join(STATE_FILE)])?;
    for (path, (_, template)) in paths.iter().zip(TEMPLATES) {
        let within = path.parent().unwrap_or(dir);
        std::fs::create_dir_all(within)
            .with_context(|| format!("cannot create the folder {}", within.display()))?;
        let text = template
            .replace("\"{{name}}\"", &json!(name).to_string())
            .replace("{{title}}", &name);
        write_new(path, &text)?;
    }
    let paths = paths.map(|path| path.display().to_string());
    match as_json {
        true => output::json(&json!({"files": paths}))?,
        false => output::data(&paths.join("\n"))?,
    }
    let dir = shell::word(dir);
    output::tell(&format!(
        "deploy it:  headwater workflows deploy {dir}\n\
         run it:     headwater workflows run {dir} --wait"
    ));
    Ok(Exit::Success)
}

/// The folder's own name, also where it is given as `.`.
fn name_of(dir: &Path) -> Result<String> {
    let whole = std::path::absolute(dir).context("cannot find the current folder")?;
    let name = whole.components().next_back();
    Ok(name.map_or_else(String::new, |name| {
        name.as_os_str().to_string_lossy().into_owned()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::findings;
    use crate::workflow::folder::Folder;

    #[test]
    fn nothing_is_found_in_a_new_folder_whatever_its_name() {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("New: \"orders\" {{name}}");
        let arguments = InitWorkflowArguments {
            dir: dir.clone(),
            name: None,
        };
        run(&arguments, true).unwrap();
        let folder = Folder::read(&dir).unwrap();
        assert_eq!(findings::of_folder(&folder, false), [json!(null); 0]);
        assert!(folder.definition().contains("\"New: \\\"orders\\\" "));
        let again = run(&arguments, true).unwrap_err();
        assert!(again.is::<UsageError>(), "{again}");
    }
}
