//! Apps of the catalog. The node's client secrets are not known here.

use headwater_model::app;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The apps to list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AppsQuery {
    /// Part of the slug or the name.
    pub(crate) q: Option<String>,
}

/// An app that the node knows.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct App {
    /// Its name in app props.
    name_slug: String,
    /// For people.
    name: String,
    auth_type: AuthType,
    /// The fields that the user enters.
    fields: Vec<AppField>,
    /// The scopes that the node requests, with OAuth 2.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scopes: Vec<String>,
    /// Whether accounts can be connected in a browser: the app asks for something, and with OAuth 2 the operator has named
    /// the node's client.
    connectable: bool,
}

/// The way an app authenticates callers.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum AuthType {
    Oauth2,
    Fields,
    None,
}

/// Something that the user enters.
#[derive(Debug, Serialize, ToSchema)]
struct AppField {
    /// Its name in `$auth`.
    name: String,
    /// For people.
    label: String,
    /// Whether its input is hidden.
    secret: bool,
    /// Whether it may be left out.
    optional: bool,
    /// Whether it has several lines.
    multiline: bool,
    /// Whether it is the number of a port.
    port: bool,
    /// The value that forms begin with.
    #[serde(skip_serializing_if = "String::is_empty")]
    default: String,
    /// The values that it may have, if it is a choice.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    options: Vec<AppFieldOption>,
    /// An explanation for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    hint: String,
}

/// A value that a field may have.
#[derive(Debug, Serialize, ToSchema)]
struct AppFieldOption {
    value: String,
    /// For people.
    label: String,
}

impl From<&app::FieldOption> for AppFieldOption {
    fn from(option: &app::FieldOption) -> Self {
        Self {
            value: option.value.clone(),
            label: option.label.clone(),
        }
    }
}

impl From<&app::AppDefinition> for App {
    fn from(app: &app::AppDefinition) -> Self {
        let fields = app.fields.iter().map(|field| AppField {
            name: field.name.clone(),
            label: field.label.clone(),
            secret: field.secret,
            optional: field.optional,
            multiline: field.multiline,
            port: field.port,
            default: field.default.clone(),
            options: field.options.iter().map(AppFieldOption::from).collect(),
            hint: field.hint.clone(),
        });
        let oauth2 = app.oauth2.as_ref();
        Self {
            name_slug: app.slug.clone(),
            name: app.name.clone(),
            fields: fields.collect(),
            scopes: oauth2.map(|it| it.scopes.clone()).unwrap_or_default(),
            connectable: match app.auth {
                app::AuthType::Oauth2 => app.client().is_some(),
                app::AuthType::Fields => true,
                app::AuthType::None => false,
            },
            auth_type: match app.auth {
                app::AuthType::Oauth2 => AuthType::Oauth2,
                app::AuthType::Fields => AuthType::Fields,
                app::AuthType::None => AuthType::None,
            },
        }
    }
}
