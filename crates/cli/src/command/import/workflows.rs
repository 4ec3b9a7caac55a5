//! Workflows and variables, of which a service gives no more than the names: they are compared with those that are here.

use std::collections::BTreeSet;

use anyhow::Result;
use serde_json::Value;

use super::Import;
use super::listings::Listings;
use super::report::{Kind, State, Thing, WorkKind};
use crate::source::text;

impl Import<'_> {
    /// Remembers the counterparts of workflows, for subscriptions, and tells which are missing.
    pub(super) async fn workflows(&mut self, listings: &Listings) -> Result<()> {
        let here = self.target.list_scoped(&["workflows"]).await?;
        let Some(workflows) = &listings.workflows else {
            self.report.note(
                "this service lists no workflows: `headwater workflows import` brings them over from a synced \
                 repository or an exported project",
            );
            // A workflow that was brought over from its repository has kept its id.
            let ends = listings.subscriptions.iter();
            let ends = ends.flat_map(|one| [text(one, "emitter_id"), text(one, "listener_id")]);
            for id in ends.collect::<BTreeSet<_>>() {
                if here.iter().any(|workflow| text(workflow, "id") == id) {
                    self.remembered.keep(id, id)?;
                }
            }
            return Ok(());
        };
        for workflow in workflows {
            let id = counterpart(workflow, &here).map(|here| text(here, "id").to_owned());
            let there = text(workflow, "id");
            if let Some(id) = &id {
                self.remembered.keep(there, id)?;
            }
            let deploy = "deploy its folder here: `headwater workflows deploy FOLDER`";
            self.name(Kind::Workflow, text(workflow, "name"), there, id, || {
                WorkKind::Elsewhere.work(deploy)
            });
        }
        Ok(())
    }

    /// Tells which variables have no value here.
    pub(super) async fn variables(&mut self, listings: &Listings) -> Result<()> {
        if listings.variables.is_empty() {
            return Ok(());
        }
        let here = self.target.list_scoped(&["variables"]).await?;
        for variable in &listings.variables {
            let name = text(variable, "name");
            let known = here.iter().find(|known| text(known, "name") == name);
            let id = known.map(|_| name.to_owned());
            self.name(Kind::Variable, name, name, id, || {
                WorkKind::Value.work(format!("enter it with `headwater variables set {name}`"))
            });
        }
        Ok(())
    }

    fn name(
        &mut self,
        kind: Kind,
        name: &str,
        there: &str,
        id: Option<String>,
        work: impl FnOnce() -> super::report::Work,
    ) {
        self.report.add(Thing {
            kind,
            name: name.to_owned(),
            from_id: there.to_owned(),
            state: match id {
                Some(_) => State::Kept,
                None => State::Missing,
            },
            left: match id {
                Some(_) => Vec::new(),
                None => vec![work()],
            },
            id,
        });
    }
}

/// The workflow here with the same id, or the only one of the same name.
fn counterpart<'a>(workflow: &Value, here: &'a [Value]) -> Option<&'a Value> {
    let same = |field: &'static str| {
        here.iter()
            .filter(move |known| text(known, field) == text(workflow, field))
    };
    same("id").next().or_else(|| {
        let mut named = same("name");
        let first = named.next();
        first.filter(|_| named.next().is_none())
    })
}
