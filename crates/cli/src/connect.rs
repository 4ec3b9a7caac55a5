//! Connecting an account in a browser, as the command line follows it: the link, then the node's word of how it ended.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::client::Client;
use crate::output;
use crate::source::text;

/// The time that the node holds an answer back for the end; shorter than its own reads may take.
const WAIT_S: u32 = 30;

/// Shows the link, opens it unless that is not wanted, and returns the account once there is one.
pub(crate) async fn follow(client: &Client, link: &Value, no_browser: bool) -> Result<Value> {
    let url = text(link, "url");
    output::tell(&format!(
        "open this link within ten minutes; it works once:\n\n  {url}\n"
    ));
    if !no_browser {
        open(url);
    }
    output::tell("waiting for the account … (Ctrl+C leaves the link as it is)");
    let id = text(link, "id");
    let wait = [("wait_s", WAIT_S.to_string())];
    loop {
        // Each answer comes when the connect has ended, or at the end of the wait.
        let path = ["accounts", "connect", id];
        let connect = client.get_data(&path, &wait).await?;
        match text(&connect, "status") {
            "pending" => {}
            "connected" => {
                let account = text(&connect, "account_id");
                return client.get(&["accounts", account]).await;
            }
            "failed" => bail!("nothing was connected: {}", text(&connect, "reason")),
            "expired" => bail!("the link was not used in time; run the command again"),
            other => {
                bail!(
                    "this program does not know the connect status `{other}`; it may be older than the node"
                )
            }
        }
    }
}

/// In the browser of the desktop. Without one, the link was printed.
pub(crate) fn open(url: &str) {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let opened = Command::new(program)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("no browser");
    if opened.is_err() {
        output::tell("(no browser could be opened here)");
    }
}
