//! Replays from a step: which places of an earlier run count for the new one.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    place::{Chosen, Place, PlaceStatus},
    tree::{Root, RunTree},
};
use crate::{
    definition::{Definition, Node, NodeKind, OnError},
    path::{ON_ERROR, Path, Segment},
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
    /// It is a step of the workflow's handler.
    #[error(
        "`{0}` belongs to the workflow's `on_error`, which runs after a failure; replay from the step that failed"
    )]
    InHandler(String),
}

type Places = BTreeMap<Path, Place>;

impl Replay {
    /// A replay of a run from a step on. A path without the index of a loop means its first item.
    ///
    /// # Errors
    /// [`ReplayError`].
    pub fn from_step(
        definition: Arc<Definition>,
        old: &Places,
        from: &Path,
    ) -> Result<Self, ReplayError> {
        if definition.node(from).is_none() {
            return Err(ReplayError::Unknown(from.to_string()));
        }
        if from.is_within(&Path::root().join(ON_ERROR)) {
            return Err(ReplayError::InHandler(from.to_string()));
        }
        let target = begun(old, from).ok_or_else(|| ReplayError::NotBegun(from.to_string()))?;
        let mut keeper = Keeper {
            definition: &definition,
            old,
            target: &target,
            kept: Places::new(),
        };
        keeper.keep();
        let places = keeper.kept;
        let begun = places.iter().map(|(path, place)| (place.position, path));
        let mut begun: Vec<_> = begun.collect();
        begun.sort();
        let root = Root {
            begun: begun.last().map_or(0, |(position, _)| *position),
            ..Root::default()
        };
        let paths = begun.into_iter().map(|(_, path)| path);
        let kept = paths.filter(|path| places[*path].status.is_final());
        let kept = kept.cloned().collect();
        let mut tree = RunTree::load(definition, root, places);
        // They are the new run's own, and are to be written with its first commit.
        tree.changed = tree.places.keys().cloned().collect();
        Ok(Self { tree, kept })
    }
}

/// The place that a path means: itself, or the first that has the indices which it leaves out.
fn begun(old: &Places, from: &Path) -> Option<Path> {
    let meant = old.iter().filter(|(path, _)| is_meant(path, from));
    let first = meant.min_by_key(|(_, place)| place.position);
    first.map(|(path, _)| path.clone())
}

fn is_meant(path: &Path, from: &Path) -> bool {
    let mut wanted = from.segments().iter().peekable();
    let is_fitting = path.segments().iter().all(|segment| match wanted.peek() {
        Some(next) if *next == segment => wanted.next().is_some(),
        _ => matches!(segment, Segment::Index(_)),
    });
    is_fitting && wanted.next().is_none()
}

/// The fate of a place in a replay.
enum Fate {
    /// It counts as it is, with everything in it.
    Kept,
    /// It goes on with the choice that it made.
    Open,
    /// It is done again, with everything in it.
    Again,
}

/// Finds the places of an earlier run that come before the target.
struct Keeper<'a> {
    definition: &'a Definition,
    old: &'a Places,
    target: &'a Path,
    kept: Places,
}

impl<'a> Keeper<'a> {
    /// Keeps what ended in the sequences around the target, the blocks around it as they were chosen, and other branches
    /// as far as they came.
    fn keep(&mut self) {
        let (mut base, mut nodes) = self.definition.sequence_at_root(self.target);
        loop {
            let mut inner = None;
            for node in nodes {
                let path = base.join(node.namespace.as_str());
                if self.target.is_within(&path) {
                    inner = self.enter(&path, node);
                    break;
                }
                self.keep_below(&path);
            }
            match inner {
                Some(next) => (base, nodes) = next,
                None => return,
            }
        }
    }

    /// The sequence inside of a node that has the target; `None` if the node is the target.
    fn enter(&mut self, path: &Path, node: &'a Node) -> Option<(Path, &'a [Node])> {
        if path == self.target {
            return None;
        }
        let place = self.old.get(path)?;
        let handler = path.join(ON_ERROR);
        if let (true, OnError::Steps(steps)) = (self.target.is_within(&handler), &node.on_error) {
            let failed = self.old.range(path.clone()..);
            let failed = failed.take_while(|(found, _)| found.is_within(path));
            let failed = failed.filter(|(found, _)| !found.is_within(&handler));
            let failed = failed.map(|(found, place)| (found.clone(), place.clone()));
            self.kept.extend(failed);
            return Some((handler, steps));
        }
        let mut open = reopened(place);
        if let NodeKind::Loop(each) = &node.kind {
            let index = self.target.index_in(path)?;
            if let Some(Chosen::Round(_) | Chosen::Rounds(_)) = open.chosen {
                open.chosen = Some(Chosen::Round(index));
            }
            self.kept.insert(path.clone(), open);
            for earlier in 0..index {
                self.keep_below(&path.at(earlier));
            }
            return Some((path.at(index), &each.steps));
        }
        self.kept.insert(path.clone(), open);
        let mut inner = None;
        for (name, steps) in node.kind.branches() {
            let base = path.join(name);
            match self.target.is_within(&base) {
                true => inner = Some((base, steps)),
                false => self.keep_below(&base),
            }
        }
        inner
    }

    fn keep_below(&mut self, below: &Path) {
        let old = self.old;
        let places = old.range(below.clone()..);
        let places = places.take_while(|(path, _)| path.is_within(below));
        // The outermost place whose fate is that of everything in it, and whether it is kept.
        let mut around: Option<(&Path, bool)> = None;
        for (path, place) in places {
            let is_kept = match around {
                Some((around, is_kept)) if path.is_within(around) => is_kept,
                _ => match self.fate(path, place) {
                    Fate::Open => {
                        self.kept.insert(path.clone(), reopened(place));
                        continue;
                    }
                    fate => {
                        let is_kept = matches!(fate, Fate::Kept);
                        around = Some((path, is_kept));
                        is_kept
                    }
                },
            };
            if is_kept {
                self.kept.insert(path.clone(), place.clone());
            }
        }
    }

    fn fate(&self, path: &Path, place: &Place) -> Fate {
        let is_good = match place.status {
            PlaceStatus::Succeeded | PlaceStatus::Skipped => true,
            PlaceStatus::Failed => self.was_handled(path),
            PlaceStatus::Running | PlaceStatus::Waiting | PlaceStatus::Cancelled => false,
        };
        match (is_good, &place.chosen) {
            (true, _) => Fate::Kept,
            (false, Some(_)) => Fate::Open,
            (false, None) => Fate::Again,
        }
    }

    /// Whether the run went on behind a place that failed.
    fn was_handled(&self, path: &Path) -> bool {
        let node = self.definition.node(path);
        let handler = path.join(ON_ERROR);
        let steps = self.old.range(handler.clone()..);
        let mut steps = steps.take_while(|(found, _)| found.is_within(&handler));
        let have_ended_well = steps.all(|(_, place)| {
            matches!(place.status, PlaceStatus::Succeeded | PlaceStatus::Skipped)
        });
        have_ended_well && node.is_some_and(|node| node.on_error != OnError::Fail)
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
        phases: Vec::new(),
        ..place.clone()
    }
}
