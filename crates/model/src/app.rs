//! Third-party apps as the node knows them: the parts of an account of one and the way it is connected.
//! Responsible for the rules of a definition and of an account's fields; not for reading definitions,
//! nor for speaking to an app.

mod catalog;
mod template;

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::{
    catalog::AppCatalog,
    template::{UrlTemplate, expand_text},
};
use crate::error::Invalid;

/// The field of `$auth` that holds an OAuth 2 access token.
pub const ACCESS_TOKEN: &str = "oauth_access_token";
/// The field of `$auth` that holds an OAuth 2 refresh token.
pub const REFRESH_TOKEN: &str = "oauth_refresh_token";
/// The field of `$auth` that names the OAuth 2 client that the tokens were given to.
pub const CLIENT_ID: &str = "oauth_client_id";
/// The field of `$auth` that identifies the account at the app.
pub const UID: &str = "oauth_uid";

/// The way an app authenticates callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthType {
    /// By a token that the user's consent gives.
    Oauth2,
    /// By values that the user enters, such as an API key.
    Fields,
    /// It does not ask.
    None,
}

/// An app.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AppDefinition {
    /// Its name in app props.
    #[serde(skip)]
    pub slug: String,
    /// For people.
    pub name: String,
    /// The way it authenticates callers.
    pub auth: AuthType,
    /// The fields that the user enters.
    #[serde(default)]
    pub fields: Vec<AppField>,
    /// The way to get tokens; present if `auth` is `oauth2`.
    pub oauth2: Option<OAuth2>,
    /// A request by which the app says whether credentials are good.
    pub probe: Option<Probe>,
}

/// Something that the user enters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AppField {
    /// Its name in `$auth`.
    pub name: String,
    /// For people; the name if there is none.
    #[serde(default)]
    pub label: String,
    /// Whether its input is hidden.
    #[serde(default)]
    pub secret: bool,
    /// Whether it may be left out.
    #[serde(default)]
    pub optional: bool,
    /// Whether it has several lines, as keys and certificates have.
    #[serde(default)]
    pub multiline: bool,
    /// Whether it is the number of a port.
    #[serde(default)]
    pub port: bool,
    /// The value that forms begin with.
    #[serde(default)]
    pub default: String,
    /// The values that it may have, if it is a choice.
    #[serde(default)]
    pub options: Vec<FieldOption>,
    /// An explanation for people.
    #[serde(default)]
    pub hint: String,
}

/// A value that a field of an account may have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldOption {
    /// The value itself.
    pub value: String,
    /// For people; the value if there is none.
    #[serde(default)]
    pub label: String,
}

/// Parts of the names of fields that hold secrets.
const SECRETS: [&str; 4] = ["key", "token", "secret", "password"];

/// Whether a field of an account is a secret: as the app's definition says, or else its name.
pub fn is_secret_field(app: Option<&AppDefinition>, name: &str) -> bool {
    let defined = app.and_then(|app| app.fields.iter().find(|field| field.name == name));
    match defined {
        Some(field) => field.secret,
        None => {
            let name = name.to_lowercase();
            SECRETS.iter().any(|secret| name.contains(secret))
        }
    }
}

