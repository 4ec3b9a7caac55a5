//! `users`: creates, lists and deletes the users of a node.

use anyhow::Result;
use serde_json::{Value, json};

use crate::arguments::{UsersArguments, UsersCommand};
use crate::confirm;
use crate::exit::Exit;
use crate::output;
use crate::question;
use crate::session::Session;
use crate::source::text;
use crate::table;
use crate::tenant;
use crate::timestamp;
use crate::usage_error::UsageError;

pub(super) async fn run(session: &Session, arguments: UsersArguments) -> Result<Exit> {
    match arguments.command {
        UsersCommand::Create { username, email } => {
            let email = match email {
                Some(email) => email,
                None => ask_email(&username)?,
            };
            create(session, &username, &email).await?;
        }
        UsersCommand::List => list(session).await?,
        UsersCommand::Delete { user, confirmed } => {
            delete(session, &user, confirmed.yes).await?;
        }
    }
    Ok(Exit::Success)
}

fn ask_email(username: &str) -> Result<String> {
    if !question::is_possible() {
        return Err(UsageError(format!(
            "--email: every user has an email address; write `headwater users create {username} --email \
             {username}@example.com`"
        ))
        .into());
    }
    question::ask(&format!("Email address of {username}:"), true)
}

async fn create(session: &Session, username: &str, email: &str) -> Result<()> {
    let body = json!({"username": username, "email": email});
    let user = session.client.post(&["users"], &body).await?;
    session.print(&user, |user| text(user, "api_key").to_owned())?;
    output::tell(&format!(
        "created user {} ({username}); save their API key now, it is not shown again",
        text(&user, "id")
    ));
    Ok(())
}

async fn list(session: &Session) -> Result<()> {
    let users = session.client.list(&["users"]).await?;
    session.print(&Value::from(users.clone()), |_| listing(&users))
}

async fn delete(session: &Session, id_or_username: &str, yes: bool) -> Result<()> {
    let id = tenant::user_id(&session.client, id_or_username).await?;
    let question = format!("Delete user {id_or_username} with their keys?");
    confirm::deletion(&question, yes)?;
    session.client.delete(&["users", &id]).await?;
    session.print(&json!({"id": id}), |_| id.clone())?;
    output::tell("deleted");
    Ok(())
}

/// Users as tables show them, members of a workspace too.
pub(super) fn listing(users: &[Value]) -> table::Listing {
    let rows = users.iter().map(|user| {
        let role = if user["is_admin"] == true {
            "administrator"
        } else {
            ""
        };
        vec![
            text(user, "id").to_owned(),
            text(user, "username").to_owned(),
            text(user, "email").to_owned(),
            role.to_owned(),
            timestamp::listed_seconds(&user["created_at"]),
        ]
    });
    let headers = ["id", "username", "email", "role", "created"];
    table::overview(&headers, &["created"], rows.collect())
}
