//! A component's props while they are being filled in: those known by now, those with a value, those
//! still wanted. Asks the node for values that the component computes; asks no person.

use std::collections::HashSet;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};

use super::definition::{self, Element, PropDefinition, PropOption};
use super::given::Given;
use crate::account;
use crate::client::{Client, ClientError};
use crate::output;
use crate::question;
use crate::source::text;
use crate::usage_error::UsageError;

pub(super) type Props = Map<String, Value>;

pub(super) struct Form<'a> {
    pub(super) client: &'a Client,
    component_id: &'a str,
    /// The source that is updated.
    source_id: Option<&'a str>,
    /// The values that it has already; a secret is shown as null, but has a value.
    configured: Props,
    definitions: Vec<PropDefinition>,
    given: Given,
    values: Props,
    /// Props whose values a person chose here; they go when their prop goes.
    asked: HashSet<String>,
    /// Props that are to stay without a value.
    left_out: HashSet<String>,
    shown_alerts: HashSet<String>,
    /// Whether the values are for one run of an action, which goes ahead with the given ones.
    is_for_run: bool,
    /// Whether the component could not say which props it has.
    is_unknown: bool,
}

/// The next step in filling the form in.
pub(super) enum Step {
    /// Something to read.
    Tell(String),
    /// A prop that wants a value.
    Ask(PropDefinition),
}

/// The options that are wanted.
#[derive(Debug, Default)]
pub(super) struct OptionsQuery {
    pub(super) page: u32,
    pub(super) prev_context: Option<Value>,
    pub(super) query: Option<String>,
}

/// A page of options, and the context to request the next one with.
pub(super) struct OptionsPage {
    pub(super) options: Vec<PropOption>,
    pub(super) context: Option<Value>,
}

impl<'a> Form<'a> {
    pub(super) fn new(
        client: &'a Client,
        component: &'a Value,
        given: Given,
        former: Option<&'a Value>,
    ) -> Result<Self> {
        let configured = former.and_then(|source| source["configured_props"].as_object());
        Ok(Self {
            client,
            component_id: text(component, "id"),
            source_id: former.map(|source| text(source, "id")),
            configured: configured.cloned().unwrap_or_default(),
            definitions: definition::definitions(component)?,
            given,
            values: Props::new(),
            asked: HashSet::new(),
            left_out: HashSet::new(),
            shown_alerts: HashSet::new(),
            is_for_run: false,
            is_unknown: false,
        })
    }

    pub(super) fn for_run(self) -> Self {
        Self {
            is_for_run: true,
            ..self
        }
    }

    pub(super) fn into_values(self) -> Props {
        self.values
    }

    /// Whether values may bring further props.
    pub(super) fn may_grow(&self) -> bool {
        self.definitions.iter().any(PropDefinition::reloads_props)
    }

    /// Fills in the values given on the command line, also for the props that these values bring.
    pub(super) async fn fill_in(&mut self) -> Result<()> {
        let mut reload = self.definitions.iter().any(|definition| {
            let has_value = definition.has_default() || self.has_value(definition);
            definition.reloads_props() && has_value
        });
        loop {
            reload |= self.take_given().await?;
            // The node computes the props of an action when it runs it: here only who has to be asked, or a text whose
            // type is not known yet, is worth doing it twice.
            let is_complete = self.is_for_run && self.given.is_empty() && !question::is_possible();
            if !reload || is_complete {
                return Ok(());
            }
            match self.reload().await {
                // A person can give another value instead.
                Err(error) if self.is_for_run && !question::is_possible() && is_refusal(&error) => {
                    output::tell(&format!("{error:#}; the action runs with the given values"));
                    self.is_unknown = true;
                    return Ok(());
                }
                reloaded => reloaded?,
            }
            reload = false;
        }
    }

    /// Takes the values for props that the component could not name: the action may know them.
    pub(super) fn take_unnamed(&mut self) {
        if self.is_unknown {
            self.values.extend(self.given.take_untyped());
        }
    }

    /// Whether one of the props that got a value has others depend on it.
    async fn take_given(&mut self) -> Result<bool> {
        let mut reload = false;
        for definition in &self.definitions {
            let taken = self.given.take(definition);
            let taken = taken.map_err(|invalid| UsageError(invalid.to_string()))?;
            let Some(mut value) = taken else { continue };
            resolve_account(self.client, definition, &mut value).await?;
            self.values.insert(definition.name().to_owned(), value);
            reload |= definition.reloads_props();
        }
        Ok(reload)
    }

