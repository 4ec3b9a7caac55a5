//! `pause` and `resume`: switch a source off and on.

use anyhow::Result;
use reqwest::Method;
use serde_json::json;

use super::show;
use crate::exit::Exit;
use crate::session::Session;
use crate::source;

pub(super) async fn run(session: &Session, id_or_name: &str, active: bool) -> Result<Exit> {
    let id = source::find_id(&session.client, id_or_name).await?;
    let body = json!({"active": active});
    let path = ["sources", id.as_str()];
    let source = session.client.send(Method::PATCH, &path, &body).await?;
    session.print(&source, show::brief)?;
    Ok(Exit::Success)
}
