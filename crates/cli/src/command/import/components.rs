//! Components: their code is saved here again, in the ways in which it can be had, one after the other.

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::listings::Listings;
use super::report::{Kind, State, Thing, WorkKind};
use super::{Brought, Import, found, id_of, refusal};
use crate::output;
use crate::source::text;

impl Import<'_> {
    /// The caller's own components, where the service lists them. Those without a key can be named by nobody: they come
    /// along with their sources.
    pub(super) async fn components(&mut self, listings: &Listings) -> Result<()> {
        let (published, own): (Vec<_>, Vec<_>) = listings
            .components
            .iter()
            .partition(|component| component["published"] == true);
        let named = own
            .into_iter()
            .filter(|component| !text(component, "key").is_empty());
        for component in named {
            // The report tells how it ended.
            drop(self.component(text(component, "id")).await?);
        }
        if !published.is_empty() {
            self.report.note(format!(
                "the service's registry has {} published components; those that a source runs came over as your own, \
                 and `headwater publish` brings the others here",
                published.len()
            ));
        }
        Ok(())
    }

    /// A component's counterpart here.
    pub(super) async fn component(&mut self, there: &str) -> Result<Brought> {
        if let Some(brought) = self.brought.get(there) {
            return Ok(brought.clone());
        }
        let kept = self.kept_component(there).await?;
        let state = kept.is_some();
        let (name, brought) = match kept {
            Some(component) => (text(&component, "name").to_owned(), Ok(component)),
            None => self.bring(there).await?,
        };
        let mut left = Vec::new();
        if let Err(reason) = &brought {
            left.push(WorkKind::Rewrite.work(reason.clone()));
        }
        self.report.add(Thing {
            kind: Kind::Component,
            name,
            from_id: there.to_owned(),
            id: brought
                .as_ref()
                .ok()
                .map(|component| text(component, "id").to_owned()),
            state: match (state, &brought) {
                (true, _) => State::Kept,
                (false, Ok(_)) => State::Imported,
                (false, Err(_)) => State::Missing,
            },
            left,
        });
        self.brought.insert(there.to_owned(), brought.clone());
        Ok(brought)
    }

    async fn kept_component(&mut self, there: &str) -> Result<Option<Value>> {
        let Some(here) = self.remembered.id(there).map(str::to_owned) else {
            return Ok(None);
        };
        let component = found(self.target.get(&["components", &here]).await)?;
        if component.is_none() {
            self.remembered.forget(there)?;
        }
        Ok(component)
    }

    async fn bring(&mut self, there: &str) -> Result<(String, Brought)> {
        if there.is_empty() {
            return Ok((
                String::new(),
                Err("the service does not say which it is".to_owned()),
            ));
        }
        let Some(component) = self.origin.find(&["components", there]).await? else {
            let reason =
                "the service does not give its code; save it here with `headwater deploy FILE`";
            return Ok((String::new(), Err(reason.to_owned())));
        };
        let name = text(&component, "name").to_owned();
        output::tell(&format!("component {name} ({there})"));
        let brought = self.saved(&component).await?;
        if let Ok(here) = &brought {
            self.remembered.keep(there, &id_of(here)?)?;
        }
        Ok((name, brought))
    }

    async fn saved(&self, component: &Value) -> Result<Brought> {
        let mut refusals = Vec::new();
        for body in bodies(component) {
            match self.target.post_scoped(&["components"], body).await {
                Ok(saved) => return Ok(Ok(saved)),
                Err(error) => refusals.push(refusal(error)?),
            }
        }
        if let Some(published) = self.published(component).await? {
            return Ok(Ok(published));
        }
        let reason = refusals.into_iter().next();
        Ok(Err(reason.unwrap_or_else(|| {
            "the service gives neither its code nor an address of it".to_owned()
        })))
    }

    /// The same version in this node's registry: code of the public registry imports files beside it, which are there.
    async fn published(&self, component: &Value) -> Result<Option<Value>> {
        let (key, version) = (text(component, "key"), text(component, "version"));
        if key.is_empty() || version.is_empty() {
            return Ok(None);
        }
        let reference = format!("{key}@{version}");
        found(
            self.target
                .get(&["components", "registry", &reference])
                .await,
        )
    }
}

/// The requests that may save a component, the most faithful first.
fn bodies(component: &Value) -> Vec<Value> {
    let (code, url) = (text(component, "code"), text(component, "component_url"));
    let mut bodies = Vec::new();
    if !code.trim().is_empty() {
        let mut body = json!({"component_code": code});
        let ranges = ranges(component);
        if !ranges.is_empty() {
            body["component_dependencies"] = ranges.into();
        }
        if !url.is_empty() {
            body["component_url"] = url.into();
        }
        bodies.push(body);
    }
    // Modules beside the code are found from its address only.
    if !url.is_empty() {
        bodies.push(json!({"component_url": url}));
    }
    bodies
}

/// The version ranges of the packages that the code imports without one. A package that it also imports at its latest
/// version has one of the code's own.
fn ranges(component: &Value) -> Map<String, Value> {
    let packages = component["packages"].as_array().into_iter().flatten();
    let ranged = packages.filter(|package| !text(package, "range").is_empty());
    let (latest, ranged): (Vec<_>, Vec<_>) =
        ranged.partition(|package| matches!(text(package, "range"), "*" | "latest"));
    let is_latest = |name: &str| latest.iter().any(|package| text(package, "name") == name);
    ranged
        .into_iter()
        .map(|package| (text(package, "name").to_owned(), package["range"].clone()))
        .filter(|(name, _)| !is_latest(name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranges_of_a_manifest_go_along_with_the_code() {
        let component = json!({"code": "export default {}", "packages": [
            {"name": "axios", "version": "1.7.2", "range": "^1.7"},
            {"name": "lodash", "version": "4.17.21", "range": "*"},
            {"name": "follow-redirects", "version": "1.15.6"},
        ]});
        let expected = json!({
            "component_code": "export default {}",
            "component_dependencies": {"axios": "^1.7"},
        });
        assert_eq!(bodies(&component), [expected]);
        assert!(bodies(&json!({"code": null})).is_empty());
    }
}
