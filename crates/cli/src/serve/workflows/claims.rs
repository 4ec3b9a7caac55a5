//! Telling which workflow each folder is, from the ids in the folders and from those that are remembered.

use std::collections::BTreeMap;

use headwater_model::id::WorkflowId;
use headwater_workflow::state_file::StateFile;

use super::look::Look;
use super::remembered::{Remembered, Standing};

/// The workflow of a folder.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// A workflow that has been deployed, or has an id at least, and its state file.
    Known(WorkflowId, StateFile),
    /// None yet; the state file has no id.
    New(StateFile),
    /// The folder is a copy of this one, with its id.
    CopyOf(String),
    /// The state file cannot be read.
    Unreadable,
}

impl Claim {
    /// Whether it is another folder's workflow.
    pub(super) fn is_copy(&self) -> bool {
        matches!(self, Self::CopyOf(_))
    }
}

/// The claims of all folders, by folder.
pub(super) fn claims(look: &Look, remembered: &Remembered) -> BTreeMap<String, Claim> {
    let mut claims: BTreeMap<String, Claim> = BTreeMap::new();
    // Ids in files count before those that are remembered: a folder may have moved.
    let mut owners: BTreeMap<WorkflowId, String> = BTreeMap::new();
    for (folder, found) in &look.folders {
        let claim = match found.state.as_deref().map(str::parse::<StateFile>) {
            None => Claim::New(StateFile::default()),
            Some(Err(_)) => Claim::Unreadable,
            Some(Ok(state)) => match state.id.clone() {
                None => Claim::New(state),
                Some(id) => Claim::Known(id, state),
            },
        };
        if let Claim::Known(id, _) = &claim {
            let is_its = remembered
                .get(id)
                .is_some_and(|entry| entry.folder == *folder);
            if is_its || !owners.contains_key(id) {
                owners.insert(id.clone(), folder.clone());
            }
        }
        claims.insert(folder.clone(), claim);
    }
    for (folder, claim) in &mut claims {
        match claim {
            Claim::Known(id, _) if owners.get(id) != Some(folder) => {
                *claim = Claim::CopyOf(owners.get(id).cloned().unwrap_or_default());
            }
            Claim::New(_) => {
                if let Some((id, state)) = remembered_of(folder, remembered, &owners) {
                    *claim = Claim::Known(id, state);
                }
            }
            Claim::Known(..) | Claim::CopyOf(_) | Claim::Unreadable => {}
        }
    }
    claims
}

/// The workflow that a folder without an id was before, unless it is another folder now.
fn remembered_of(
    folder: &str,
    remembered: &Remembered,
    owners: &BTreeMap<WorkflowId, String>,
) -> Option<(WorkflowId, StateFile)> {
    let (id, entry) = remembered.at(folder)?;
    match owners.contains_key(&id) {
        true => None,
        false => Some((id, entry.state.parse().ok()?)),
    }
}

