//! The first user of a store that has none.

use anyhow::Result;
use headwater_platform::{FirstUserOptions, Platform};

use super::{data_dir, setup::Setup};

/// Creates the first user at the first start, with the given key or a new one that is told once.
pub(super) async fn create(app: &Platform, setup: &Setup<'_>) -> Result<()> {
    if !app.is_empty().await? {
        return Ok(());
    }
    let Setup {
        global,
        options,
        data_dir,
        notes,
        ..
    } = setup;
    let given = global.api_key.clone().filter(|key| !key.is_empty());
    let api_key = given.clone().map_or_else(data_dir::new_api_key, Ok)?;
    data_dir.write_api_key(&api_key)?;
    let or =
        |given: &Option<String>, default: &str| given.clone().unwrap_or_else(|| default.to_owned());
    app.create_first_user(FirstUserOptions {
        api_key: api_key.clone(),
        username: or(&options.username, "admin"),
        email: or(&options.email, "admin@localhost"),
    })
    .await?;
    if given.is_none() {
        let kept_in = data_dir.shown_key_path();
        // A journal would keep it for all readers of journals.
        notes.note(&match notes.are_transient() {
            true => format!("API key of the first user (shown once, kept in {kept_in}): {api_key}"),
            false => format!("the API key of the first user is in {kept_in}"),
        });
    }
    Ok(())
}
