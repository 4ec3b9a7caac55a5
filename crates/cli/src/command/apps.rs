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
    let query: Vec<_> = arguments.query.into_iter().map(|q| ("q", q)).collect();
    let apps = session.client.first(&["apps"], usize::MAX, &query).await?;
    if apps.data.is_empty() && !session.json {
        output::note(
            "no such app in the catalog; accounts of any app can be stored with `headwater accounts add`",
        );
        return Ok(Exit::Success);
    }
    session.print(&Value::from(apps.data.clone()), |_| listing(&apps.data))?;
    Ok(Exit::Success)
}

fn listing(apps: &[Value]) -> String {
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

/// The way to get an account.
fn connection(app: &Value) -> &'static str {
    match (text(app, "auth_type"), app["connectable"].as_bool()) {
        ("oauth2", Some(true)) => "consent",
        ("oauth2", _) => "consent, once the operator names a client",
        ("fields", _) => "fields",
        _ => "nothing",
    }
}
