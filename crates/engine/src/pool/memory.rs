//! The choice of the idle workers that end when all together use too much memory.

use std::{collections::HashMap, sync::Arc, time::Duration};

/// The time without a run after which a worker's next one is expected to be far off: to end it and to start another for
/// that costs less than its memory until then.
const RESTED: Duration = Duration::from_secs(5);

/// Bytes of all workers together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Beyond it, idle ones end.
    pub(super) all: u64,
    /// Beyond it, those end that have rested.
    pub(super) rested: u64,
}

/// An idle worker.
pub(super) struct Idle<W> {
    pub(super) tenant: Arc<str>,
    /// Its bytes.
    pub(super) memory: u64,
    /// The time since its last run.
    pub(super) idle: Duration,
    pub(super) worker: W,
}

/// The place of the worker to end next, of which more are to be asked for until there is none: of the tenant that
/// holds most, so that one with many workers does not displace others', the longest idle one.
pub(super) fn next_to_end<W>(
    idle: &[Idle<W>],
    held: &HashMap<Arc<str>, u64>,
    bounds: Bounds,
) -> Option<usize> {
    let total: u64 = held.values().sum();
    let least = match total {
        total if total > bounds.all => Duration::ZERO,
        total if total > bounds.rested => RESTED,
        _ => return None,
    };
    let may_end = idle.iter().enumerate();
    let may_end = may_end.filter(|(_, worker)| worker.idle >= least);
    let next = may_end.max_by_key(|(_, worker)| (held.get(&worker.tenant), worker.idle));
    next.map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the workers that end, in order; those with runs count for their tenant only.
    fn ended(
        workers: &[(&'static str, &str, u64, Option<u64>)],
        bounds: Bounds,
    ) -> Vec<&'static str> {
        let mut held: HashMap<Arc<str>, u64> = HashMap::new();
        for (_, tenant, memory, _) in workers {
            *held.entry(Arc::from(*tenant)).or_default() += memory;
        }
        let idle = workers.iter().filter_map(|(worker, tenant, memory, idle)| {
            Some(Idle {
                tenant: Arc::from(*tenant),
                memory: *memory,
                idle: Duration::from_secs((*idle)?),
                worker: *worker,
            })
        });
        let mut idle: Vec<_> = idle.collect();
        let mut ended = Vec::new();
        while let Some(place) = next_to_end(&idle, &held, bounds) {
            let worker = idle.remove(place);
            *held.get_mut(&worker.tenant).unwrap() -= worker.memory;
            ended.push(worker.worker);
        }
        ended
    }

    #[test]
    fn beyond_the_bound_of_all_the_longest_idle_one_ends_and_none_with_runs() {
        let bounds = Bounds {
            all: 20,
            rested: 20,
        };
        let workers = [
            ("a", "u", 10, Some(1)),
            ("b", "u", 10, Some(3)),
            ("c", "u", 10, None),
        ];
        assert_eq!(ended(&workers, bounds), ["b"]);
        assert_eq!(ended(&[("c", "u", 30, None)], bounds), [""; 0]);
    }

    #[test]
    fn workers_of_the_tenant_with_most_end_first() {
        let bounds = Bounds {
            all: 30,
            rested: 30,
        };
        let workers = [
            ("a", "u", 10, Some(100)),
            ("b", "v", 15, Some(1)),
            ("c", "v", 15, Some(2)),
        ];
        assert_eq!(ended(&workers, bounds), ["c"]);
    }

    #[test]
    fn beyond_the_lower_bound_only_those_end_that_have_rested() {
        let bounds = Bounds {
            all: 100,
            rested: 20,
        };
        let workers = [
            ("a", "u", 20, Some(4)),
            ("b", "u", 20, Some(5)),
            ("c", "u", 20, Some(30)),
        ];
        assert_eq!(ended(&workers, bounds), ["c", "b"]);
        let workers = [("a", "u", 15, Some(5)), ("b", "u", 15, Some(6))];
        assert_eq!(ended(&workers, bounds), ["b"], "until the rest fits");
        let workers = [("a", "u", 60, Some(4)), ("b", "u", 60, Some(0))];
        assert_eq!(
            ended(&workers, bounds),
            ["a"],
            "beyond both, until within the upper one"
        );
    }
}
