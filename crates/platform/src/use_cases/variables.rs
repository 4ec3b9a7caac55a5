//! Variables, which steps of workflows see as `process.env` (docs/guide/workflows.md, "Variables").

use headwater_model::{id::WorkspaceId, time::EpochSeconds};
use headwater_store::Variable;

use crate::{
    audit::{Act, AuditAction},
    caller::Caller,
    error::PlatformError,
    platform::Platform,
    secrets::variable_purpose,
};

/// Characters of a name, bytes of a value, and variables of an owner.
const NAME_CHARS: usize = 100;
const VALUE_BYTES: usize = 64 * 1024;
const VARIABLES_MAX: usize = 1_000;
/// Bytes of all values of an owner, sealed: whatever comes in is searched for each of them.
const VALUES_BYTES: usize = 1024 * 1024;
/// The beginning of names that the platform sets.
const RESERVED: &str = "PIPEDREAM_";

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
    /// `Invalid` for a name that is none, and for a value that is too long.
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
        let there = self.core.store.variables(tenant).await?;
        if there.len() >= VARIABLES_MAX && there.iter().all(|variable| variable.name != name) {
            return Err(PlatformError::Conflict(format!(
                "there are {VARIABLES_MAX} variables already; delete one first"
            )));
        }
        let others = there.iter().filter(|variable| variable.name != name);
        let bytes: usize = others.map(|variable| variable.value.0.len()).sum();
        if bytes + value.len() > VALUES_BYTES {
            return Err(PlatformError::Conflict(format!(
                "the variables would have more than {VALUES_BYTES} bytes together; keep large values in a data store"
            )));
        }
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
    if name.starts_with(RESERVED) {
        let reason = format!(
            "`{name}`: names that begin with {RESERVED} are the platform's; use another one"
        );
        return Err(PlatformError::invalid("name", reason));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check_name;

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
