//! The figures of a node that a soak watches.

use std::fmt;

use anyhow::Result;

use crate::{node::Node, report::mib, statistics::median};

/// A look at a node and its workers.
pub(super) struct Vitals {
    node_mib: f64,
    workers_mib: f64,
    store_mib: f64,
    descriptors: f64,
    threads: f64,
    processes: f64,
}

/// A figure's name, its unit, and the figure.
type Each = (&'static str, &'static str, fn(&Vitals) -> f64);

impl Vitals {
    pub(super) const EACH: [Each; 6] = [
        ("memory of the node", "MiB", |vitals| vitals.node_mib),
        ("memory of its workers", "MiB", |vitals| vitals.workers_mib),
        ("store", "MiB", |vitals| vitals.store_mib),
        ("descriptors of the node", "open", |vitals| {
            vitals.descriptors
        }),
        ("threads of the node", "threads", |vitals| vitals.threads),
        ("processes", "processes", |vitals| vitals.processes),
    ];

    pub(super) fn of(node: &Node) -> Result<Self> {
        let process = node.process();
        let own = process.own_proportional_bytes()?;
        Ok(Self {
            node_mib: mib(own),
            workers_mib: mib(process.proportional_bytes()?.saturating_sub(own)),
            store_mib: mib(node.stored_bytes()),
            descriptors: process.descriptors() as f64,
            threads: process.threads() as f64,
            processes: process.tree().len() as f64,
        })
    }

    /// Each figure's middle.
    pub(super) fn median(looks: &[Self]) -> Self {
        let middle = |of: fn(&Self) -> f64| median(&looks.iter().map(of).collect::<Vec<_>>());
        let [
            node_mib,
            workers_mib,
            store_mib,
            descriptors,
            threads,
            processes,
        ] = Self::EACH.map(|(_, _, of)| middle(of));
        Self {
            node_mib,
            workers_mib,
            store_mib,
            descriptors,
            threads,
            processes,
        }
    }
}

impl fmt::Display for Vitals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (which, _, of)) in Self::EACH.iter().enumerate() {
            let separator = if at > 0 { ", " } else { "" };
            write!(f, "{separator}{which} {:.0}", of(self))?;
        }
        Ok(())
    }
}
