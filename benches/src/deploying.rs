//! Deploying many sources over a node's API, each at its time.

use std::time::Instant;

use anyhow::Result;
use serde_json::Value;
use tokio::task::JoinSet;

use crate::{
    node::{Api, Source},
    receiver::now_ms,
};

/// A source to be deployed.
pub(crate) struct Order {
    pub(crate) number: usize,
    pub(crate) at: Instant,
    pub(crate) component: String,
    pub(crate) props: Value,
}

/// A source, and the moment at which its deployment was asked for: its ticks count from there.
pub(crate) struct Placed {
    pub(crate) number: usize,
    pub(crate) source: Source,
    pub(crate) asked: Instant,
    /// The same in milliseconds since the epoch, whole ones as the node counts them.
    pub(crate) asked_ms: f64,
}

/// Carries out the orders of each connection, one after the other; the connections side by side.
pub(crate) async fn deploy_all(lists: Vec<(Api, Vec<Order>)>) -> Result<Vec<Placed>> {
    let mut deployers = JoinSet::new();
    for (api, orders) in lists {
        deployers.spawn(deploy(api, orders));
    }
    let mut placed = Vec::new();
    while let Some(joined) = deployers.join_next().await {
        placed.extend(joined??);
    }
    Ok(placed)
}

async fn deploy(mut api: Api, orders: Vec<Order>) -> Result<Vec<Placed>> {
    let mut placed = Vec::new();
    for order in orders {
        tokio::time::sleep_until(order.at.into()).await;
        let (asked, asked_ms) = (Instant::now(), now_ms().floor());
        placed.push(Placed {
            number: order.number,
            source: api.deploy_with(&order.component, order.props).await?,
            asked,
            asked_ms,
        });
    }
    Ok(placed)
}
