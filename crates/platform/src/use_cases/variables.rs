//! Variables, which steps of workflows see as `process.env` (docs/guide/workflows.md, "Variables").

use headwater_model::{id::WorkspaceId, time::EpochSeconds};
use headwater_store::Variable;
use headwater_workflow::environment::OWN_PREFIX;

use crate::{
    audit::{Act, AuditAction},
    caller::Caller,
    error::PlatformError,
    platform::Platform,
    secrets::{KeyRing, variable_purpose},
};

/// Characters of a name, bytes of a value, and variables of an owner.
const NAME_CHARS: usize = 100;
const VALUE_BYTES: usize = 64 * 1024;
const VARIABLES_MAX: usize = 1_000;
/// Bytes of all values of an owner: whatever comes in is searched for each of them.
const VALUES_BYTES: usize = 1024 * 1024;

/// A variable as responses show it: never with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableView {
    /// Its name.
    pub name: String,
    /// When it was set, epoch seconds.
    pub updated_at: EpochSeconds,
}

impl Platform {
    /// The variables of the caller, or of a workspace, by name.
    ///
    /// # Errors
    /// `Forbidden` in a workspace of others.
    pub async fn variables(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
    ) -> Result<Vec<VariableView>, PlatformError> {
        let owner = self.owner(caller, workspace_id).await?;
        let variables = self.core.store.variables(owner.tenant()).await?.into_iter();
        let views = variables.map(|variable| VariableView {
            name: variable.name,
            updated_at: variable.updated_at,
        });
        Ok(views.collect())
    }

    /// Sets a variable, encrypted. Steps that begin from now on see it.
    ///
    /// # Errors
    /// `Invalid` for a name that is none, and for a value that is too long. `Conflict` for one more than an owner may have,
    /// and for a value that has no room beside the others.
    pub async fn set_variable(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
        name: &str,
        value: &str,
    ) -> Result<VariableView, PlatformError> {
        check_name(name)?;
        if value.len() > VALUE_BYTES {
            let reason = format!("has more than {VALUE_BYTES} bytes; keep it in a data store");
            return Err(PlatformError::invalid("value", reason));
        }
        let owner = self.owner(caller, workspace_id).await?;
        let tenant = owner.tenant();
        // Others that are set at the same time count.
        let _turn = self.variable_changes.lock(&tenant.to_owned()).await;
        let there = self.core.store.variables(tenant).await?;
        check_room(&there, name, value)?;
        let purpose = variable_purpose(tenant, name);
        let variable = Variable {
            name: name.to_owned(),
            value: self
                .secret_keys
                .seal(&self.core.env, &purpose, value.as_bytes())?,
            updated_at: self.core.env.now_at(),
        };
        let updated_at = variable.updated_at;
        self.core.store.set_variable(tenant, variable).await?;
        self.workflows.context().variables.forget(tenant);
        let act = Act::new(AuditAction::VariableSet, "variable", name);
        self.record(caller, act.of(&owner)).await;
        Ok(VariableView {
            name: name.to_owned(),
            updated_at,
        })
    }

    /// Deletes a variable.
    ///
    /// # Errors
    /// `NotFound` when there is none of that name.
    pub async fn delete_variable(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
        name: &str,
    ) -> Result<(), PlatformError> {
        let owner = self.owner(caller, workspace_id).await?;
        let is_deleted = self
            .core
            .store
            .delete_variable(owner.tenant(), name)
            .await?;
        self.workflows.context().variables.forget(owner.tenant());
        match is_deleted {
            true => {
                let act = Act::new(AuditAction::VariableDelete, "variable", name);
                self.record(caller, act.of(&owner)).await;
                Ok(())
            }
            false => Err(PlatformError::not_found("variable", name)),
        }
    }
}

/// Checks that a variable has room beside those that are there. One that takes no more room than before always has.
fn check_room(there: &[Variable], name: &str, value: &str) -> Result<(), PlatformError> {
    let bytes = |variable: &Variable| KeyRing::plain_bytes(&variable.value);
    let before = there.iter().find(|variable| variable.name == name);
    if before.is_none() && there.len() >= VARIABLES_MAX {
        return Err(PlatformError::Conflict(format!(
            "there are {VARIABLES_MAX} variables already; delete one first"
        )));
    }
    let (before, all) = (before.map_or(0, bytes), there.iter().map(bytes).sum());
    let after: usize = value.len() + all - before;
    match after > all && after > VALUES_BYTES {
        true => Err(PlatformError::Conflict(format!(
            "the values of the variables would have {after} bytes together, and {VALUES_BYTES} is the most; delete a \
             variable first, or keep large values in a data store"
        ))),
        false => Ok(()),
    }
}

fn check_name(name: &str) -> Result<(), PlatformError> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = name.len() <= NAME_CHARS
        && name.chars().all(is_word)
        && name
            .chars()
            .next()
            .is_some_and(|first| !first.is_ascii_digit());
    if !is_name {
        let reason = format!(
            "`{name}` is not a name of at most {NAME_CHARS} letters, digits and `_`, such as API_KEY"
        );
        return Err(PlatformError::invalid("name", reason));
    }
    if name.starts_with(OWN_PREFIX) {
        let reason = format!(
            "`{name}`: names that begin with {OWN_PREFIX} are the platform's; use another one"
        );
        return Err(PlatformError::invalid("name", reason));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::environment;

    /// A variable whose value has so many bytes.
    fn variable(name: &str, bytes: usize) -> Variable {
        let sealed = KeyRing::first([7; 32]).seal(&environment(), name, &vec![0; bytes]);
        Variable {
            name: name.to_owned(),
            value: sealed.unwrap(),
            updated_at: EpochSeconds(0),
        }
    }

    #[test]
    fn values_have_room_together_and_one_that_adds_nothing_always_has() {
        let value = |bytes: usize| "x".repeat(bytes);
        let full = [variable("A", VALUES_BYTES - 10), variable("B", 10)];
        for (name, bytes, has_room) in [
            ("B", 10, true),
            ("B", 9, true),
            ("B", 11, false),
            ("C", 0, true),
            ("C", 1, false),
        ] {
            let checked = check_room(&full, name, &value(bytes));
            assert_eq!(checked.is_ok(), has_room, "{name} {bytes}");
        }
        // As former versions let it become.
        let beyond = [variable("A", VALUES_BYTES), variable("B", 10)];
        assert!(check_room(&beyond, "B", &value(10)).is_ok());
        assert!(check_room(&beyond, "A", &value(100)).is_ok());
        let refused = check_room(&beyond, "B", &value(11)).unwrap_err();
        let told = refused.to_string();
        assert!(told.contains("1048587 bytes together"), "{told}");
        assert!(told.contains("delete a variable first"), "{told}");
    }

    #[test]
    fn names_are_those_of_environments() {
        for name in ["A", "_a1", "API_KEY", &"a".repeat(100)] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in [
            "",
            "1A",
            "A-B",
            "A B",
            "Ä",
            "PIPEDREAM_WORKFLOW_ID",
            &"a".repeat(101),
        ] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
