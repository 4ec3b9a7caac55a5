//! Facts of a run that has ended, beside its outcome: its starts, its answer, its writes and its time limit.

pub use headwater_model::limits::CHANGED_KEYS_MAX;

/// Characters of a key's name that are kept.
pub const CHANGED_KEY_CHARS_MAX: usize = 200;

/// Facts of a run of a source; a workflow's has them in its steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFacts {
    /// The number of its starts: more than one after a lost worker or node, or with credentials that were renewed.
    pub starts: u32,
    /// The answer that its code sent with `$respond`.
    pub response: Option<SentResponse>,
    /// The keys of `$.service.db` that it changed.
    pub changed: ChangedKeys,
    /// The time that it might take, if that is known.
    pub time_limit_ms: Option<u64>,
}

impl Default for RunFacts {
    /// Those of a run that was started once and did nothing.
    fn default() -> Self {
        Self {
            starts: 1,
            response: None,
            changed: ChangedKeys::default(),
            time_limit_ms: None,
        }
    }
}

/// The answer of a run to its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentResponse {
    /// Its status.
    pub status: u16,
    /// Bytes of its body.
    pub bytes: u64,
}

/// Keys of `$.service.db` that a run set or deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedKeys {
    /// Their number.
    pub count: u32,
    /// The first [`CHANGED_KEYS_MAX`] of them in the order of their names, of which [`CHANGED_KEY_CHARS_MAX`] characters
    /// are kept.
    pub keys: Vec<String>,
}

impl ChangedKeys {
    /// Of keys in the order of their names, each of them once.
    pub fn of<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> Self {
        let count = u32::try_from(names.len()).unwrap_or(u32::MAX);
        let kept = names.take(CHANGED_KEYS_MAX).map(kept_name);
        Self {
            count,
            keys: kept.map(str::to_owned).collect(),
        }
    }

    /// The names that are kept.
    pub fn kept(&self) -> impl Iterator<Item = &str> {
        let names = self.keys.iter().take(CHANGED_KEYS_MAX);
        names.map(|name| kept_name(name))
    }
}

fn kept_name(name: &str) -> &str {
    let end = name.char_indices().nth(CHANGED_KEY_CHARS_MAX);
    end.map_or(name, |(end, _)| &name[..end])
}
