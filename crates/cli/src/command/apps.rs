//! `apps`: lists the apps of the node's catalog.

use anyhow::Result;
use serde_json::Value;

use crate::arguments::AppsArguments;
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;
use crate::table;

pub(super) async fn run(session: &Session, arguments: AppsArguments) -> Result<Exit> {
    let wanted = arguments.query;
    let query: Vec<_> = wanted.clone().into_iter().map(|q| ("q", q)).collect();
    let apps = session.client.first(&["apps"], usize::MAX, &query).await?;
    if apps.data.is_empty() && !session.json {
        output::tell(
            "no such app in the catalog; accounts of any app can be stored with `headwater accounts add`",
        );
        return Ok(Exit::Success);
    }
    session.print(&Value::from(apps.data.clone()), |_| {
        match (apps.data.as_slice(), asked(&apps.data, wanted.as_deref())) {
            ([app], _) | (_, Some(app)) => Ok(described(app)),
            (several, None) => listing(several),
        }
    })?;
    Ok(Exit::Success)
}

fn listing(apps: &[Value]) -> table::Listing {
    let rows = apps.iter().map(|app| {
        let fields = app["fields"].as_array().into_iter().flatten();
        let names: Vec<_> = fields.map(|field| text(field, "name")).collect();
        vec![
            text(app, "name_slug").to_owned(),
            text(app, "name").to_owned(),
            connection(app).to_owned(),
            names.join(", "),
        ]
    });
    table::listing(&["app", "name", "connected by", "fields"], rows.collect())
}

/// The app that is called just so.
fn asked<'a>(apps: &'a [Value], wanted: Option<&str>) -> Option<&'a Value> {
    apps.iter()
        .find(|app| Some(text(app, "name_slug")) == wanted)
}

/// An app with its fields, as `accounts add` takes them.
fn described(app: &Value) -> String {
    let mut rows = vec![
        ("app".to_owned(), text(app, "name_slug").to_owned()),
        ("name".to_owned(), text(app, "name").to_owned()),
        ("connected by".to_owned(), connection(app).to_owned()),
    ];
    let scopes = app["scopes"].as_array().into_iter().flatten();
    let scopes: Vec<_> = scopes.filter_map(Value::as_str).collect();
    if !scopes.is_empty() {
        rows.push(("scopes".to_owned(), scopes.join(" ")));
    }
    let card = table::card(rows);
    let fields = app["fields"].as_array().map_or(&[][..], Vec::as_slice);
    if fields.is_empty() {
        return card;
    }
    let fields = fields
        .iter()
        .map(|one| [text(one, "name").to_owned(), about(one)]);
    let fields = table::pairs(["field", "meaning"], fields.collect());
    format!("{card}\n\n{fields}")
}

/// A field in words: for people, whether it may be left out, its values, and its hint.
fn about(field: &Value) -> String {
    let mut about = text(field, "label").to_owned();
    if field["optional"] == true {
        about += " (optional)";
    }
    let values = field["options"].as_array().into_iter().flatten();
    let values: Vec<_> = values.map(|option| text(option, "value")).collect();
    if !values.is_empty() {
        about += &format!(": {}", values.join(" or "));
    }
    match text(field, "hint") {
        "" => about,
        hint => format!("{about}. {hint}"),
    }
}

/// The way to get an account.
fn connection(app: &Value) -> &'static str {
    match (text(app, "auth_type"), app["connectable"].as_bool()) {
        ("oauth2", Some(true)) => "consent",
        ("oauth2", _) => "consent, needs a client",
        ("fields", _) => "fields",
        _ => "nothing",
    }
}
