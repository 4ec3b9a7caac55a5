//! Dedupe strategies (docs/guide/writing-a-component.md, "Events"). State is per source, over all
//! ordinary channels.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::{
    error::Invalid,
    event::Emit,
    limits::{DROPPED_KEYS_MAX, UNIQUE_CACHE_IDS},
};

/// The strategy that deduplicates a source's events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Only ids that are not among the last 100.
    Unique,
    /// Only ids larger than the largest so far.
    Greatest,
    /// Only events after the last one emitted before.
    Last,
}

/// The state that a strategy keeps between runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "strategy", rename_all = "snake_case")]
pub enum State {
    /// The last ids, oldest first.
    Unique {
        /// At most [`UNIQUE_CACHE_IDS`].
        ids: VecDeque<String>,
    },
    /// The largest id so far.
    Greatest {
        /// `None` before the first event.
        largest: Option<f64>,
    },
    /// The id of the last event.
    Last {
        /// `None` before the first event.
        id: Option<String>,
    },
}

impl State {
    /// The state of a source that has emitted nothing under this strategy.
    pub fn new(strategy: Strategy) -> Self {
        match strategy {
            Strategy::Unique => Self::Unique {
                ids: VecDeque::new(),
            },
            Strategy::Greatest => Self::Greatest { largest: None },
            Strategy::Last => Self::Last { id: None },
        }
    }

    /// The strategy it belongs to; a state of another strategy is never used.
    pub fn strategy(&self) -> Strategy {
        match self {
            Self::Unique { .. } => Strategy::Unique,
            Self::Greatest { .. } => Strategy::Greatest,
            Self::Last { .. } => Strategy::Last,
        }
    }
}

/// The emits of a run that are left.
#[derive(Debug, Default)]
pub struct Filtered {
    /// To be appended, in this order.
    pub kept: Vec<Emit>,
    /// Those that were left out as duplicates.
    pub dropped: Dropped,
    /// Calls that the strategy cannot take (no `id`, or no number for `greatest`); their emits are dropped too.
    pub rejected: Vec<Invalid>,
}

/// Emits that dedupe left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Their number.
    pub count: u32,
    /// The ids of the first [`DROPPED_KEYS_MAX`] of them.
    pub keys: Vec<String>,
}

impl Dropped {
    /// One more.
    fn note(&mut self, emit: &Emit) {
        self.count = self.count.saturating_add(1);
        if self.keys.len() < DROPPED_KEYS_MAX {
            self.keys.push(key(emit));
        }
    }

    /// Adds those of a later part of the same run.
    pub fn add(&mut self, later: Self) {
        self.count = self.count.saturating_add(later.count);
        let room = DROPPED_KEYS_MAX.saturating_sub(self.keys.len());
        self.keys.extend(later.keys.into_iter().take(room));
    }
}

/// Orders a run's emits: those with a `ts` oldest first among themselves, in the places they took;
/// those without keep their places.
pub fn order(emits: Vec<Emit>) -> Vec<Emit> {
    let mut dated: Vec<(f64, usize)> = emits
        .iter()
        .enumerate()
        .filter_map(|(place, emit)| emit.options.ts.map(|ts| (ts, place)))
        .collect();
    let places: Vec<usize> = dated.iter().map(|(_, place)| *place).collect();
    dated.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut emits: Vec<Option<Emit>> = emits.into_iter().map(Some).collect();
    let sorted: Vec<Option<Emit>> = dated
        .iter()
        .map(|(_, place)| emits[*place].take())
        .collect();
    for (place, emit) in places.into_iter().zip(sorted) {
        emits[place] = emit;
    }
    emits.into_iter().flatten().collect()
}

/// Applies the strategy to the ordered emits of one run and moves the state on.
pub fn filter(state: &mut State, emits: Vec<Emit>) -> Filtered {
    let mut filtered = Filtered::default();
    let strategy = state.strategy();
    let mut candidates = Vec::with_capacity(emits.len());
    for emit in emits {
        match required_key(strategy, &emit) {
            Ok(()) => candidates.push(emit),
            Err(invalid) => filtered.rejected.push(invalid),
        }
    }
    let dropped = &mut filtered.dropped;
    filtered.kept = match state {
        State::Unique { ids } => unique(ids, candidates, dropped),
        State::Greatest { largest } => greatest(largest, candidates, dropped),
        State::Last { id } => last(id, candidates, dropped),
    };
    filtered
}

