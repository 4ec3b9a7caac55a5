//! The props that the file gives a step, against those that its code declares.
//!
//! Props that are missing are errors, because no run can succeed without them. Values that do not fit, props that the code
//! does not declare, and accounts of apps that the node does not know are warnings: Pipedream runs such steps, and so does
//! this node. Whatever has an expression counts as given, and fits.

use headwater_model::{
    app::AppCatalog,
    error::Invalid,
    prop::{self, ConfiguredProps, PropDefinition, PropKind},
};
use headwater_store::SavedComponent;
use headwater_workflow::{definition::Step, finding::Severity, template::compiled_literal};
use serde_json::{Map, Value};

use crate::error::PlatformError;

/// Things to know about a step.
pub(super) type Remarks = Vec<(Severity, String)>;

/// The way in which the props of a step are looked at.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Leniency {
    /// Whether accounts may be missing, because something else stands in for them.
    pub(super) lacks_accounts: bool,
    /// Whether the code is of another version than the file was written for, which may declare more.
    pub(super) is_other_version: bool,
}

/// Things to say about the props of a step.
///
/// # Errors
/// `InvalidProps` naming the first prop that is missing.
pub(super) fn checked(
    component: &SavedComponent,
    step: &Step,
    apps: &AppCatalog,
    leniency: Leniency,
) -> Result<Remarks, PlatformError> {
    let description = &component.description;
    let mut remarks = Remarks::new();
    // Those may take the place of declared ones, as optional or hidden.
    let may_change = description.has_additional_props;
    for prop in description.props.iter().filter(|prop| prop.is_required()) {
        if step
            .props
            .get(&prop.name)
            .is_some_and(|value| !value.is_null())
        {
            continue;
        }
        let is_account = prop.kind() == PropKind::App;
        let missing = Invalid::new(&prop.name, missing(prop));
        match (is_account, may_change || leniency.is_other_version) {
            (true, _) if leniency.lacks_accounts => {}
            (true, _) if apps.get(prop.app().unwrap_or_default()).is_none() => {
                let (name, why) = (&prop.name, no_app(prop.app(), &prop.name));
                let message =
                    format!("props.{name} is missing, so the code runs without credentials; {why}");
                remarks.push((Severity::Warning, message));
            }
            (false, true) => remarks.push((Severity::Warning, format!("props.{missing}"))),
            (true, _) | (false, false) => {
                return Err(PlatformError::InvalidProps(missing.within("props")));
            }
        }
    }
    remarks.extend(unfit(&description.props, &step.props));
    if !may_change && step.props_cursor.is_none() {
        remarks.extend(unknown(&description.props, &step.props));
    }
    Ok(remarks)
}

/// The way to an account of an app that the catalog lacks.
pub(super) fn no_app(app: Option<&str>, prop: &str) -> String {
    let app = app.unwrap_or("APP");
    format!(
        "the node knows no app `{app}`: add an account with the fields that the code reads (`headwater accounts add {app} --field \
         NAME=VALUE`), and name it: `{prop}: {{ authProvisionId: apn_… }}`"
    )
}

fn missing(prop: &PropDefinition) -> String {
    let name = &prop.name;
    match (prop.kind(), prop.app()) {
        (PropKind::App, app) => {
            let app = app.unwrap_or("APP");
            format!(
                "is missing; connect an account of `{app}` (`headwater accounts connect {app}`, or `accounts add`), and name \
                 it: `{name}: {{ authProvisionId: apn_… }}`"
            )
        }
        (PropKind::DataStore, _) => {
            format!("is missing; name a data store: `{name}: {{ storeId: NAME }}`")
        }
        _ => format!(
            "is missing; give it a value (type {}) below `props`, or declare it `optional: true`",
            prop.type_name
        ),
    }
}

/// Values without expressions that are not of the type of their prop, and cannot be read as it.
fn unfit(definitions: &[PropDefinition], props: &Map<String, Value>) -> Remarks {
    let inputs = definitions
        .iter()
        .filter(|prop| prop.kind() == PropKind::Input);
    let unfit = inputs.filter_map(|definition| {
        let value = compiled_literal(props.get(&definition.name)?)?;
        let value =
            ConfiguredProps::from_iter([(definition.name.clone(), read(definition, value))]);
        let invalid = prop::configure_some(std::slice::from_ref(definition), &value).err()?;
        let message = format!("props.{invalid}; the code gets the value as it is");
        Some((Severity::Warning, message))
    });
    unfit.collect()
}

/// The value as the worker reads it: files written by an editor have text for everything.
fn read(definition: &PropDefinition, value: Value) -> Value {
    let Value::String(text) = &value else {
        // A scalar is text where that is wanted.
        let is_scalar = value.is_number() || value.is_boolean();
        return match definition.type_name == "string" && is_scalar {
            true => Value::from(value.to_string()),
            false => value,
        };
    };
    let json = serde_json::from_str::<Value>(text).ok();
    match (definition.type_name.as_str(), json) {
        ("string", _) => value,
        ("string[]", json) => {
            let list = json.filter(Value::is_array);
            list.unwrap_or_else(|| Value::from(vec![value.clone()]))
        }
        (_, Some(json)) => json,
        (_, None) => value,
    }
}

/// Props that the code does not declare, such as misspelt ones.
fn unknown(definitions: &[PropDefinition], props: &Map<String, Value>) -> Remarks {
    let is_known = |name: &str| definitions.iter().any(|prop| prop.name == name);
    let unknown = props.keys().filter(|name| !is_known(name));
    let declared: Vec<&str> = definitions.iter().map(|prop| prop.name.as_str()).collect();
    let declared = match declared.is_empty() {
        true => "it declares none".to_owned(),
        false => format!("it declares: {}", declared.join(", ")),
    };
    let message = |name: &String| format!("props.{name}: the code has no such prop; {declared}");
    unknown
        .map(|name| (Severity::Warning, message(name)))
        .collect()
}
