//! A node with far more than most have: sources with timers, subscriptions, webhooks of which many hang, and events.

mod fan_out;
mod hanging;
mod large_store;
mod subscribers;
mod timers;

use std::path::Path;

use anyhow::Result;

use crate::{asked::Sizes, report::Report};

pub(super) async fn run(binary: &Path, sizes: &Sizes, report: &mut Report) -> Result<()> {
    timers::run(binary, sizes, report).await?;
    fan_out::run(binary, sizes, report).await?;
    hanging::run(binary, sizes, report).await?;
    large_store::run(binary, sizes, report).await
}