/// An app's OAuth 2 endpoints, and their expectations.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OAuth2 {
    /// URL at which the user consents.
    pub authorize_url: UrlTemplate,
    /// URL that tokens come from.
    pub token_url: UrlTemplate,
    /// URL that a refresh token's successor comes from, if it is not `token_url`.
    pub refresh_url: Option<UrlTemplate>,
    /// URL at which tokens are revoked (RFC 7009).
    pub revocation_url: Option<UrlTemplate>,
    /// The scopes that the node requests.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// The separator of scopes.
    #[serde(default = "space")]
    pub scope_separator: String,
    /// Whether a proof key (RFC 7636, S256) goes along.
    #[serde(default = "yes")]
    pub pkce: bool,
    /// The way the node authenticates as a client at the token endpoint.
    #[serde(default)]
    pub token_auth: TokenAuth,
    /// Parameters of the authorization request beyond the standard's.
    #[serde(default)]
    pub authorize_params: BTreeMap<String, String>,
    /// Fields of `$auth` that are in the token endpoint's answer, each with the JSON pointer to it.
    #[serde(default)]
    pub token_fields: BTreeMap<String, String>,
    /// JSON pointer to how long the access token is good, in seconds, if it is not `/expires_in` of the answer.
    pub expires_in: Option<String>,
    /// Fields of `$auth` that are parameters of the callback, each with the parameter's name.
    #[serde(default)]
    pub callback_fields: BTreeMap<String, String>,
    /// The client that the node is at this app.
    pub client_id: Option<String>,
    /// The secret of the client.
    pub client_secret: Option<ClientSecret>,
}

impl OAuth2 {
    /// The URL at which tokens are renewed.
    pub fn renewal_url(&self) -> &UrlTemplate {
        self.refresh_url.as_ref().unwrap_or(&self.token_url)
    }

    /// Fields that an account has from being connected, not from the user.
    fn own(&self) -> Vec<&str> {
        let of_answers = self.token_fields.keys().chain(self.callback_fields.keys());
        let of_answers = of_answers.map(String::as_str);
        [ACCESS_TOKEN, CLIENT_ID]
            .into_iter()
            .chain(of_answers)
            .collect()
    }
}

/// The way a client authenticates at the token endpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenAuth {
    /// With HTTP basic authentication.
    #[default]
    Basic,
    /// With parameters in the body.
    Body,
}

/// A client's secret. `Debug` shows nothing of it.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct ClientSecret(String);

impl ClientSecret {
    /// The secret itself, for the token endpoint.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ClientSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientSecret")
    }
}

/// A request that succeeds as long as the credentials are good.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// The URL that is asked.
    pub url: UrlTemplate,
    /// With which method.
    #[serde(default)]
    pub method: ProbeMethod,
    /// With which headers; fields in braces. For OAuth 2 the token as a bearer's unless one is named.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// With which JSON body.
    pub body: Option<String>,
    /// JSON pointer to a value of the answer that is true if the credentials are good, for apps whose
    /// status does not tell.
    pub ok: Option<String>,
    /// JSON pointer to the account's identity.
    pub uid: Option<String>,
}

/// The method of a probe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ProbeMethod {
    /// `GET`.
    #[default]
    Get,
    /// `POST`.
    Post,
}

fn space() -> String {
    " ".to_owned()
}

fn yes() -> bool {
    true
}

impl AppDefinition {
    /// The same app under its slug, if the definition can stand. Labels that are missing are filled in.
    ///
    /// # Errors
    /// The field that cannot, and the reason.
    pub fn checked(mut self, slug: &str) -> Result<Self, Invalid> {
        if !is_slug(slug) {
            let reason = "is not a name slug: use lower-case letters, digits, `_` and `-`";
            return Err(Invalid::new("", reason));
        }
        slug.clone_into(&mut self.slug);
        for field in &mut self.fields {
            if field.label.is_empty() {
                field.label.clone_from(&field.name);
            }
            for option in &mut field.options {
                if option.label.is_empty() {
                    option.label.clone_from(&option.value);
                }
            }
        }
        self.check_field_names()?;
        match (self.auth, &self.oauth2) {
            (AuthType::Oauth2, Some(oauth2)) => {
                self.check_oauth2(oauth2).map_err(|e| e.within("oauth2"))?;
            }
            (AuthType::Oauth2, None) => {
                let reason = "is required when `auth` is `oauth2`: its authorize_url and token_url";
                return Err(Invalid::new("oauth2", reason));
            }
            (_, Some(_)) => return Err(Invalid::new("oauth2", "needs `auth = \"oauth2\"`")),
            (AuthType::Fields, None) if self.fields.is_empty() => {
                let reason = "is required when `auth` is `fields`: what the user enters";
                return Err(Invalid::new("fields", reason));
            }
            (AuthType::Fields | AuthType::None, None) => {}
        }
        if let Some(probe) = &self.probe {
            self.check_probe(probe).map_err(|e| e.within("probe"))?;
        }
        Ok(self)
    }

