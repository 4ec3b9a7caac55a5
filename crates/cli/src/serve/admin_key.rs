//! `keys reset`: a new key for the administrator, created in the data folder of a stopped node. A user
//! who may write the folder may do anything with the node, so nothing else is asked.

use anyhow::{Context as _, Result, bail};

use super::{data_dir::DataDir, store::NodeStore};
use crate::{arguments::Global, exit::Exit, output};

/// The new key's name.
const NAME: &str = "reset";

/// Makes the key, keeps it where the command line finds it, and prints it.
pub(crate) async fn reset(global: &Global, database_url: Option<&str>) -> Result<Exit> {
    let shown = global.data_dir.display();
    if database_url.is_none() && !DataDir::is_at(&global.data_dir) {
        bail!(
            "there is no embedded store in {shown}; name the node's data folder with --data-dir, or its database \
             with --database-url"
        );
    }
    let opened = NodeStore::open(&global.data_dir, database_url).await;
    let (data_dir, store) = match database_url {
        Some(_) => opened,
        None => opened.with_context(|| format!("stop the node in {shown} first, if it runs")),
    }?;
    prepare(&store)
        .await
        .inspect_err(|_| data_dir.leave_as_found())?;
    let env = store.environment()?;
    let new = headwater_platform::create_admin_key(&*store.store, &env, NAME).await?;
    data_dir.write_api_key(&new.secret)?;
    output::data(&new.secret)?;
    output::tell(&format!(
        "created key {} ({NAME}) for the administrator, stored in {}; start the node, then revoke lost \
         keys with `headwater keys list` and `headwater keys revoke`",
        new.key.id,
        data_dir.shown_key_path()
    ));
    Ok(Exit::Success)
}

/// Makes the store ready, of which no node may be the holder.
async fn prepare(store: &NodeStore) -> Result<()> {
    if let Some(holder) = store.holder().await? {
        bail!(
            "the node {} has the database; stop it first",
            holder.as_str()
        );
    }
    match store.prepare().await? {
        true => Ok(()),
        false => bail!("a node was started on the database at this moment; stop it first"),
    }
}