    /// Asks the node which props there are with the values so far.
    async fn reload(&mut self) -> Result<()> {
        let answer = self.ask_node("props", json!({})).await;
        let answer = answer.context("cannot compute the component's props for these values")?;
        self.definitions = definition::definitions(&answer)?;
        let (definitions, asked) = (&self.definitions, &self.asked);
        self.values.retain(|name, value| {
            let definition = definitions.iter().find(|prop| prop.name() == name);
            !asked.contains(name)
                || definition.is_some_and(|definition| definition.check(value).is_ok())
        });
        Ok(())
    }

    /// A page of the options that a method of the component gives.
    pub(super) async fn options(&self, prop: &str, query: &OptionsQuery) -> Result<OptionsPage> {
        let mut body = json!({"prop": prop, "page": query.page});
        if let Some(context) = &query.prev_context {
            body["prev_context"] = context.clone();
        }
        if let Some(query) = &query.query {
            body["query"] = query.as_str().into();
        }
        let page = self.ask_node("options", body).await?;
        let options = page["options"].as_array().into_iter().flatten();
        Ok(OptionsPage {
            options: options.map(PropOption::new).collect(),
            context: page.get("context").filter(|it| !it.is_null()).cloned(),
        })
    }

    /// The person's next step; `None` when the form is filled in.
    pub(super) fn next_step(&mut self) -> Option<Step> {
        for definition in &self.definitions {
            if let Some(alert) = self.alert(definition) {
                let alert = alert.to_owned();
                self.shown_alerts.insert(alert.clone());
                return Some(Step::Tell(alert));
            }
            if self.is_missing(definition) {
                return Some(Step::Ask(definition.clone()));
            }
        }
        None
    }

    /// Takes the answer to a question; `None` leaves the prop without a value. An impossible answer,
    /// such as a value for which the component cannot compute its further props, leaves the form as it
    /// was.
    pub(super) async fn answer(
        &mut self,
        asked: &PropDefinition,
        value: Option<Value>,
    ) -> Result<()> {
        let name = asked.name().to_owned();
        let Some(value) = value else {
            self.left_out.insert(name);
            return Ok(());
        };
        self.values.insert(name.clone(), value);
        self.asked.insert(name.clone());
        if !asked.reloads_props() {
            return Ok(());
        }
        let reloaded = self.fill_in().await;
        if reloaded.is_err() {
            self.values.remove(&name);
        }
        reloaded
    }

    pub(super) fn missing(&self) -> impl Iterator<Item = &PropDefinition> {
        let definitions = self.definitions.iter();
        definitions.filter(|definition| self.is_missing(definition))
    }

    /// A misspelt name would silently configure nothing.
    pub(super) fn refuse_unknown(&self) -> Result<(), UsageError> {
        let Some(name) = self.given.left_over() else {
            return Ok(());
        };
        let known: Vec<_> = self.definitions.iter().map(PropDefinition::name).collect();
        Err(UsageError(match known.is_empty() {
            true => format!("the component has no prop {name}, nor any other"),
            false => format!(
                "the component has no prop {name}; it has {}",
                known.join(", ")
            ),
        }))
    }

    fn is_missing(&self, definition: &PropDefinition) -> bool {
        definition.needs_value()
            && !self.has_value(definition)
            && !self.left_out.contains(definition.name())
    }

    fn has_value(&self, definition: &PropDefinition) -> bool {
        let name = definition.name();
        self.values.contains_key(name) || self.configured.contains_key(name)
    }

    /// The alert to show: only for a new deployment, because the author of a change has read it before.
    fn alert<'d>(&self, definition: &'d PropDefinition) -> Option<&'d str> {
        let alert = definition.alert()?;
        let is_new = self.configured.is_empty() && !self.shown_alerts.contains(alert);
        is_new.then_some(alert)
    }

    /// Has the component compute something with all values so far. Those of the source are known at the node: its
    /// secrets nowhere else.
    async fn ask_node(&self, what: &str, mut body: Value) -> Result<Value> {
        body["configured_props"] = self.values.clone().into();
        let path = ["components", self.component_id, what];
        match self.source_id {
            Some(id) => {
                body["source_id"] = id.into();
                self.client.post(&path, &body).await
            }
            None => self.client.post_scoped(&path, body).await,
        }
    }
}

/// The account an app prop names by id or name.
async fn resolve_account(
    client: &Client,
    definition: &PropDefinition,
    value: &mut Value,
) -> Result<()> {
    if let (Element::App, Some(name)) = (definition.element(), value.as_str()) {
        let id = account::find_id(client, name, definition.app())
            .await
            .with_context(|| format!("prop {}", definition.name()))?;
        *value = account::prop_value(&id);
    }
    Ok(())
}

/// Whether the node has answered, and will answer the same again.
fn is_refusal(error: &anyhow::Error) -> bool {
    let refused = error.downcast_ref::<ClientError>();
    refused.is_some_and(|refused| !refused.is_transient())
}
