//! Replays from a step: which places of an earlier run count for the new one.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    place::{Chosen, Place, PlaceStatus},
    tree::{Root, RunTree},
};
use crate::{
    definition::{Definition, Node, NodeKind, OnError},
    path::Path,
};

/// The state that a replay begins with.
#[derive(Debug, Clone)]
pub struct Replay {
    /// The run as it begins.
    pub tree: RunTree,
    /// The places whose results are used again and whose code does not run, in the order in which they began.
    pub kept: Vec<Path>,
}

/// Why a run cannot be replayed from a place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The definition has no such step.
    #[error("the deployment has no step `{0}`; replay the whole run, or with `--same`")]
    Unknown(String),
    /// The run did not come that far.
    #[error("the run never began `{0}`; replay it from a step that it began")]
    NotBegun(String),
}

impl Replay {
    /// A replay of a run from a step on. A path without the index of a loop means its first item.
    ///
    /// # Errors
    /// [`ReplayError`].
    pub fn from_step(definition: Arc<Definition>, old: &BTreeMap<Path, Place>, from: &Path) -> Result<Self, ReplayError> {
        if definition.node(from).is_none() {
            return Err(ReplayError::Unknown(from.to_string()));
        }
        let from = begun(old, from).ok_or_else(|| ReplayError::NotBegun(from.to_string()))?;
        let mut places = BTreeMap::new();
        keep(&definition, old, &from, &mut places);
        let mut begun: Vec<_> = places.iter().map(|(path, place)| (place.position, path.clone())).collect();
        begun.sort();
        let root = Root { begun: begun.last().map_or(0, |(position, _)| *position), ..Root::default() };
        let is_kept = |path: &Path| places[path].status.is_final();
        let kept = begun.into_iter().map(|(_, path)| path).filter(is_kept).collect();
        let tree = RunTree::load(definition, root, places);
        Ok(Self { tree, kept })
    }
}

/// The place that a path means: itself, or with the first index in each loop that it leaves out.
fn begun(old: &BTreeMap<Path, Place>, from: &Path) -> Option<Path> {
    if old.contains_key(from) {
        return Some(from.clone());
    }
    let meant = old.iter().filter(|(path, _)| path.without_indices() == from.without_indices());
    let first = meant.min_by_key(|(_, place)| place.position);
    first.map(|(path, _)| path.clone())
}

/// Keeps everything before the target: what ended in the sequences around it, the blocks around it as they were
/// chosen, and other branches as far as they came.
fn keep(definition: &Definition, old: &BTreeMap<Path, Place>, target: &Path, places: &mut BTreeMap<Path, Place>) {
    let (mut base, mut nodes) = definition.sequence_at_root(target);
    loop {
        let mut inner = None;
        for node in nodes {
            let path = base.join(node.namespace.as_str());
            if target.is_within(&path) {
                inner = enter((&path, node), definition, (old, target), places);
                break;
            }
            keep_below((definition, old), &path, places);
        }
        match inner {
            Some(next) => (base, nodes) = next,
            None => return,
        }
    }
}

/// The sequence inside of a node that has the target; `None` if the node is the target.
fn enter<'d>(
    (path, node): (&Path, &'d Node),
    definition: &Definition,
    (old, target): (&BTreeMap<Path, Place>, &Path),
    places: &mut BTreeMap<Path, Place>,
) -> Option<(Path, &'d [Node])> {
    if path == target {
        return None;
    }
    let place = old.get(path)?;
    if let OnError::Steps(steps) = &node.on_error {
        let handler = path.join("on_error");
        if target.is_within(&handler) {
            keep_below((definition, old), path, places);
            places.retain(|kept, _| !kept.is_within(&handler));
            return Some((handler, steps));
        }
    }
    places.insert(path.clone(), reopened(place));
    if let NodeKind::Loop(each) = &node.kind {
        let index = target.index_in(path)?;
        for earlier in 0..index {
            keep_below((definition, old), &path.at(earlier), places);
        }
        if let Some(open) = places.get_mut(path)
            && let Some(Chosen::Rounds(_)) = open.chosen
        {
            open.chosen = Some(Chosen::Round(index));
        }
        return Some((path.at(index), &each.steps));
    }
    let branches: Vec<_> = node.kind.branches();
    let mut inner = None;
    for (name, steps) in branches {
        let base = path.join(name);
        match target.is_within(&base) {
            true => inner = Some((base, steps)),
            false => keep_below((definition, old), &base, places),
        }
    }
    inner
}

/// Keeps what ended well, and failures that were handled; whatever else stood there is done again.
fn keep_below(
    (definition, old): (&Definition, &BTreeMap<Path, Place>),
    below: &Path,
    places: &mut BTreeMap<Path, Place>,
) {
    for (path, place) in old.iter().filter(|(path, _)| path.is_within(below)) {
        let is_handled = || definition.node(path).is_some_and(|node| node.on_error != OnError::Fail);
        let is_kept = match place.status {
            PlaceStatus::Succeeded | PlaceStatus::Skipped => true,
            PlaceStatus::Failed => is_handled(),
            PlaceStatus::Running | PlaceStatus::Waiting | PlaceStatus::Cancelled => false,
        };
        if is_kept {
            places.insert(path.clone(), place.clone());
        }
    }
}

/// A block that is to run on with the choice that it had.
fn reopened(place: &Place) -> Place {
    Place {
        status: PlaceStatus::Running,
        failure: None,
        ended_at_ms: None,
        wait: None,
        early: None,
        ..place.clone()
    }
}