    fn check_field_names(&self) -> Result<(), Invalid> {
        for (index, field) in self.fields.iter().enumerate() {
            let at = format!("fields[{index}].name");
            let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if field.name.is_empty() || !field.name.chars().all(letters) {
                let reason = "must consist of letters, digits and `_`";
                return Err(Invalid::new(at, reason));
            }
            if !field.options.is_empty() && (field.secret || field.multiline) {
                let at = format!("fields[{index}].options");
                let reason = "cannot stand with `secret` or `multiline`: a choice is neither";
                return Err(Invalid::new(at, reason));
            }
            if self.fields[..index].iter().any(|f| f.name == field.name) {
                return Err(Invalid::new(at, format!("`{}` occurs twice", field.name)));
            }
            if [ACCESS_TOKEN, REFRESH_TOKEN].contains(&&*field.name)
                && self.auth == AuthType::Oauth2
            {
                let reason = format!("`{}` comes from the token endpoint", field.name);
                return Err(Invalid::new(at, reason));
            }
        }
        Ok(())
    }

    fn check_oauth2(&self, oauth2: &OAuth2) -> Result<(), Invalid> {
        let urls = [
            ("authorize_url", Some(&oauth2.authorize_url)),
            ("token_url", Some(&oauth2.token_url)),
            ("refresh_url", oauth2.refresh_url.as_ref()),
            ("revocation_url", oauth2.revocation_url.as_ref()),
        ];
        for (name, url) in urls {
            if let Some(url) = url {
                self.check_url(name, url, &[])?;
            }
        }
        if oauth2.client_secret.is_some() && oauth2.client_id.is_none() {
            return Err(Invalid::new(
                "client_id",
                "is required with a client secret",
            ));
        }
        let pointers = oauth2.token_fields.iter();
        for (name, pointer) in pointers {
            check_pointer(&format!("token_fields.{name}"), Some(pointer))?;
        }
        check_pointer("expires_in", oauth2.expires_in.as_deref())
    }

    fn check_probe(&self, probe: &Probe) -> Result<(), Invalid> {
        let own = self.oauth2.as_ref().map_or_else(Vec::new, OAuth2::own);
        self.check_url("url", &probe.url, &own)?;
        for (name, value) in &probe.headers {
            let at = format!("headers.{name}");
            self.check_placeholders(&at, template::placeholders(value), &own)?;
        }
        if let Some(body) = &probe.body
            && serde_json::from_str::<Value>(body).is_err()
        {
            return Err(Invalid::new("body", "must be JSON"));
        }
        check_pointer("ok", probe.ok.as_deref())?;
        check_pointer("uid", probe.uid.as_deref())
    }

    fn check_url(&self, at: &str, url: &UrlTemplate, own: &[&str]) -> Result<(), Invalid> {
        url.check().map_err(|reason| Invalid::new(at, reason))?;
        self.check_placeholders(at, url.placeholders(), own)
    }

