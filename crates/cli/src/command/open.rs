//! `open`: the web UI in a browser, signed in by a link that is good once.

use anyhow::Result;
use serde_json::json;

use crate::arguments::OpenArguments;
use crate::connect;
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;

pub(super) async fn run(session: &Session, arguments: &OpenArguments) -> Result<Exit> {
    let link = session.client.post(&["sign_in_links"], &json!({})).await?;
    let url = text(&link, "url");
    session.print(&link, |link| text(link, "url").to_owned())?;
    output::tell("this link signs one browser in, once, within ten minutes");
    if !arguments.no_browser && !session.json {
        connect::open(url);
    }
    Ok(Exit::Success)
}
