//! The scope of a place: which results its code sees as `steps`.
//!
//! Earlier steps of its own sequence and of the sequences around it; behind a block only the block's own result; never
//! steps of other branches.

use serde_json::json;

use super::{
    exported::Exported,
    failure::Failure,
    place::{Chosen, Place, PlaceStatus},
    tree::RunTree,
};
use crate::{
    definition::{Loop, Mode, Node, NodeKind, OnError},
    path::{ON_ERROR, Path},
};

const RETURN_VALUE: &str = "$return_value";
const ERROR: &str = "$error";

/// Entries of `steps`, by namespace.
type Scope = Vec<(String, Exported)>;

impl RunTree {
    /// The entries of `steps` for code at a place; `trigger` is not among them.
    pub fn scope(&self, path: &Path) -> Scope {
        let mut scope = Scope::new();
        let (base, nodes) = self.definition.sequence_at_root(path);
        self.collect(&base, nodes, path, &mut scope);
        scope
    }

    /// The `wait` blocks of the sequence of a place and of those around it, begun or not: code there knows their URLs.
    pub fn waits(&self, path: &Path) -> Vec<(&str, Path)> {
        let mut waits = Vec::new();
        let (base, nodes) = self.definition.sequence_at_root(path);
        waits_around(&base, nodes, path, &mut waits);
        waits
    }

    /// The result of the workflow: the exports of the last step that ran.
    pub fn result(&self) -> Option<Exported> {
        self.last_of(&Path::root(), &self.definition.steps)
    }

    fn collect(&self, base: &Path, nodes: &[Node], target: &Path, scope: &mut Scope) {
        for node in nodes {
            let path = base.join(node.namespace.as_str());
            if !target.is_within(&path) {
                self.add(&path, node, scope);
                continue;
            }
            self.enter(&path, node, target, scope);
            return;
        }
    }

    fn add(&self, path: &Path, node: &Node, scope: &mut Scope) {
        if let Some(entry) = self.entry(path, node) {
            scope.push((node.namespace.as_str().to_owned(), entry));
        }
    }

    /// The scope inside of a node, or of its own questions.
    fn enter(&self, path: &Path, node: &Node, target: &Path, scope: &mut Scope) {
        if let OnError::Steps(steps) = &node.on_error {
            let base = path.join(ON_ERROR);
            if target.is_within(&base) {
                self.add(path, node, scope);
                return self.collect(&base, steps, target, scope);
            }
        }
        if let NodeKind::Loop(each) = &node.kind {
            return self.enter_loop(path, (node, each), target, scope);
        }
        for (name, steps) in node.kind.branches() {
            let base = path.join(name);
            if target.is_within(&base) {
                return self.collect(&base, steps, target, scope);
            }
        }
        // A step that runs again sees what it exported before.
        if matches!(node.kind, NodeKind::Step(_)) && target == path {
            self.add_own(path, node, scope);
        }
    }

    fn add_own(&self, path: &Path, node: &Node, scope: &mut Scope) {
        let Some(place) = self.places.get(path) else {
            return;
        };
        if !place.exports.is_empty() {
            let own = Exported::Object(exports(place));
            scope.push((node.namespace.as_str().to_owned(), own));
        }
    }

    fn enter_loop(
        &self,
        path: &Path,
        (node, each): (&Node, &Loop),
        target: &Path,
        scope: &mut Scope,
    ) {
        let Some(place) = self.places.get(path) else {
            return;
        };
        let index = match (target.index_in(path), &place.chosen) {
            (Some(index), _) => index,
            // The question before the next round sees the last one.
            (None, Some(Chosen::Round(index))) => *index,
            (None, _) => return,
        };
        let namespace = node.namespace.as_str().to_owned();
        scope.push((namespace, Exported::Object(item_fields(place, each, index))));
        self.collect(&path.at(index), &each.steps, target, scope);
    }

    /// The result of a block that has ended, as `$return_value` of its entry shows it.
    pub fn block_result(&self, path: &Path) -> Option<Exported> {
        let node = self.definition.node(path)?;
        let place = self.places.get(path)?;
        let has_ended = place.status == PlaceStatus::Succeeded;
        has_ended.then(|| self.block_value(path, node, place))?
    }

    /// The entry of a node that has ended; `None` if it was skipped or did not begin.
    fn entry(&self, path: &Path, node: &Node) -> Option<Exported> {
        let place = self.places.get(path)?;
        if !matches!(place.status, PlaceStatus::Succeeded | PlaceStatus::Failed) {
            return None;
        }
        let mut fields = exports(place);
        if place.status == PlaceStatus::Failed {
            fields.retain(|(name, _)| name != RETURN_VALUE);
            if let Some(failure) = &place.failure {
                fields.push((ERROR.to_owned(), Exported::Json(failure.shown())));
            }
        } else if let Some(value) = self.block_value(path, node, place) {
            fields.push((RETURN_VALUE.to_owned(), value));
        }
        Some(Exported::Object(fields))
    }

