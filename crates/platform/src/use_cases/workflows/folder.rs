//! A folder to deploy, read: its definition, its ids, and what was found about it.

use std::{collections::BTreeMap, sync::Arc};

use headwater_model::id::DeploymentId;
use headwater_workflow::{
    check::check,
    definition::Definition,
    finding::{Finding, Severity},
    state_file::StateFile,
};

use crate::{error::PlatformError, workflows::Content};

/// The definition's file.
pub(crate) const DEFINITION_FILE: &str = "workflow.yaml";
/// The file with the ids.
pub(crate) const STATE_FILE: &str = ".workflow.state";
/// Files of a folder, and bytes of all of them.
const FILES_MAX: usize = 1_000;
const BYTES_MAX: usize = 16 * 1024 * 1024;

/// A folder that can be deployed as far as its files tell.
pub(super) struct Folder {
    pub(super) files: Arc<BTreeMap<String, String>>,
    pub(super) definition: Definition,
    pub(super) state: StateFile,
    pub(super) findings: Vec<Finding>,
    /// Whether its steps do without accounts.
    pub(super) lacks_accounts: bool,
    /// The deployment that it is taken from, instead of from a folder of somebody.
    pub(super) restores: Option<Restored>,
}

/// A former deployment that becomes a new one.
pub(super) struct Restored {
    pub(super) id: DeploymentId,
    pub(super) content: Content,
    /// Whether triggers are on, which is not for the files of then to say.
    pub(super) is_active: bool,
}

impl Folder {
    /// The files of a former deployment, with the ids that its triggers had.
    ///
    /// # Errors
    /// `Conflict` when its files are not kept, and those of [`Folder::read`].
    pub(super) fn of_deployment(restored: Restored) -> Result<Self, PlatformError> {
        if restored.content.files.is_empty() {
            return Err(PlatformError::Conflict(format!(
                "the files of deployment `{}` are not kept; deploy the folder of the workflow instead",
                restored.id
            )));
        }
        let mut folder = Self::read(restored.content.files.as_ref().clone())?;
        let triggers = folder.definition.triggers.iter();
        let known = triggers.zip(&restored.content.triggers);
        folder.state.triggers = known
            .filter(|(trigger, _)| trigger.id.is_none())
            .map(|(trigger, id)| (trigger.key.clone(), id.clone()))
            .collect();
        folder.restores = Some(restored);
        Ok(folder)
    }

    /// Reads the files of a folder.
    ///
    /// # Errors
    /// `Invalid` for a folder without a definition, for a file that cannot be read, and for a definition that could not
    /// run.
    pub(super) fn read(mut files: BTreeMap<String, String>) -> Result<Self, PlatformError> {
        let refused = |reason: String| Err(PlatformError::invalid("files", reason));
        if files.len() > FILES_MAX {
            return refused(format!(
                "has more than {FILES_MAX} files; deploy one workflow's folder"
            ));
        }
        if files.values().map(String::len).sum::<usize>() > BYTES_MAX {
            return refused(format!(
                "has more than {BYTES_MAX} bytes; leave out what no step imports"
            ));
        }
        for path in files.keys() {
            let is_plain =
                |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', '\0']);
            if !path.split('/').all(is_plain) {
                return refused(format!(
                    "`{path}` is not a path within a folder, such as `step/entry.js`"
                ));
            }
        }
        let state = match files.remove(STATE_FILE) {
            Some(text) => text
                .parse()
                .map_err(|error| PlatformError::invalid(STATE_FILE, error))?,
            None => StateFile::default(),
        };
        let Some(text) = files.get(DEFINITION_FILE) else {
            return refused(format!(
                "has no `{DEFINITION_FILE}`; deploy the folder of a workflow"
            ));
        };
        let names: Vec<&str> = files.keys().map(String::as_str).collect();
        let definition = Definition::read(text, &names)
            .map_err(|error| PlatformError::invalid(DEFINITION_FILE, error))?;
        let findings = check(&definition, &names);
        refuse_errors(&findings)?;
        Ok(Self {
            files: Arc::new(files),
            definition,
            state,
            findings,
            lacks_accounts: false,
            restores: None,
        })
    }
}

fn refuse_errors(findings: &[Finding]) -> Result<(), PlatformError> {
    let errors = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error);
    let errors: Vec<String> = errors.map(ToString::to_string).collect();
    match errors.is_empty() {
        true => Ok(()),
        false => Err(PlatformError::invalid(DEFINITION_FILE, errors.join("\n"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)]) -> Result<Folder, String> {
        let files = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        Folder::read(files.collect()).map_err(|error| error.to_string())
    }

    const YAML: &str = "schema: workflow/2022.04\nname: A\nsteps:\n- namespace: one\n";

    #[test]
    fn a_folder_needs_a_definition_and_the_files_of_its_steps() {
        let whole = read(&[
            ("workflow.yaml", YAML),
            ("one/entry.js", "export default {}"),
        ]);
        assert_eq!(whole.unwrap().definition.name, "A");
        let error = read(&[("one/entry.js", "")]).err().unwrap();
        assert!(error.contains("workflow.yaml"), "{error}");
        let error = read(&[("workflow.yaml", YAML)]).err().unwrap();
        assert!(error.contains("entry.js"), "{error}");
    }

    #[test]
    fn paths_stay_within_the_folder() {
        for path in ["../a.js", "/a.js", "a//b.js", "a/./b.js", "a\\b.js"] {
            let error = read(&[("workflow.yaml", YAML), (path, "")]).err().unwrap();
            assert!(error.contains("not a path"), "{error}");
        }
    }

    #[test]
    fn a_state_file_with_a_merge_conflict_is_refused() {
        let state = "schema: workflow.state/2022.04\n<<<<<<< HEAD\nid: p_1\n";
        let files = [
            ("workflow.yaml", YAML),
            ("one/entry.js", ""),
            (".workflow.state", state),
        ];
        assert!(read(&files).is_err());
    }
}
