//! The file descriptors of the process: how many it may have, and how many connections they
//! suffice for.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Connections that a node has without being told.
const CONNECTIONS: usize = 10_000;
/// Descriptors that store, workers, deliveries and files need at most; half of all, if there are few.
const RESERVED: u64 = 4_096;
/// The limit to request if none is set.
const PLENTY: u64 = 1 << 20;

/// Raises the limit of open files as far as the process may, and returns it.
pub(super) fn raise_limit() -> u64 {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = Some(limit.maximum.unwrap_or(PLENTY));
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::warn!(%error, "the limit of open files stays as it is");
    }
    getrlimit(Resource::Nofile).current.unwrap_or(PLENTY)
}

/// The connections that there may be at once with so many descriptors.
pub(super) fn connections(wanted: Option<usize>, descriptors: u64) -> usize {
    let reserved = RESERVED.min(descriptors / 2);
    let possible = usize::try_from(descriptors - reserved).unwrap_or(usize::MAX);
    if let Some(wanted) = wanted.filter(|wanted| *wanted > possible) {
        tracing::warn!(
            wanted,
            possible,
            descriptors,
            "--max-connections needs more open files than the process may have; raise that limit \
             (LimitNOFILE= of the service, or `ulimit -n`)"
        );
    }
    wanted.unwrap_or(CONNECTIONS).min(possible).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_descriptors_to_the_node() {
        for (wanted, descriptors, expected) in [
            (None, 1 << 20, CONNECTIONS),
            (None, 1024, 512),
            (None, 400, 200),
            (None, 10_000, 5_904),
            (Some(64), 1024, 64),
            (Some(5_000), 1024, 512),
            (Some(50_000), 1 << 20, 50_000),
        ] {
            assert_eq!(connections(wanted, descriptors), expected);
        }
    }
}
