//! The listener for mail to workflows.

use std::{fs, net::SocketAddr, path::Path, sync::Arc};

use anyhow::{Context as _, Result};
use headwater_mail::receive::{Settings, serve, tls_config};
use headwater_platform::{Platform, WorkflowMail};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::arguments::ServeArguments;
use crate::usage_error::UsageError;

/// A listener that accepts nothing yet.
pub(super) struct MailListener {
    listener: TcpListener,
    settings: Settings,
}

/// Binds the address for mail, if one is given.
///
/// # Errors
/// A `UsageError` when an option is missing or cannot be read; the address is in use.
pub(super) async fn bind(options: &ServeArguments) -> Result<Option<MailListener>> {
    let tls = match (&options.smtp_tls_cert, &options.smtp_tls_key) {
        (None, None) => None,
        (Some(cert), Some(key)) => {
            let tls = tls_config(
                &read("--smtp-tls-cert", cert)?,
                &read("--smtp-tls-key", key)?,
            );
            Some(tls.map_err(|error| UsageError(format!("--smtp-tls-cert: {error}")))?)
        }
        (Some(_), None) => {
            return Err(UsageError::missing("--smtp-tls-key", "--smtp-tls-cert").into());
        }
        (None, Some(_)) => {
            return Err(UsageError::missing("--smtp-tls-cert", "--smtp-tls-key").into());
        }
    };
    let Some(address) = options.smtp_listen else {
        return match tls {
            Some(_) => Err(UsageError::missing("--smtp-listen", "--smtp-tls-cert").into()),
            None => Ok(None),
        };
    };
    let listener = TcpListener::bind(address).await;
    let listener =
        listener.with_context(|| format!("--smtp-listen: cannot listen on {address}"))?;
    Ok(Some(MailListener {
        listener,
        settings: Settings {
            tls,
            ..Settings::default()
        },
    }))
}

impl MailListener {
    /// The address that it is bound to.
    pub(super) fn address(&self) -> Result<SocketAddr> {
        Ok(self.listener.local_addr()?)
    }

    /// Takes mail until `stopping`; ends once everything that was being taken is durable or refused.
    pub(super) fn start(self, app: &Arc<Platform>, stopping: CancellationToken) -> JoinHandle<()> {
        let host_name = app.config().mail_host.clone();
        let settings = Settings {
            host_name: host_name.clone(),
            ..self.settings
        };
        let mailboxes = WorkflowMail::new(Arc::clone(app), host_name);
        tokio::spawn(serve(
            self.listener,
            settings,
            Arc::new(mailboxes),
            stopping,
        ))
    }
}

/// The host of mail addresses: the one that is given, or that of the node's URL.
pub(super) fn host(options: &ServeArguments, public_url: &str) -> String {
    let given = options.smtp_host.clone().filter(|host| !host.is_empty());
    let of_url = || Url::parse(public_url).ok()?.host_str().map(str::to_owned);
    given
        .or_else(of_url)
        .unwrap_or_else(|| "localhost".to_owned())
}

fn read(option: &str, path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("{option}: cannot read {}", path.display()))
}
