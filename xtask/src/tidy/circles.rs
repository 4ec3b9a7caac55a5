//! Circles between the modules of a crate. The graph is that of the crate's own imports and paths:
//! one file names things that another one declares. Test modules do not count, nor do re-exports
//! by themselves; a method that is called leaves no name and is not seen. Knows nothing of other
//! crates.

mod graph;
mod names;
mod resolve;

use super::{
    tracked::TrackedFile,
    violation::{Rule, Violation},
};
use graph::{Arrow, Graph};
use resolve::Crate;

const ADVICE: &str = "move the shared name into a module of its own, below both";

pub(super) fn check(files: &[TrackedFile]) -> Vec<Violation> {
    files
        .iter()
        .filter(|file| is_root(&file.path))
        .flat_map(|root| check_crate(root, files))
        .collect()
}

/// The root of a library or of a binary; tests, benchmarks and examples have others.
fn is_root(path: &str) -> bool {
    path.ends_with("src/lib.rs") || path.ends_with("src/main.rs")
}

fn check_crate(root: &TrackedFile, files: &[TrackedFile]) -> Vec<Violation> {
    match Crate::read(root, files) {
        Ok(krate) => {
            let graph = Graph::new(krate.arrows());
            graph.circles().iter().map(|circle| told(circle)).collect()
        }
        Err(unread) => vec![Violation {
            rule: Rule::Circle,
            path: unread.path,
            line: unread.line,
            text: format!(
                "the file cannot be parsed ({}); mend its syntax",
                unread.reason
            ),
        }],
    }
}

fn told(circle: &[Arrow]) -> Violation {
    let first = &circle[0];
    let arrows = circle.iter().map(|arrow| {
        let Arrow {
            from,
            line,
            to,
            names,
        } = arrow;
        let names = names.iter().map(|name| format!("`{name}`"));
        let names = names.collect::<Vec<_>>().join(", ");
        format!("\n    {from}:{line} → {to}: {names}")
    });
    Violation {
        rule: Rule::Circle,
        path: first.from.clone(),
        line: first.line,
        text: format!(
            "{} modules name each other in a circle; {ADVICE}:{}",
            graph::files_of(circle).len(),
            arrows.collect::<String>()
        ),
    }
}

#[cfg(test)]
mod tests;
