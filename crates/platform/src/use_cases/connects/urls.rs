//! The URLs of an app that depend on a user's input.

use headwater_model::{app::AppDefinition, error::Invalid};
use serde_json::{Map, Value};

/// Checks that fields fit where they stand in URLs.
pub(super) fn check_urls(app: &AppDefinition, fields: &Map<String, Value>) -> Result<(), Invalid> {
    let Some(oauth2) = &app.oauth2 else {
        return Ok(());
    };
    for url in [&oauth2.authorize_url, &oauth2.token_url] {
        if let Err(reason) = url.expand(fields) {
            let name = url
                .placeholders()
                .find(|name| reason.contains(&format!("`{name}`")));
            let field = format!("fields.{}", name.unwrap_or_default());
            return Err(Invalid::new(field, reason));
        }
    }
    Ok(())
}
