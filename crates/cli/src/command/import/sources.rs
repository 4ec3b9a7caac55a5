//! Sources: each is deployed here with the values that it has there, or not at all.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use headwater_model::prop::PropDefinition;
use reqwest::Method;
use serde_json::{Value, json};

use super::listings::Listings;
use super::report::{Kind, State, Thing, Work, WorkKind};
use super::settings::{Settings, Translation};
use super::{Import, id_of, refusal};
use crate::output;
use crate::source::{self, text};

/// The sources that are here, by id.
type Here = BTreeMap<String, Value>;

/// The end of one source.
struct Outcome {
    state: State,
    /// Its record here.
    here: Option<Value>,
    left: Vec<Work>,
}

impl Outcome {
    fn missing(left: Vec<Work>) -> Self {
        Self {
            state: State::Missing,
            here: None,
            left,
        }
    }

    fn is(state: State, here: Value) -> Self {
        Self {
            state,
            here: Some(here),
            left: Vec::new(),
        }
    }
}

impl Import<'_> {
    pub(super) async fn sources(&mut self, listings: &Listings) -> Result<()> {
        let here = self.target.list_scoped(&["users", "me", "sources"]).await?;
        let here: Here = here
            .into_iter()
            .map(|source| (text(&source, "id").to_owned(), source))
            .collect();
        let count = listings.sources.len();
        for (index, source) in listings.sources.iter().enumerate() {
            let outcome = self.source(source, &here).await?;
            let (place, name) = (index + 1, text(source, "name"));
            let done = match outcome.state {
                State::Imported => "imported",
                State::Kept => "here already",
                State::Missing => "missing",
            };
            output::tell(&format!("[{place}/{count}] source {name}: {done}"));
            let is_new = outcome.state == State::Imported;
            self.tell(source, outcome);
            if is_new {
                // Its events are not to be missed while the other sources come over.
                self.subscriptions(listings).await?;
            }
        }
        Ok(())
    }

    fn tell(&mut self, source: &Value, mut outcome: Outcome) {
        if let Some(here) = &outcome.here {
            outcome.left.extend(moved_endpoint(source, here));
        }
        let here = outcome.here.as_ref();
        self.report.add(Thing {
            kind: Kind::Source,
            name: text(source, "name").to_owned(),
            from_id: text(source, "id").to_owned(),
            id: here.map(|here| text(here, "id").to_owned()),
            state: outcome.state,
            left: outcome.left,
        });
    }

    async fn source(&mut self, source: &Value, here: &Here) -> Result<Outcome> {
        let there = text(source, "id");
        if let Some(id) = self.remembered.id(there).map(str::to_owned) {
            if let Some(record) = here.get(&id) {
                self.finish(&id).await?;
                return Ok(Outcome::is(State::Kept, record.clone()));
            }
            self.remembered.forget(there)?;
        }
        let component_id = text(source, "component_id");
        let Ok(component) = self.component(component_id).await? else {
            let reason = format!("its component {component_id} did not come over");
            return Ok(Outcome::missing(vec![WorkKind::Rewrite.work(reason)]));
        };
        let definitions: Vec<PropDefinition> =
            serde_json::from_value(component["configurable_props"].clone())
                .context("cannot read the component's props in the node's answer")?;
        let translation = Translation {
            source,
            definitions: &definitions,
            given: &self.given,
            accounts: &self.accounts,
        };
        let settings = translation.settings();
        if !settings.missing.is_empty() {
            return Ok(Outcome::missing(settings.missing));
        }
        if let Some(twin) = self.twin(source, &component, &settings, here).await? {
            self.keep(source, &id_of(&twin)?).await?;
            return Ok(Outcome::is(State::Kept, twin));
        }
        self.deploy(source, &component, settings).await
    }

    /// A source here that is the same already: an import that was cut off did not remember it.
    async fn twin(
        &self,
        source: &Value,
        component: &Value,
        settings: &Settings,
        here: &Here,
    ) -> Result<Option<Value>> {
        let same_name = here.values().filter(|candidate| {
            !text(source, "name").is_empty()
                && text(candidate, "name") == text(source, "name")
                && self.is_in_place(candidate)
                && !self.remembered.is_taken(text(candidate, "id"))
                && settings.are_those_of(candidate)
        });
        for candidate in same_name {
            let id = text(candidate, "component_id");
            let code = self.target.get(&["components", id]).await?;
            if text(&code, "code_hash") == text(component, "code_hash") {
                return Ok(Some(candidate.clone()));
            }
        }
        Ok(None)
    }

    async fn deploy(
        &mut self,
        source: &Value,
        component: &Value,
        settings: Settings,
    ) -> Result<Outcome> {
        let mut body = json!({
            "component_id": component["id"],
            "configured_props": settings.configured,
        });
        if !text(source, "name").is_empty() {
            body["name"] = source["name"].clone();
        }
        if source["isolated"] == true {
            body["isolated"] = true.into();
        }
        let deployed = match self.target.post_scoped(&["sources"], body).await {
            Ok(deployed) => deployed,
            Err(error) => {
                let reason = refusal(error)?;
                return Ok(Outcome::missing(vec![WorkKind::Rewrite.work(reason)]));
            }
        };
        self.keep(source, &id_of(&deployed)?).await?;
        let warnings = deployed["warnings"].as_array().into_iter().flatten();
        let left = warnings.filter_map(Value::as_str);
        let left = left
            .map(|warning| WorkKind::Rewrite.work(warning))
            .collect();
        Ok(Outcome {
            left,
            ..Outcome::is(State::Imported, deployed)
        })
    }

    /// Remembers a source, and switches it off if it is off there.
    async fn keep(&mut self, source: &Value, here: &str) -> Result<()> {
        let there = text(source, "id");
        if source["active"] != false {
            return self.remembered.keep(there, here);
        }
        self.remembered.keep_to_switch_off(there, here)?;
        self.finish(here).await
    }

    /// Switches a source off that was to be, if that is still to be done.
    async fn finish(&mut self, here: &str) -> Result<()> {
        if !self.remembered.is_to_switch_off(here) {
            return Ok(());
        }
        let path = ["sources", here];
        let off = json!({"active": false});
        self.target.send(Method::PATCH, &path, &off).await?;
        self.remembered.switched_off(here)
    }
}

/// The new address of a source that is called over HTTP.
fn moved_endpoint(there: &Value, here: &Value) -> Option<Work> {
    let new = source::endpoints(here);
    if new.is_empty() {
        return None;
    }
    let new = new.join(", ");
    Some(WorkKind::Tell.work(match source::endpoints(there) {
        old if old.is_empty() => format!("it is called at {new} now"),
        old => format!("it is called at {new} now, instead of {}", old.join(", ")),
    }))
}