/// The workflows whose folder is no longer there.
pub(super) fn gone(look: &Look, remembered: &Remembered) -> Vec<WorkflowId> {
    let claims = claims(look, remembered);
    let is_there = |id: &WorkflowId| {
        let mut claims = claims.values();
        claims.any(|claim| matches!(claim, Claim::Known(known, _) if known == id))
    };
    let may_be_there =
        |folder: &str| look.may_hide(folder) || claims.get(folder) == Some(&Claim::Unreadable);
    let remembered = remembered.entries();
    let maybe_on = remembered.filter(|(_, entry)| entry.standing != Standing::Gone);
    let gone = maybe_on.filter(|(id, entry)| !is_there(id) && !may_be_there(&entry.folder));
    gone.map(|(id, _)| id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::workflows::{look::Found, remembered::Entry};

    const FIRST: &str = "p_abcdefg";
    const SECOND: &str = "p_bcdefgh";

    fn state(id: &str) -> String {
        format!("schema: workflow.state/2022.04\nid: {id}\n")
    }

    fn look(folders: &[(&str, Option<&str>)]) -> Look {
        let folders = folders.iter().map(|(folder, state)| {
            let found = Found {
                stamps: BTreeMap::new(),
                state: state.map(str::to_owned),
            };
            ((*folder).to_owned(), found)
        });
        Look {
            folders: folders.collect(),
            ..Look::default()
        }
    }

    /// Remembers the first workflow in `orders`, in a folder that is returned to be kept.
    fn remembered() -> (tempfile::TempDir, Remembered) {
        let dir = tempfile::tempdir().unwrap();
        let mut remembered = Remembered::open(dir.path().join("kept.json"), dir.path()).unwrap();
        let entry = Entry {
            folder: "orders".to_owned(),
            state: state(FIRST),
            standing: Standing::Deployed,
        };
        remembered.keep(&FIRST.parse().unwrap(), entry).unwrap();
        (dir, remembered)
    }

    fn told(folders: &[(&str, Option<&str>)]) -> Vec<String> {
        let claims = claims(&look(folders), &remembered().1);
        let told = claims.into_iter().map(|(folder, claim)| match claim {
            Claim::Known(id, _) => format!("{folder} is {id}"),
            Claim::New(_) => format!("{folder} is new"),
            Claim::CopyOf(other) => format!("{folder} is a copy of {other}"),
            Claim::Unreadable => format!("{folder} cannot be read"),
        });
        told.collect()
    }

    #[test]
    fn a_folder_is_the_workflow_of_its_state_or_the_one_that_it_was() {
        assert_eq!(
            told(&[
                ("bills", Some(&state(SECOND))),
                ("mail", None),
                ("orders", None)
            ]),
            ["bills is p_bcdefgh", "mail is new", "orders is p_abcdefg"]
        );
        // It has moved, and another folder has its place.
        assert_eq!(
            told(&[("bills", Some(&state(FIRST))), ("orders", None)]),
            ["bills is p_abcdefg", "orders is new"]
        );
        assert_eq!(
            told(&[("orders", Some("<<<<<<< HEAD\n"))]),
            ["orders cannot be read"]
        );
    }

    #[test]
    fn of_folders_with_one_id_the_one_that_was_deployed_has_it() {
        let copied = state(FIRST);
        assert_eq!(
            told(&[("a-copy", Some(&copied)), ("orders", Some(&copied))]),
            ["a-copy is a copy of orders", "orders is p_abcdefg"]
        );
        let copied = state(SECOND);
        assert_eq!(
            told(&[("bills", Some(&copied)), ("more", Some(&copied))]),
            ["bills is p_bcdefgh", "more is a copy of bills"]
        );
    }

    #[test]
    fn a_workflow_is_gone_when_no_folder_can_be_it() {
        let (_dir, mut remembered) = remembered();
        let first: [WorkflowId; 1] = [FIRST.parse().unwrap()];
        for folders in [
            &[("orders", None)][..],
            &[("moved", Some(&*state(FIRST)))],
            &[("orders", Some("broken"))],
        ] {
            assert_eq!(gone(&look(folders), &remembered), []);
        }
        assert_eq!(gone(&look(&[]), &remembered), first);
        assert_eq!(
            gone(&look(&[("orders", Some(&state(SECOND)))]), &remembered),
            first
        );
        let mut hidden = look(&[]);
        hidden
            .unreadable
            .insert("orders".to_owned(), "denied".to_owned());
        assert_eq!(gone(&hidden, &remembered), []);
        remembered.stands(&first[0], Standing::Gone).unwrap();
        assert_eq!(gone(&look(&[]), &remembered), []);
        // The node died while it was deployed again, and it may be on.
        remembered.stands(&first[0], Standing::Changing).unwrap();
        assert_eq!(gone(&look(&[]), &remembered), first);
    }
}