    /// A filled-in field must exist for every input of the user.
    fn check_placeholders<'a>(
        &self,
        at: &str,
        names: impl Iterator<Item = &'a str>,
        own: &[&str],
    ) -> Result<(), Invalid> {
        for name in names {
            let is_field = |field: &AppField| field.name == name && !field.optional;
            if !own.contains(&name) && !self.fields.iter().any(is_field) {
                let reason = format!("`{{{name}}}` is not a required field of the app");
                return Err(Invalid::new(at, reason));
            }
        }
        Ok(())
    }

    /// The OAuth 2 endpoints with the client that the node is there, if the operator has named one.
    pub fn client(&self) -> Option<(&OAuth2, &str)> {
        let oauth2 = self.oauth2.as_ref()?;
        Some((oauth2, oauth2.client_id.as_deref()?))
    }

    /// Checks the fields of an account. An OAuth 2 account needs its access token, and may have further
    /// fields that components expect.
    ///
    /// # Errors
    /// The first field that is missing, unknown or no text.
    pub fn check_account(&self, fields: &Map<String, Value>) -> Result<(), Invalid> {
        if self.auth == AuthType::Oauth2 && !is_given(fields.get(ACCESS_TOKEN)) {
            let reason = format!(
                "is required: accounts of `{}` have a token; `headwater accounts connect {}` gets one",
                self.slug, self.slug
            );
            return Err(Invalid::new(format!("fields.{ACCESS_TOKEN}"), reason));
        }
        self.check_entered(fields, self.auth == AuthType::Oauth2)
    }

    /// Checks the values that the user has entered: all that are required, and no others unless `open`.
    ///
    /// # Errors
    /// The first field that is missing, unknown or no text.
    pub fn check_entered(&self, fields: &Map<String, Value>, open: bool) -> Result<(), Invalid> {
        for field in self.fields.iter().filter(|field| !field.optional) {
            if !is_given(fields.get(&field.name)) {
                let reason = format!("is required for accounts of `{}`", self.slug);
                return Err(Invalid::new(format!("fields.{}", field.name), reason));
            }
        }
        for (name, value) in fields {
            let at = format!("fields.{name}");
            if !open && !self.fields.iter().any(|field| field.name == *name) {
                let names: Vec<_> = self.fields.iter().map(|field| &*field.name).collect();
                let reason = format!(
                    "is not a field of `{}`; its fields are: {}; the operator can add one in an apps file",
                    self.slug,
                    names.join(", ")
                );
                return Err(Invalid::new(at, reason));
            }
            if value.is_object() || value.is_array() {
                return Err(Invalid::new(at, "must be text, a number or a boolean"));
            }
            let field = self.fields.iter().find(|field| field.name == *name);
            if let Some(field) = field.filter(|_| is_given(Some(value))) {
                field
                    .check(value)
                    .map_err(|reason| Invalid::new(at, reason))?;
            }
        }
        Ok(())
    }

    /// The fields that must be given and are not.
    pub fn missing<'a>(
        &'a self,
        fields: &'a Map<String, Value>,
    ) -> impl Iterator<Item = &'a AppField> {
        let required = self.fields.iter().filter(|field| !field.optional);
        required.filter(|field| !is_given(fields.get(&field.name)))
    }
}

impl AppField {
    /// Whether a value is one of the options, if there are any, and a port, if it is to be one.
    fn check(&self, value: &Value) -> Result<(), String> {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        if self.port && !text.trim().parse::<u16>().is_ok_and(|port| port > 0) {
            return Err(format!(
                "must be the number of a port, 1 to 65535, not “{text}”"
            ));
        }
        if self.options.is_empty() || self.options.iter().any(|option| option.value == text) {
            return Ok(());
        }
        let values: Vec<_> = self.options.iter().map(|option| &*option.value).collect();
        Err(format!("must be one of: {}", values.join(", ")))
    }
}

fn is_given(value: Option<&Value>) -> bool {
    value.is_some_and(|value| !value.is_null() && value.as_str() != Some(""))
}

fn is_slug(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    !text.is_empty() && text.len() <= 64 && text.chars().all(fits)
}

fn check_pointer(at: &str, pointer: Option<&str>) -> Result<(), Invalid> {
    match pointer {
        Some(pointer) if !pointer.starts_with('/') => {
            let reason = "must be a JSON pointer, such as `/user/id`";
            Err(Invalid::new(at, reason))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
