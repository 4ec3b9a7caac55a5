//! A definition as a tree: finding nodes by their paths, and all of them.

use super::{
    node::{Node, NodeKind, OnError},
    record::Record,
    settings::Settings,
    triggers::Trigger,
};
use crate::{
    finding::FoundAt,
    path::{ON_ERROR, Path, Segment},
    yaml::Position,
};

/// A workflow as its file has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// `name`.
    pub name: String,
    /// Whether its triggers are on: not `inactive`.
    pub is_active: bool,
    /// `settings`.
    pub settings: Settings,
    /// `triggers`.
    pub triggers: Vec<Trigger>,
    /// `steps`.
    pub steps: Vec<Node>,
    /// `on_error`: the steps that run after a failure which nobody handled.
    pub on_error: Vec<Node>,
    pub(crate) record: Record,
}

/// The lists of nodes in a node, with their paths.
trait Bodies {
    /// Each list; a loop's is that of the loop itself.
    fn bodies<'a>(&'a self, path: &Path) -> Vec<(Path, &'a [Node])>;
}

impl Bodies for Node {
    fn bodies<'a>(&'a self, path: &Path) -> Vec<(Path, &'a [Node])> {
        let mut bodies = match &self.kind {
            NodeKind::Loop(each) => vec![(path.clone(), each.steps.as_slice())],
            kind => {
                let branches = kind.branches().into_iter();
                branches
                    .map(|(name, steps)| (path.join(name), steps))
                    .collect()
            }
        };
        if let OnError::Steps(steps) = &self.on_error {
            bodies.push((path.join(ON_ERROR), steps));
        }
        bodies
    }
}

impl Definition {
    /// The step or block at a path, with or without the indices of loops.
    pub fn node(&self, path: &Path) -> Option<&Node> {
        self.found(path).map(|(_, node)| node)
    }

    /// The list of nodes that a path leads into, and the one among them that it names.
    pub(crate) fn found(&self, path: &Path) -> Option<(&[Node], &Node)> {
        let mut segments = path.segments();
        let mut nodes = self.steps.as_slice();
        if is_name(segments.first(), ON_ERROR) {
            (nodes, segments) = (&self.on_error, &segments[1..]);
        }
        loop {
            let Some((Segment::Name(name), rest)) = segments.split_first() else {
                return None;
            };
            let node = nodes
                .iter()
                .find(|node| node.namespace.as_str() == &**name)?;
            if rest.is_empty() {
                return Some((nodes, node));
            }
            (nodes, segments) = enter(node, rest)?;
        }
    }

    /// The place of a step's code, if that is within the file.
    pub fn code_position(&self, path: &Path) -> Option<Position> {
        self.record.codes.get(path).copied()
    }

    /// The outermost list of nodes that a path is in, and that list's path: the workflow's steps, or its handler.
    pub fn sequence_at_root(&self, path: &Path) -> (Path, &[Node]) {
        match is_name(path.segments().first(), ON_ERROR) {
            true => (Path::root().join(ON_ERROR), &self.on_error),
            false => (Path::root(), &self.steps),
        }
    }

    /// All steps and blocks, those in blocks and handlers too.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.paths().into_iter().map(|(_, node)| node)
    }

    /// The place of a step or block in the file.
    pub fn found_at(&self, path: &Path) -> FoundAt {
        let position = self.record.nodes.get(&path.without_indices()).copied();
        FoundAt::new(position.unwrap_or(Position::START), Some(path.clone()))
    }

    /// All steps and blocks in the order of the file, with their paths, which have no indices.
    pub fn paths(&self) -> Vec<(Path, &Node)> {
        let mut found = Vec::new();
        collect(&Path::root(), &self.steps, &mut found);
        collect(&Path::root().join(ON_ERROR), &self.on_error, &mut found);
        found
    }
}

fn collect<'a>(base: &Path, nodes: &'a [Node], found: &mut Vec<(Path, &'a Node)>) {
    for node in nodes {
        let path = base.join(node.namespace.as_str());
        found.push((path.clone(), node));
        for (base, nodes) in node.bodies(&path) {
            collect(&base, nodes, found);
        }
    }
}

/// The list in a node that the rest of a path leads to, and what is left of the path.
fn enter<'a, 'p>(node: &'a Node, segments: &'p [Segment]) -> Option<(&'a [Node], &'p [Segment])> {
    let (first, rest) = segments.split_first()?;
    if let (true, OnError::Steps(steps)) = (is_name(Some(first), ON_ERROR), &node.on_error) {
        return Some((steps, rest));
    }
    match (&node.kind, first) {
        (NodeKind::Loop(each), Segment::Index(_)) => Some((&each.steps, rest)),
        (NodeKind::Loop(each), Segment::Name(_)) => Some((&each.steps, segments)),
        (kind, Segment::Name(name)) => {
            let mut branches = kind.branches().into_iter();
            let (_, steps) = branches.find(|(branch, _)| *branch == &**name)?;
            Some((steps, rest))
        }
        (_, Segment::Index(_)) => None,
    }
}

fn is_name(segment: Option<&Segment>, name: &str) -> bool {
    matches!(segment, Some(Segment::Name(found)) if &**found == name)
}