/// The first of these emits that the strategy cannot take, whatever came before.
pub fn first_rejected(strategy: Strategy, emits: &[Emit]) -> Option<Invalid> {
    let ordinary = emits
        .iter()
        .filter(|emit| emit.options.delivery_ts.is_none());
    ordinary
        .filter_map(|emit| required_key(strategy, emit).err())
        .next()
}

fn required_key(strategy: Strategy, emit: &Emit) -> Result<(), Invalid> {
    let Some(key) = &emit.options.id else {
        return Err(Invalid::new(
            "id",
            "$emit needs an `id` because the component has a `dedupe` strategy",
        ));
    };
    if strategy == Strategy::Greatest && key.number().is_none() {
        let reason = format!(
            "$emit: `{}` is not a number, which `dedupe: \"greatest\"` needs",
            key.text()
        );
        return Err(Invalid::new("id", reason));
    }
    Ok(())
}

fn key(emit: &Emit) -> String {
    emit.options
        .id
        .as_ref()
        .map(crate::event::EmitKey::text)
        .unwrap_or_default()
}

fn unique(ids: &mut VecDeque<String>, emits: Vec<Emit>, dropped: &mut Dropped) -> Vec<Emit> {
    let is_new = |emit: &Emit| {
        let key = key(emit);
        if ids.contains(&key) {
            dropped.note(emit);
            return false;
        }
        if ids.len() == UNIQUE_CACHE_IDS {
            ids.pop_front();
        }
        ids.push_back(key);
        true
    };
    emits.into_iter().filter(is_new).collect()
}

/// Every event of a run is compared with the largest id of earlier runs and of the run so far.
fn greatest(largest: &mut Option<f64>, emits: Vec<Emit>, dropped: &mut Dropped) -> Vec<Emit> {
    let is_larger = |emit: &Emit| {
        let number = emit
            .options
            .id
            .as_ref()
            .and_then(crate::event::EmitKey::number);
        let larger = number.is_some_and(|number| largest.is_none_or(|largest| number > largest));
        match larger {
            true => *largest = number,
            false => dropped.note(emit),
        }
        larger
    };
    emits.into_iter().filter(is_larger).collect()
}