    fn block_value(&self, path: &Path, node: &Node, place: &Place) -> Option<Exported> {
        match (&node.kind, &place.chosen) {
            (NodeKind::IfElse(_) | NodeKind::Switch(_), Some(Chosen::Branch(taken))) => {
                let (name, steps) = node.kind.taken(*taken)?;
                self.last_of(&path.join(name), steps)
            }
            (NodeKind::Parallel(parallel), Some(Chosen::Branches(taken))) => {
                let branches = parallel
                    .branches
                    .iter()
                    .zip(taken)
                    .filter(|(_, taken)| **taken);
                let fields = branches.filter_map(|(branch, _)| {
                    let base = path.join(&branch.name);
                    let value = self.settled(&base, &branch.steps, parallel.mode)?;
                    Some((branch.name.clone(), value))
                });
                Some(Exported::Object(fields.collect()))
            }
            (NodeKind::Loop(each), Some(Chosen::Items(count) | Chosen::Rounds(count))) => {
                let values = (0..*count).map(|index| self.item_value(&path.at(index), each));
                Some(Exported::Array(values.collect()))
            }
            _ => None,
        }
    }

    /// The result of an item: the return value of its last step, or its error.
    fn item_value(&self, base: &Path, each: &Loop) -> Exported {
        let null = || Exported::Json(json!(null));
        match self.settled(base, &each.steps, each.mode) {
            Some(entry) if entry.field(ERROR).is_some() && entry.field(RETURN_VALUE).is_none() => {
                match self.sequence_failure(base, &each.steps) {
                    Some(_) => entry,
                    None => null(),
                }
            }
            Some(entry) => entry.field(RETURN_VALUE).cloned().unwrap_or_else(null),
            None => null(),
        }
    }

    /// The result of a sequence that may have failed under `settle`.
    fn settled(&self, base: &Path, steps: &[Node], mode: Mode) -> Option<Exported> {
        match self.sequence_failure(base, steps) {
            Some(failure) if mode == Mode::Settle => {
                let error = (ERROR.to_owned(), Exported::Json(failure.shown()));
                Some(Exported::Object(vec![error]))
            }
            _ => self.last_of(base, steps),
        }
    }

    /// The failure that ended a sequence, if one did.
    pub(super) fn sequence_failure(&self, base: &Path, nodes: &[Node]) -> Option<&Failure> {
        nodes.iter().find_map(|node| {
            let path = base.join(node.namespace.as_str());
            let place = self.places.get(&path)?;
            if place.status != PlaceStatus::Failed {
                return None;
            }
            match &node.on_error {
                OnError::Fail => place.failure.as_ref(),
                OnError::Continue => None,
                OnError::Steps(steps) => self.sequence_failure(&path.join(ON_ERROR), steps),
            }
        })
    }

    /// The entry of the last node of a sequence that has one.
    fn last_of(&self, base: &Path, nodes: &[Node]) -> Option<Exported> {
        let mut entries = nodes.iter().rev();
        entries.find_map(|node| self.entry(&base.join(node.namespace.as_str()), node))
    }
}

fn waits_around<'a>(
    base: &Path,
    nodes: &'a [Node],
    target: &Path,
    waits: &mut Vec<(&'a str, Path)>,
) {
    for node in nodes {
        let path = base.join(node.namespace.as_str());
        if target.is_within(&path) {
            let handler = match &node.on_error {
                OnError::Steps(steps) => Some((path.join(ON_ERROR), steps.as_slice())),
                OnError::Fail | OnError::Continue => None,
            };
            let item = target.index_in(&path).and_then(|index| {
                let NodeKind::Loop(each) = &node.kind else {
                    return None;
                };
                Some((path.at(index), each.steps.as_slice()))
            });
            let branches = node.kind.branches().into_iter();
            let branches = branches.map(|(name, steps)| (path.join(name), steps));
            let around = branches.chain(handler).chain(item);
            for (base, steps) in around.filter(|(base, _)| target.is_within(base)) {
                waits_around(&base, steps, target, waits);
            }
        }
        if matches!(node.kind, NodeKind::Wait(_)) {
            waits.push((node.namespace.as_str(), path));
        }
    }
}

fn exports(place: &Place) -> Vec<(String, Exported)> {
    let exports = place.exports.iter();
    exports
        .map(|(name, value)| (name.clone(), Exported::Kept(value.clone())))
        .collect()
}

fn item_fields(place: &Place, each: &Loop, index: u32) -> Vec<(String, Exported)> {
    let mut fields = vec![("index".to_owned(), Exported::Json(json!(index)))];
    if let Some(items) = &place.items {
        let items = items.clone();
        let item = Exported::Item { items, index };
        fields.extend(
            each.item_name
                .iter()
                .map(|name| (name.clone(), item.clone())),
        );
        fields.push(("item".to_owned(), item));
    }
    fields
}
