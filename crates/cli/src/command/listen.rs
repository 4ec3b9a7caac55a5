//! `listen`: posts a source's events to an address that this machine reaches, one after the other and signed as a
//! webhook gets them, until Ctrl-C. An event that the receiver does not take is told and not sent again: the node's
//! webhooks are for that.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use bytes::Bytes;
use headwater_model::channel::Channel;
use headwater_model::id::EmitterId;
use headwater_model::time::EpochMs;
use headwater_platform::{ForwardedEvent, Signer, WebhookRequest, new_webhook_secret};
use serde_json::{Value, json};
use url::Url;

use super::dev::Signals;
use super::events;
use crate::arguments::ListenArguments;
use crate::client;
use crate::exit::Exit;
use crate::follow::{Follow, Followed};
use crate::output;
use crate::serve::environment;
use crate::session::Session;
use crate::source::text;
use crate::timestamp;
use crate::usage_error::UsageError;

/// As long as a webhook has.
const ANSWER_WITHIN: Duration = Duration::from_secs(15);

pub(super) async fn run(session: &Session, arguments: &ListenArguments) -> Result<Exit> {
    let target = target(&arguments.forward_to)?;
    let secret = match &arguments.secret {
        Some(secret) => secret.clone(),
        None => new_webhook_secret(&environment::system()?),
    };
    let signer = Signer::new(secret.as_bytes()).ok_or_else(|| {
        UsageError(
            "--secret is no secret of a webhook: it begins with whsec_, then base64".to_owned(),
        )
    })?;
    let since = timestamp::given_since(arguments.since.as_deref(), timestamp::now_ms())?;
    let (kind, id) = events::emitter(session, &arguments.source).await?;
    let channel = arguments.channel.iter();
    let filter: Vec<_> = channel
        .map(|channel| ("event_name", channel.clone()))
        .collect();
    let followed = Followed {
        path: &[kind, &id, "event_summaries"],
        filter: &filter,
        feed: &[kind, &id, "sse"],
        channel: arguments.channel.as_deref(),
    };
    let forwarder = Forwarder {
        session,
        http: http_client()?,
        target,
        signer,
    };
    let mut signals = Signals::listen()?;
    let mut follow = Follow::new(&session.client, followed);
    tokio::select! {
        ended = forwarder.forward(&mut follow, since, &secret) => ended?,
        () = signals.next() => {}
    }
    Ok(Exit::Success)
}

struct Forwarder<'a> {
    session: &'a Session,
    http: reqwest::Client,
    target: Url,
    signer: Signer,
}

impl Forwarder<'_> {
    /// Goes on until the source is gone.
    async fn forward(
        &self,
        follow: &mut Follow<'_>,
        since: Option<EpochMs>,
        secret: &str,
    ) -> Result<()> {
        match since {
            // Events of the stream only: listings show those of workflows in another form than webhooks get.
            Some(since) => follow.begin_at(since),
            None => follow.skip_past().await?,
        }
        output::tell(&format!("secret of the signatures: {secret}"));
        output::tell(&format!(
            "events go to {}, signed like those to a webhook; Ctrl-C ends",
            self.target
        ));
        loop {
            for item in &follow.next().await? {
                self.post(item).await?;
            }
        }
    }

    async fn post(&self, item: &Value) -> Result<()> {
        let request = self.request(item)?;
        let begun = Instant::now();
        let post = self.http.post(self.target.clone());
        let answer = post
            .headers(request.headers)
            .body(request.body)
            .send()
            .await;
        let took_ms = begun.elapsed().as_millis();
        let (status, error) = match answer {
            Ok(answer) => (Some(answer.status()), None),
            Err(error) => (None, Some(why(&error))),
        };
        if self.session.json {
            let code = status.map(|status| status.as_u16());
            return output::json_line(&json!({
                "id": item["id"], "event_name": item["metadata"]["name"], "status": code, "error": error,
                "took_ms": took_ms,
            }));
        }
        let told = match (status, error) {
            (Some(status), _) => status.to_string(),
            (None, error) => error.unwrap_or_default(),
        };
        output::data(&format!("{}  →  {told}, {took_ms} ms", events::line(item)))
    }

    fn request(&self, item: &Value) -> Result<WebhookRequest> {
        const EXPECTED: &str = "the node's event has no id of its own and its source";
        let emitter = text(&item["metadata"], "emitter_id").parse::<EmitterId>();
        let channel = Channel::named(text(&item["metadata"], "name"));
        let event = ForwardedEvent {
            emitter: &emitter.context(EXPECTED)?,
            id: text(item, "id").parse().context(EXPECTED)?,
            channel: &channel,
            body: Bytes::from(item["event"].to_string()),
        };
        Ok(WebhookRequest::of_forwarded(
            event,
            &self.signer,
            timestamp::now_ms(),
        ))
    }
}

/// The node's key must not go there, nor follow a redirect.
fn http_client() -> Result<reqwest::Client> {
    client::http_client()
        .timeout(ANSWER_WITHIN)
        .build()
        .context("cannot set up the HTTP client")
}

/// An address, as it is typed for a server on this machine.
fn target(given: &str) -> Result<Url, UsageError> {
    let whole = match given.contains("://") {
        true => given.to_owned(),
        false => format!("http://{given}"),
    };
    let url = Url::parse(&whole).ok();
    let is_http = |url: &Url| matches!(url.scheme(), "http" | "https");
    url.filter(is_http).ok_or_else(|| {
        UsageError(format!(
            "--forward-to {given} is no address; write it as http://localhost:4242/hooks"
        ))
    })
}

/// The reason of a missing answer, in a few words.
fn why(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return format!("no answer within {} s", ANSWER_WITHIN.as_secs());
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_may_be_a_host_and_a_port() {
        for (given, expected) in [
            ("localhost:4242", "http://localhost:4242/"),
            ("127.0.0.1:4242/a?b=1", "http://127.0.0.1:4242/a?b=1"),
            ("https://a.example", "https://a.example/"),
        ] {
            assert_eq!(target(given).unwrap().as_str(), expected);
        }
        assert!(target("ftp://a").is_err());
        assert!(target("").is_err());
    }
}
