//! The machine that an owner belongs to: rendezvous hashing, in which a machine that comes or goes moves no owner between
//! two others.

use std::{
    hash::{DefaultHasher, Hash, Hasher as _},
    num::NonZeroUsize,
};

/// The share of the work that a machine is to have, beside those of the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weight(f64);

impl Weight {
    /// That of a machine which only lends its workers.
    pub fn of_processors(processors: NonZeroUsize) -> Self {
        Self(processors.get() as f64)
    }

    /// That of a machine which has all the other work, too.
    pub fn halved(self) -> Self {
        Self(self.0 / 2.0)
    }

    /// The score of a machine for an owner; the one with the highest has it.
    pub(super) fn score(self, machine: &str, owner: &impl Hash) -> f64 {
        let mut hasher = DefaultHasher::new();
        (machine, owner).hash(&mut hasher);
        // Of 53 bits, as many as a number between 0 and 1 has; never 0, which has no logarithm.
        let share = ((hasher.finish() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        -self.0 / share.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn winners(machines: &[(&'static str, usize)]) -> Vec<&'static str> {
        let weight = |processors| Weight::of_processors(NonZeroUsize::new(processors).unwrap());
        let score = |owner: u32, &(name, processors): &(&'static str, usize)| {
            (weight(processors).score(name, &owner), name)
        };
        (0..1000)
            .map(|owner| {
                let scores = machines.iter().map(|machine| score(owner, machine));
                scores.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap().1
            })
            .collect()
    }

    #[test]
    fn owners_are_spread_by_weight() {
        let winners = winners(&[("a", 2), ("b", 2), ("c", 4)]);
        let of = |name| winners.iter().filter(|winner| **winner == name).count();
        assert!((200..300).contains(&of("a")), "{}", of("a"));
        assert!((200..300).contains(&of("b")), "{}", of("b"));
        assert!((450..550).contains(&of("c")), "{}", of("c"));
    }

    #[test]
    fn a_machine_that_comes_takes_and_moves_nothing_else() {
        let before = winners(&[("a", 2), ("b", 2)]);
        let after = winners(&[("a", 2), ("b", 2), ("c", 2)]);
        let moved = before
            .iter()
            .zip(&after)
            .filter(|(before, after)| before != after);
        assert!(moved.clone().count() > 200);
        assert!(moved.into_iter().all(|(_, after)| *after == "c"));
    }
}
