//! A fleet of sources, deployed over a node's API.

use std::{
    collections::HashMap,
    fmt,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::Result;
use serde_json::json;

use super::schedule::PERIOD;
use crate::{
    deploying::{Order, deploy_all},
    node::{Api, Node},
    polled::Polled,
};

/// A node takes them over several connections, as from several people.
const DEPLOYERS: usize = 8;
/// Time for saving the first ones, which is not part of a fleet's schedule.
const HEAD_START: Duration = Duration::from_millis(100);

/// The usual way to poll.
const PLATFORM: &str = r#"import { axios } from "@pipedream/platform";
export default {
  name: "Polls", version: "0.0.1",
  props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 60 } }, url: "string", db: "$.service.db" },
  async run() {
    const found = await axios(this, { url: this.url });
    if (found.is_new) this.$emit(found, { id: found.n });
  },
};"#;
/// Packages that no other source shares, with a client and a cache that live as long as the module.
const OWN_PACKAGES: &str = r#"import axios from "axios";
import { LRUCache } from "lru-cache";
const client = axios.create({ timeout: 30_000 });
const seen = new LRUCache({ max: 100 });
export default {
  name: "Polls", version: "0.0.1",
  props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 60 } }, url: "string", db: "$.service.db" },
  async run() {
    const { data: found } = await client.get(this.url);
    if (found.is_new && !seen.has(found.n)) this.$emit(found, { id: found.n });
    seen.set(found.n, true);
  },
};"#;

/// The packages of a fleet's components.
#[derive(Clone, Copy)]
pub(super) enum Code {
    Platform,
    OwnPackages,
}

/// Sources that poll, and how they share workers; without an isolation as nodes do by themselves.
#[derive(Clone, Copy)]
pub(super) struct Fleet {
    pub(super) sources: usize,
    pub(super) owners: usize,
    /// Different ones among all owners; an owner has its part of them, or one.
    pub(super) components: usize,
    pub(super) code: Code,
    pub(super) isolation: Option<&'static str>,
}

/// A fleet on its node.
pub(super) struct Running {
    pub(super) node: Node,
    /// The moment at which each source's deployment was asked for, from which its ticks count.
    pub(super) due: HashMap<usize, Instant>,
}

impl Fleet {
    /// Starts a node and deploys the sources, spread over a period.
    pub(super) async fn start(&self, binary: &Path, polled: &Polled) -> Result<Running> {
        let mut flags = vec!["--allow-private-network"];
        if let Some(isolation) = self.isolation {
            flags.extend(["--isolation", isolation]);
        }
        let mut node = Node::start(binary, &flags).await?;
        let owners = self.save(&mut node).await?;
        let begun = Instant::now() + HEAD_START;
        let per_owner = DEPLOYERS.div_ceil(self.owners);
        let mut lists = Vec::new();
        for (owner, (api, components)) in owners.iter().enumerate() {
            for deployer in 0..per_owner {
                let first = owner + deployer * self.owners;
                let own = (first..self.sources).step_by(self.owners * per_owner);
                let orders = own.map(|number| Order {
                    number,
                    at: begun + PERIOD.mul_f64(number as f64 / self.sources as f64),
                    component: components[number / self.owners % components.len()].clone(),
                    props: json!({ "url": polled.url(number) }),
                });
                lists.push((api.again().await?, orders.collect()));
            }
        }
        let placed = deploy_all(lists).await?.into_iter();
        let due = placed.map(|placed| (placed.number, placed.asked)).collect();
        Ok(Running { node, due })
    }

    /// The owners, each with the components that they have saved.
    async fn save(&self, node: &mut Node) -> Result<Vec<(Api, Vec<String>)>> {
        let each = (self.components / self.owners).max(1);
        let mut owners = Vec::new();
        for owner in 0..self.owners {
            let mut api = match self.owners {
                1 => node.connect().await?,
                _ => node.user(&format!("owner{owner}")).await?,
            };
            let mut saved = Vec::new();
            for component in 0..each {
                saved.push(
                    api.save(&self.code((owner * each + component) % self.components))
                        .await?,
                );
            }
            owners.push((api, saved));
        }
        Ok(owners)
    }

    fn code(&self, component: usize) -> String {
        let code = match self.code {
            Code::Platform => PLATFORM,
            Code::OwnPackages => OWN_PACKAGES,
        };
        code.replace("\"Polls\"", &format!("\"Polls {component}\""))
    }
}

impl fmt::Display for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            sources,
            owners,
            components,
            code,
            isolation,
        } = self;
        write!(f, "{sources} sources")?;
        match (owners, components) {
            (1, 1) => write!(f, " of one owner and component")?,
            (1, components) => write!(f, " of {components} components")?,
            (owners, components) => write!(f, " of {owners} owners and {components} components")?,
        }
        if let Code::OwnPackages = code {
            write!(f, " with packages and state of its own")?;
        }
        if let Some(isolation) = isolation {
            write!(f, ", isolation {isolation}")?;
        }
        Ok(())
    }
}
