//! `workflows replay`: a run that has ended is done again, whole or from a step; and the same with many runs, whose
//! number is told before.

mod from;
mod request;
mod several;

use anyhow::Result;
use serde_json::Value;

use self::request::send;
use super::progress;
use crate::arguments::ReplayRunArguments;
use crate::command::replayed;
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;
use crate::table;

pub(super) async fn run(session: &Session, arguments: &ReplayRunArguments) -> Result<Exit> {
    match &arguments.run {
        Some(id) => one(session, id, arguments).await,
        None => several::run(session, arguments).await,
    }
}

async fn one(session: &Session, id: &str, arguments: &ReplayRunArguments) -> Result<Exit> {
    let answer = match send(session, id, arguments).await {
        Ok(answer) => answer,
        Err(error) => return Err(from::explained(session, (id, arguments), error).await),
    };
    if replayed::is_sources(&answer) {
        return replayed::tell(session, &answer);
    }
    if arguments.dry_run {
        session.print(&answer, plan)?;
        output::tell("nothing was started");
        return Ok(Exit::Success);
    }
    let replay = text(&answer, "id");
    if !(session.json && arguments.wait) {
        session.print(&answer, |_| replay.to_owned())?;
    }
    let kept = kept(&answer);
    if !kept.is_empty() && !session.json {
        output::tell(&format!("results used again: {}", kept.join(", ")));
    }
    match arguments.wait {
        true => progress::follow(session, replay).await,
        false => Ok(Exit::Success),
    }
}

/// The steps whose results are used again.
fn kept(answer: &Value) -> Vec<&str> {
    let paths = answer["skips"].as_array().into_iter().flatten();
    paths.filter_map(Value::as_str).collect()
}

fn plan(answer: &Value) -> String {
    let kept = kept(answer);
    let used_again = match kept.is_empty() {
        true => "nothing".to_owned(),
        false => kept.join("\n"),
    };
    table::card(vec![
        (
            "deployment".to_owned(),
            text(answer, "deployment_id").to_owned(),
        ),
        ("used again".to_owned(), used_again),
    ])
}