/// Everything after the last match within the run; the ordered run's last event is the newest.
fn last(id: &mut Option<String>, mut emits: Vec<Emit>, dropped: &mut Dropped) -> Vec<Emit> {
    let matched = emits.iter().rposition(|emit| Some(key(emit)) == *id);
    let kept = match matched {
        Some(index) => {
            let kept = emits.split_off(index + 1);
            emits.iter().for_each(|emit| dropped.note(emit));
            kept
        }
        None => emits,
    };
    let newest = kept
        .iter()
        .rfind(|emit| emit.options.ts.is_some())
        .or(kept.last());
    if let Some(newest) = newest {
        *id = Some(key(newest));
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::{prop_assert, prop_assert_eq, proptest};
    use serde_json::{Value, json};

    use super::*;

    fn emit(options: Value) -> Emit {
        let event = serde_json::value::to_raw_value(&options).unwrap();
        Emit {
            event,
            options: serde_json::from_value(options).unwrap(),
        }
    }

    fn with_ids(ids: &[i64]) -> Vec<Emit> {
        ids.iter().map(|id| emit(json!({ "id": id }))).collect()
    }

    fn ids(emits: &[Emit]) -> Vec<String> {
        emits.iter().map(key).collect()
    }

    fn run(state: &mut State, batch: &[i64]) -> Vec<String> {
        ids(&filter(state, with_ids(batch)).kept)
    }

    #[test]
    fn what_is_left_out_is_counted_and_the_first_ids_are_known() {
        let mut state = State::new(Strategy::Unique);
        let batch: Vec<i64> = (0..30).collect();
        run(&mut state, &batch);
        let mut dropped = filter(&mut state, with_ids(&batch)).dropped;
        assert_eq!((dropped.count, dropped.keys.len()), (30, DROPPED_KEYS_MAX));
        assert_eq!(dropped.keys[..2], ["0", "1"]);
        dropped.add(filter(&mut state, with_ids(&[29])).dropped);
        assert_eq!((dropped.count, dropped.keys.len()), (31, DROPPED_KEYS_MAX));
        let mut state = State::Last {
            id: Some("2".to_owned()),
        };
        let dropped = filter(&mut state, with_ids(&[1, 2, 3])).dropped;
        assert_eq!(dropped.keys, ["1", "2"]);
        let mut state = State::Greatest { largest: Some(2.0) };
        let dropped = filter(&mut state, with_ids(&[1, 3, 2])).dropped;
        assert_eq!(dropped.keys, ["1", "2"]);
    }

    #[test]
    fn unique_drops_what_it_has_seen_and_forgets_the_oldest_of_a_hundred() {
        let mut state = State::new(Strategy::Unique);
        assert_eq!(run(&mut state, &[1, 1, 2]), ["1", "2"]);
        let many: Vec<i64> = (3..=101).collect();
        assert_eq!(run(&mut state, &many).len(), 99);
        assert_eq!(
            run(&mut state, &[2, 1]),
            ["1"],
            "1 was pushed out by 101, 2 was not"
        );
    }

    #[test]
    fn a_number_and_its_text_are_one_id() {
        let mut state = State::new(Strategy::Unique);
        let kept = filter(
            &mut state,
            vec![emit(json!({"id": 7})), emit(json!({"id": "7"}))],
        )
        .kept;
        assert_eq!(ids(&kept), ["7"]);
    }

    #[test]
    fn greatest_lets_only_larger_ids_through() {
        let mut state = State::new(Strategy::Greatest);
        assert_eq!(run(&mut state, &[3, 2, 5]), ["3", "5"]);
        assert_eq!(run(&mut state, &[5, 6]), ["6"]);
        let kept = filter(&mut state, vec![emit(json!({"id": "10"}))]).kept;
        assert_eq!(ids(&kept), ["10"], "a numeric string is a number");
    }

    #[test]
    fn last_emits_what_follows_the_last_match_or_everything() {
        let mut state = State::new(Strategy::Last);
        assert_eq!(run(&mut state, &[1, 2, 3]), ["1", "2", "3"]);
        assert_eq!(run(&mut state, &[2, 3, 4, 3, 5]), ["5"]);
        assert_eq!(run(&mut state, &[8, 9]), ["8", "9"]);
        assert_eq!(run(&mut state, &[9]), [""; 0]);
    }

    #[test]
    fn last_caches_the_newest_ts() {
        let mut state = State::new(Strategy::Last);
        let batch = vec![
            emit(json!({"id": "new", "ts": 20})),
            emit(json!({"id": "old", "ts": 10})),
        ];
        filter(&mut state, order(batch));
        assert_eq!(
            state,
            State::Last {
                id: Some("new".to_owned())
            }
        );
    }

    #[test]
    fn calls_without_a_usable_id_are_rejected_by_name() {
        let mut state = State::new(Strategy::Greatest);
        let filtered = filter(
            &mut state,
            vec![
                emit(json!({})),
                emit(json!({"id": "x"})),
                emit(json!({"id": 1})),
            ],
        );
        assert_eq!(filtered.rejected.len(), 2);
        assert!(
            filtered
                .rejected
                .iter()
                .all(|invalid| invalid.field == "id")
        );
        assert_eq!(ids(&filtered.kept), ["1"]);
    }

    #[test]
    fn dated_events_are_sorted_within_their_own_places() {
        let batch = vec![
            emit(json!({"id": "c", "ts": 3})),
            emit(json!({"id": "plain"})),
            emit(json!({"id": "a", "ts": 1})),
            emit(json!({"id": "b", "ts": 2})),
        ];
        assert_eq!(ids(&order(batch)), ["a", "plain", "b", "c"]);
    }

    proptest! {
        #[test]
        fn whatever_the_batches_greatest_only_increases(batches: Vec<Vec<i32>>) {
            let mut state = State::new(Strategy::Greatest);
            let mut emitted: Vec<f64> = Vec::new();
            for batch in batches {
                let emits = batch.iter().map(|id| emit(json!({ "id": id }))).collect();
                emitted.extend(filter(&mut state, emits).kept.iter().filter_map(|e| e.options.id.as_ref()?.number()));
            }
            prop_assert!(emitted.windows(2).all(|pair| pair[0] < pair[1]));
        }

        #[test]
        fn a_repeated_batch_of_up_to_a_hundred_unique_ids_emits_nothing(batch in proptest::collection::vec(0i64..500, 0..100)) {
            let mut state = State::new(Strategy::Unique);
            run(&mut state, &batch);
            prop_assert!(run(&mut state, &batch).is_empty());
        }

        #[test]
        fn state_survives_storage(ids: Vec<String>) {
            let state = State::Unique { ids: ids.into() };
            let text = serde_json::to_string(&state).unwrap();
            prop_assert_eq!(serde_json::from_str::<State>(&text).unwrap(), state);
        }
    }
}
