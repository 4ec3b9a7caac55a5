//! The command line of what leaves the node: `webhooks`, `deliveries` and `subscriptions`.

use clap::{Args, Subcommand, ValueEnum};
use headwater_model::webhook::DeliveryOrder;

#[derive(Debug, Args)]
pub(crate) struct WebhooksArguments {
    #[command(subcommand)]
    pub(crate) command: WebhooksCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WebhooksCommand {
    /// Make a webhook; its secret is shown this once
    Create(CreateWebhookArguments),
    /// List the webhooks
    List,
    /// Show a webhook
    Describe(WebhookArgument),
    /// Change a webhook's URL, name, description or ordering
    Update(UpdateWebhookArguments),
    /// Deliver events again, also after the node has given the webhook up
    Activate(WebhookArgument),
    /// Deliver no more events; those that wait become dead letters
    Deactivate(WebhookArgument),
    /// Give a webhook another secret; the one before stays valid for a day
    RotateSecret(RotateSecretArguments),
    /// Deliver the events of a time range once more
    Replay(ReplayArguments),
    /// Delete a webhook with its subscriptions and deliveries
    Delete(WebhookArgument),
}

#[derive(Debug, Args)]
pub(crate) struct WebhookArgument {
    /// Webhook: its id or name
    #[arg(value_name = "ID_OR_NAME")]
    pub(crate) webhook: String,
}

#[derive(Debug, Args)]
pub(crate) struct CreateWebhookArguments {
    /// Where events are POSTed to
    #[arg(value_name = "WEBHOOK_URL")]
    pub(crate) address: String,
    /// Name to find the webhook by
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Whether each source's events go out one after the other, or side by side; strict when left out
    #[arg(long)]
    pub(crate) ordering: Option<WebhookOrdering>,
}

#[derive(Debug, Args)]
pub(crate) struct UpdateWebhookArguments {
    /// Webhook: its id or name
    #[arg(value_name = "ID_OR_NAME")]
    pub(crate) webhook: String,
    /// New address that events are POSTed to
    #[arg(long, value_name = "WEBHOOK_URL")]
    pub(crate) address: Option<String>,
    /// New name; empty takes it away
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// New description; empty takes it away
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Whether each source's events go out one after the other, or side by side
    #[arg(long)]
    pub(crate) ordering: Option<WebhookOrdering>,
}

/// In which order a webhook gets a source's events.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum WebhookOrdering {
    /// One after the other, while the webhook takes them
    Strict,
    /// Side by side
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
    /// Secret of your own: whsec_ and 24 to 64 bytes in base64, `-` to read it from standard input; with no
    /// value it is asked for, hidden. A new one is made without this flag
    #[arg(long, value_name = "SECRET", num_args = 0..=1)]
    pub(crate) secret: Option<Option<String>>,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// Webhook: its id or name
    #[arg(value_name = "ID_OR_NAME")]
    pub(crate) webhook: String,
    /// Events of this time and later: 2026-01-31T12:00:00Z, 2026-01-31 or epoch milliseconds
    #[arg(long, value_name = "TIME")]
    pub(crate) since: String,
    /// Events until this time; until now otherwise
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Those that were delivered, too; only dead letters otherwise
    #[arg(long)]
    pub(crate) delivered: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DeliveriesArguments {
    #[command(subcommand)]
    pub(crate) command: DeliveriesCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DeliveriesCommand {
    /// List a webhook's deliveries, newest first
    List(ListDeliveriesArguments),
    /// Show a delivery with its attempts
    Describe(DeliveryArgument),
    /// Attempt a delivery at once, with the whole schedule before it if it had ended
    Retry(DeliveryArgument),
}

#[derive(Debug, Args)]
pub(crate) struct ListDeliveriesArguments {
    /// Webhook: its id or name
    #[arg(value_name = "ID_OR_NAME")]
    pub(crate) webhook: String,
    /// Only those in this state
    #[arg(long)]
    pub(crate) state: Option<DeliveryState>,
    /// How many of the latest deliveries to show
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,
}

/// As the API names them.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum DeliveryState {
    Pending,
    Delivered,
    Dead,
}

#[derive(Debug, Args)]
pub(crate) struct DeliveryArgument {
    /// Delivery: its id
    #[arg(value_name = "ID")]
    pub(crate) delivery: String,
}

#[derive(Debug, Args)]
pub(crate) struct SubscriptionsArguments {
    #[command(subcommand)]
    pub(crate) command: SubscriptionsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SubscriptionsCommand {
    /// Subscribe a source or a webhook to the events of sources
    #[command(visible_alias = "add")]
    Create(SubscriptionArguments),
    /// List the subscriptions
    List,
    /// End a subscription
    Delete(SubscriptionArguments),
}

#[derive(Debug, Args)]
pub(crate) struct SubscriptionArguments {
    /// Who emits: a source's id or name, dc_* for all sources, or your own u_… or o_… id
    #[arg(long, value_name = "ID_OR_NAME", required_unless_present = "auto")]
    pub(crate) emitter: Option<String>,
    /// Who receives: a webhook's or a source's id or name
    #[arg(long, value_name = "ID_OR_NAME")]
    pub(crate) listener: String,
    /// Channel, such as $errors; the default one when left out
    #[arg(long, value_name = "NAME", required_if_eq("auto", "true"))]
    pub(crate) channel: Option<String>,
    /// Automatically, to $errors or $logs of every source deployed from now on
    #[arg(long, conflicts_with = "emitter")]
    pub(crate) auto: bool,
}
