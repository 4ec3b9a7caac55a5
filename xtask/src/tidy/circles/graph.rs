//! Arrows between files, and the circles that they form.

use std::collections::{BTreeMap, BTreeSet};

/// One file that names things of another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arrow {
    pub(super) from: String,
    /// The first line that names one of them.
    pub(super) line: usize,
    pub(super) to: String,
    /// As written, each once.
    pub(super) names: Vec<String>,
}

/// Every arrow of a crate, by the file it leaves.
pub(super) struct Graph {
    arrows: BTreeMap<String, Vec<Arrow>>,
}

impl Graph {
    pub(super) fn new(arrows: Vec<Arrow>) -> Self {
        let mut by_file = BTreeMap::<_, Vec<_>>::new();
        for arrow in arrows {
            by_file.entry(arrow.from.clone()).or_default().push(arrow);
        }
        Self { arrows: by_file }
    }

    /// The groups of files that reach each other, each as its inner arrows.
    pub(super) fn circles(&self) -> Vec<Vec<Arrow>> {
        let reached: BTreeMap<_, _> = self
            .arrows
            .keys()
            .map(|file| (file.as_str(), self.reached_from(file)))
            .collect();
        let reach = |from: &str, to: &str| reached.get(from).is_some_and(|set| set.contains(to));
        let mut seen = BTreeSet::new();
        let mut circles = Vec::new();
        for file in self.arrows.keys() {
            if !reach(file, file) || seen.contains(file) {
                continue;
            }
            let is_member = |other: &str| reach(file, other) && reach(other, file);
            let members = self.arrows.iter().filter(|(other, _)| is_member(other));
            let mut circle = Vec::new();
            for (member, arrows) in members {
                seen.insert(member);
                circle.extend(arrows.iter().filter(|arrow| is_member(&arrow.to)).cloned());
            }
            circles.push(circle);
        }
        circles
    }

    fn reached_from(&self, file: &str) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut left = vec![file];
        while let Some(file) = left.pop() {
            for arrow in self.arrows.get(file).into_iter().flatten() {
                if reached.insert(arrow.to.as_str()) {
                    left.push(&arrow.to);
                }
            }
        }
        reached
    }
}

/// The files of a circle.
pub(super) fn files_of(circle: &[Arrow]) -> BTreeSet<&str> {
    circle.iter().map(|arrow| arrow.from.as_str()).collect()
}
