//! The values of a source's props, as this node takes them: interfaces are the node's own, accounts are those that are
//! here, and a value that the service keeps to itself is missing until somebody gives it.

use std::collections::BTreeSet;

use headwater_model::prop::{ConfiguredProps, PropDefinition, PropKind};
use serde_json::Value;

use super::accounts::{self, Accounts, Counterpart};
use super::given::GivenProps;
use super::report::{Work, WorkKind};
use crate::source::text;

#[derive(Default)]
pub(super) struct Settings {
    pub(super) configured: ConfiguredProps,
    /// The work without which the source cannot come over.
    pub(super) missing: Vec<Work>,
    /// The props whose values nobody shows.
    hidden: BTreeSet<String>,
}

/// Translates the values of one source.
pub(super) struct Translation<'a> {
    pub(super) source: &'a Value,
    pub(super) definitions: &'a [PropDefinition],
    pub(super) given: &'a GivenProps,
    pub(super) accounts: &'a Accounts,
}

impl Translation<'_> {
    pub(super) fn settings(&self) -> Settings {
        let mut settings = Settings::default();
        for definition in self.definitions {
            match definition.kind() {
                PropKind::Http | PropKind::Db | PropKind::Apphook | PropKind::Inert => {}
                PropKind::App => self.app(definition, &mut settings),
                PropKind::Input | PropKind::Timer | PropKind::DataStore | PropKind::HttpRequest => {
                    self.input(definition, &mut settings)
                }
            }
        }
        self.computed(&mut settings);
        settings
    }

    fn app(&self, definition: &PropDefinition, settings: &mut Settings) {
        let named = self.given.text(self.source, &definition.name);
        match (self.value(&definition.name), named) {
            // Some apps need no account.
            (None, None) => {}
            (value, named) => {
                let value = value.unwrap_or(&Value::Null);
                self.account(&definition.name, definition.app(), value, named, settings);
            }
        }
    }

    fn account(
        &self,
        prop: &str,
        app: Option<&str>,
        value: &Value,
        named: Option<&str>,
        settings: &mut Settings,
    ) {
        match self.accounts.counterpart(app, value, named) {
            Counterpart::Found(id) => {
                let value = crate::account::prop_value(&id);
                settings.configured.insert(prop.to_owned(), value);
            }
            Counterpart::Missing { app, reason } => {
                let flag = self.flag(prop, "ACCOUNT");
                settings.missing.push(WorkKind::Account.work(format!(
                    "its prop {prop} needs an account of {app}, and {reason}: `headwater accounts connect {app}` \
                     connects one, and {flag} chooses one"
                )));
            }
        }
    }

    fn input(&self, definition: &PropDefinition, settings: &mut Settings) {
        let name = &definition.name;
        let is_hidden = definition.is_secret() || self.is_hidden_there(name);
        if is_hidden {
            settings.hidden.insert(name.clone());
        }
        if let Some(value) = self.given.value(self.source, definition) {
            settings.configured.insert(name.clone(), value);
        } else if let Some(value) = self.value(name) {
            settings.configured.insert(name.clone(), value.clone());
        } else if is_hidden && (self.is_configured(name) || definition.is_required()) {
            self.miss(name, "is secret", settings);
        } else if definition.is_required() {
            self.miss(name, "has no value", settings);
        }
    }

    /// Values of props that only the component's own code knows.
    fn computed(&self, settings: &mut Settings) {
        let is_known = |name: &str| self.definitions.iter().any(|known| known.name == name);
        for (name, value) in self.given.others(self.source, self.definitions) {
            if !self.value(name).is_some_and(accounts::is_account) {
                settings.configured.insert(name.to_owned(), value);
            }
        }
        for (name, value) in self.values().filter(|(name, _)| !is_known(name)) {
            if accounts::is_account(value) {
                let named = self.given.text(self.source, name);
                self.account(name, None, value, named, settings);
            } else if self.is_hidden_there(name) {
                settings.hidden.insert(name.clone());
                if !settings.configured.contains_key(name) {
                    self.miss(name, "is secret", settings);
                }
            } else if !value.is_null() && value.get("endpoint_url").is_none() {
                let entry = settings.configured.entry(name.clone());
                entry.or_insert_with(|| value.clone());
            }
        }
    }

    fn miss(&self, prop: &str, fact: &str, settings: &mut Settings) {
        let flag = self.flag(prop, "VALUE");
        settings.missing.push(
            WorkKind::Value.work(format!("its prop {prop} {fact} there: give it with {flag}")),
        );
    }

    fn flag(&self, prop: &str, value: &str) -> String {
        let slug = text(self.source, "name_slug");
        let name = match slug.is_empty() {
            true => text(self.source, "id"),
            false => slug,
        };
        format!("`--prop {name}.{prop}={value}`")
    }

    fn values(&self) -> impl Iterator<Item = (&String, &Value)> {
        let values = self
            .source
            .get("configured_props")
            .and_then(Value::as_object);
        values.into_iter().flatten()
    }

    fn value(&self, prop: &str) -> Option<&Value> {
        let value = self.source.get("configured_props")?.get(prop)?;
        Some(value).filter(|value| !value.is_null())
    }

    fn is_configured(&self, prop: &str) -> bool {
        self.values().any(|(name, _)| name == prop)
    }

    fn is_hidden_there(&self, prop: &str) -> bool {
        let secrets = self.source.get("secret_props");
        secrets.is_some_and(|secrets| secrets.get(prop).is_some())
    }
}

impl Settings {
    /// Whether a source here has these values, as far as anybody can see.
    pub(super) fn are_those_of(&self, here: &Value) -> bool {
        let shown = |name: &str| plain(&here["configured_props"][name]);
        self.configured
            .iter()
            .filter(|(name, _)| !self.hidden.contains(*name))
            .all(|(name, value)| shown(name) == plain(value))
    }
}

/// A value in the one way to write it: timers have two, and nulls say nothing.
fn plain(value: &Value) -> Value {
    let Value::Object(fields) = value else {
        return value.clone();
    };
    let fields = fields.iter().filter(|(_, value)| !value.is_null());
    let fields = fields.map(|(name, value)| match name.as_str() {
        "intervalSeconds" => ("interval_seconds".to_owned(), value.clone()),
        _ => (name.clone(), value.clone()),
    });
    Value::Object(fields.collect())
}
