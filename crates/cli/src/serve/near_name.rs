//! The known name that somebody meant who wrote another one: they differ by a slip of the keys.

/// The nearest of the known names, if it is near. `own` is the part of the name that tells it from others.
pub(super) fn nearest<'a>(
    name: &str,
    own: &str,
    known: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let slips_max = (own.chars().count() / 4).max(1);
    let near = known.map(|one| (slips(name, one), one));
    let (distance, nearest) = near.min()?;
    (distance <= slips_max).then_some(nearest)
}

/// Letters to insert, leave out, replace or swap with their neighbour that make one text the other.
fn slips(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, wanted) in other.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != wanted);
            let mut least = replaced.min(last[column + 1] + 1).min(next[column] + 1);
            if row > 0 && column > 0 && one[row - 1] == *wanted && other[column - 1] == *letter {
                least = least.min(before_last[column - 1] + 1);
            }
            next.push(least);
        }
        before_last = std::mem::replace(&mut last, next);
    }
    last[other.len()]
}
