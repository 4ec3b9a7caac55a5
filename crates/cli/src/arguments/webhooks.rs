//! The command line of `webhooks` and `subscriptions`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use headwater_model::webhook::DeliveryOrder;

use super::{channel, confirmed::Confirmed};

#[derive(Debug, Args)]
pub(crate) struct WebhooksArguments {
    #[command(subcommand)]
    pub(crate) command: WebhooksCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WebhooksCommand {
    /// Create a webhook and show its secret, once; with --from, send it a source's events
    Create(CreateWebhookArguments),
    /// List the webhooks
    List,
    /// Show a webhook
    Describe(WebhookArgument),
    /// Change a webhook's URL, name, description or ordering
    Update(UpdateWebhookArguments),
    /// Reactivate a webhook, including one disabled after failures
    Activate(WebhookArgument),
    /// Deactivate a webhook; its pending deliveries become dead letters
    Deactivate(WebhookArgument),
    /// Give a webhook a new secret; the former one stays valid for 24 hours
    RotateSecret(RotateSecretArguments),
    /// Send a test event now and show the answer
    Test(WebhookArgument),
    /// Check the signature of a saved request, without a node
    Verify(VerifyArguments),
    /// Deliver dead letters again, all or those of a time range
    Replay(ReplayArguments),
    /// Delete a webhook with its subscriptions and deliveries
    Delete(DeleteWebhookArguments),
}

#[derive(Debug, Args)]
pub(crate) struct WebhookArgument {
    /// Webhook: its id or name
    #[arg(value_name = "ID_OR_NAME")]
    pub(crate) webhook: String,
}

#[derive(Debug, Args)]
pub(crate) struct DeleteWebhookArguments {
    /// Webhook: its id or name
    #[arg(value_name = "ID_OR_NAME")]
    pub(crate) webhook: String,
    #[command(flatten)]
    pub(crate) confirmed: Confirmed,
}

#[derive(Debug, Args)]
pub(crate) struct CreateWebhookArguments {
    /// URL that events are POSTed to
    #[arg(value_name = "WEBHOOK_URL")]
    pub(crate) address: String,
    /// Source whose events it gets, by its id or name; repeatable, and dc_* for all sources
    #[arg(long, value_name = "SOURCE")]
    pub(crate) from: Vec<String>,
    /// With --from: the channel, such as $errors [default: the default channel]
    #[arg(long, value_name = "NAME", requires = "from", value_parser = channel::named)]
    pub(crate) channel: Option<String>,
    /// Name to find the webhook by
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Purpose of the webhook
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Order of each source's events [default: strict]
    #[arg(long)]
    pub(crate) ordering: Option<WebhookOrdering>,
}

#[derive(Debug, Args)]
pub(crate) struct UpdateWebhookArguments {
    /// Webhook: its id or name
    #[arg(value_name = "ID_OR_NAME")]
    pub(crate) webhook: String,
    /// New URL that events are POSTed to
    #[arg(long, value_name = "WEBHOOK_URL")]
    pub(crate) address: Option<String>,
    /// New name; an empty one removes it
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// New description; an empty one removes it
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Order of each source's events
    #[arg(long)]
    pub(crate) ordering: Option<WebhookOrdering>,
}

/// The order in which a webhook gets a source's events.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum WebhookOrdering {
    /// One after the other, while the webhook accepts them
    Strict,
    /// In parallel
    None,
}

impl From<WebhookOrdering> for DeliveryOrder {
    fn from(given: WebhookOrdering) -> Self {
        match given {
            WebhookOrdering::Strict => Self::Strict,
            WebhookOrdering::None => Self::Unordered,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct RotateSecretArguments {
    /// Webhook: its id or name
    #[arg(value_name = "ID_OR_NAME")]
    pub(crate) webhook: String,
    /// Your own secret: whsec_ and 24 to 64 bytes in base64, or - to read it from standard input;
    /// without a value you are asked for it, hidden [default: a new random secret]
    #[arg(long, value_name = "SECRET", num_args = 0..=1)]
    pub(crate) secret: Option<Option<String>>,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// File with the body as it was received, or - for standard input
    #[arg(value_name = "BODY_FILE")]
    pub(crate) body: PathBuf,
    /// Header webhook-id
    #[arg(long)]
    pub(crate) id: String,
    /// Header webhook-timestamp
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timestamp: u64,
    /// Header webhook-signature, with one signature or several
    #[arg(long, value_name = "SIGNATURES")]
    pub(crate) signature: String,
    /// Secret of the webhook, or - to read it from standard input [default: you are asked for it, hidden]
    #[arg(long)]
    pub(crate) secret: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// Webhook: its id or name
    #[arg(value_name = "ID_OR_NAME")]
    pub(crate) webhook: String,
    /// Events of this time and later: 90s, 30m or 1h ago, or 2026-01-31T12:00:00Z, 2026-01-31 or epoch milliseconds
    /// [default: all dead letters]
    #[arg(long, value_name = "TIME", required_if_eq_any([("delivered", "true"), ("missed", "true")]))]
    pub(crate) since: Option<String>,
    /// Events until this time, given likewise [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Also repeat successful deliveries, not only dead letters
    #[arg(long)]
    pub(crate) delivered: bool,
    /// Send kept events of which it has no delivery instead, such as those that came while it was paused
    #[arg(long, conflicts_with = "delivered")]
    pub(crate) missed: bool,
    /// Count them, and send nothing
    #[arg(long, requires = "missed")]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SubscriptionsArguments {
    #[command(subcommand)]
    pub(crate) command: SubscriptionsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SubscriptionsCommand {
    /// Subscribe a webhook, a source or a workflow to the events of sources or workflows
    #[command(visible_alias = "add")]
    Create(SubscriptionArguments),
    /// List the subscriptions
    List,
    /// Delete a subscription
    Delete(DeleteSubscriptionArguments),
}

#[derive(Debug, Args)]
pub(crate) struct DeleteSubscriptionArguments {
    #[command(flatten)]
    pub(crate) subscription: SubscriptionArguments,
    #[command(flatten)]
    pub(crate) confirmed: Confirmed,
}

#[derive(Debug, Args)]
pub(crate) struct SubscriptionArguments {
    /// Emitter: a source's id or name, a workflow's id, dc_* or p_* for all of them, your own u_… or a workspace's o_… id
    #[arg(long, value_name = "ID_OR_NAME", required_unless_present = "auto")]
    pub(crate) emitter: Option<String>,
    /// Listener: a webhook's or a source's id or name, or a workflow's id
    #[arg(long, value_name = "ID_OR_NAME")]
    pub(crate) listener: String,
    /// Channel, such as $errors [default: the default channel]
    #[arg(
        long,
        value_name = "NAME",
        required_if_eq("auto", "true"),
        value_parser = channel::named
    )]
    pub(crate) channel: Option<String>,
    /// Subscribe to $errors or $logs of every source deployed from now on
    #[arg(long, conflicts_with = "emitter")]
    pub(crate) auto: bool,
}
