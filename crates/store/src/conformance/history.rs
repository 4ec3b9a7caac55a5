//! Random histories: for any sequence of steps, a store behaves like a small model.
//!
//! The model knows two sources, of which the second listens to the first: what is listed of each,
//! how far dispatch is, and which invocations wait or are held.

use std::{sync::Arc, time::Duration};

use headwater_model::{id::EventId, time::EpochMs};
use proptest::{
    prelude::*,
    strategy::ValueTree as _,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

use super::{Factory, fixture::*};
use crate::{
    EventDeletion, EventRange, Lease, LeaseTerm, LogPosition, NodeEpoch, RunCommit, Store,
    WorkLimit,
};

const HISTORIES: u32 = 24;
const STEPS: usize = 40;
const LEASE: Duration = Duration::from_secs(10);

/// One step. Numbers that choose an item wrap around the number of items.
#[derive(Debug, Clone)]
enum Step {
    Emit {
        source: usize,
        count: usize,
    },
    Enqueue,
    Delete {
        source: usize,
        start: Option<usize>,
        end: Option<usize>,
    },
    RunDeletions {
        limit: u32,
    },
    Trim {
        keep: u32,
        limit: u32,
    },
    Dispatch {
        limit: u32,
    },
    Read {
        limit: u32,
    },
    Claim {
        limit: u32,
    },
    Commit {
        lease: usize,
    },
    Release {
        lease: usize,
    },
    Extend {
        lease: usize,
    },
    Clock {
        seconds: i64,
    },
    Reopen {
        start: bool,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let end = || proptest::option::of(0_usize..20);
    prop_oneof![
        4 => (0_usize..2, 1_usize..4).prop_map(|(source, count)| Step::Emit { source, count }),
        2 => Just(Step::Enqueue),
        2 => (0_usize..2, end(), end()).prop_map(|(source, start, end)| Step::Delete { source, start, end }),
        2 => (1_u32..4).prop_map(|limit| Step::RunDeletions { limit }),
        2 => (0_u32..5, 1_u32..4).prop_map(|(keep, limit)| Step::Trim { keep, limit }),
        3 => (1_u32..6).prop_map(|limit| Step::Dispatch { limit }),
        3 => (1_u32..6).prop_map(|limit| Step::Read { limit }),
        3 => (1_u32..4).prop_map(|limit| Step::Claim { limit }),
        4 => (0_usize..20).prop_map(|lease| Step::Commit { lease }),
        2 => (0_usize..20).prop_map(|lease| Step::Release { lease }),
        1 => (0_usize..20).prop_map(|lease| Step::Extend { lease }),
        2 => (-15_i64..15).prop_map(|seconds| Step::Clock { seconds }),
        2 => any::<bool>().prop_map(|start| Step::Reopen { start }),
    ]
}

/// An event; its place in the model's log is its text and its position.
struct Logged {
    source: usize,
    id: EventId,
    is_listed: bool,
}

struct Waiting {
    text: String,
    held: Option<(Lease, EpochMs)>,
    starts: u32,
}

/// The expected state.
#[derive(Default)]
struct Model {
    log: Vec<Logged>,
    dispatched: usize,
    /// How far somebody reads along.
    read: usize,
    queue: Vec<Waiting>,
    /// Every lease ever given, most of them lost by now.
    leases: Vec<Lease>,
}

impl Model {
    fn append(&mut self, source: usize, now_ms: EpochMs) -> String {
        let mut own = self.log.iter().filter(|event| event.source == source);
        let last = own.next_back().map(|event| event.id);
        let id = EventId::next(last, now_ms);
        self.log.push(Logged {
            source,
            id,
            is_listed: true,
        });
        (self.log.len() - 1).to_string()
    }

    fn listed(&self, source: usize) -> Vec<(EventId, String)> {
        let numbered = self.log.iter().enumerate().rev();
        numbered
            .filter(|(_, event)| event.source == source && event.is_listed)
            .map(|(position, event)| (event.id, position.to_string()))
            .collect()
    }

    fn wait(&mut self, text: String) {
        self.queue.push(Waiting {
            text,
            held: None,
            starts: 0,
        });
    }

    fn delete(&mut self, source: usize, range: EventRange) {
        for event in self.log.iter_mut().filter(|event| event.source == source) {
            let covered = range.start.is_none_or(|start| start <= event.id)
                && range.end.is_none_or(|end| event.id <= end);
            event.is_listed &= !covered;
        }
    }

    fn trim(&mut self, keep: u32) {
        for source in 0..2 {
            let newest_first = self.log.iter_mut().enumerate().rev();
            let own = newest_first.filter(|(_, event)| event.source == source && event.is_listed);
            for (position, event) in own.skip(keep as usize) {
                event.is_listed = position >= self.dispatched.min(self.read);
            }
        }
    }

    fn dispatch(&mut self, limit: u32) {
        let until = self.log.len().min(self.dispatched + limit as usize);
        for position in self.dispatched..until {
            if self.log[position].source == 0 {
                self.wait(position.to_string());
            }
        }
        self.dispatched = until;
    }

    /// The next of what is listed, which nothing may have deleted before it was read.
    fn read(&mut self, limit: u32) -> Vec<(EventId, String)> {
        let unread = self.log.iter().enumerate().skip(self.read);
        let listed = unread.filter(|(_, event)| event.is_listed);
        let read: Vec<_> = listed.take(limit as usize).collect();
        self.read = match read.last() {
            Some((position, _)) if read.len() == limit as usize => position + 1,
            _ => self.log.len(),
        };
        let text = |(position, event): &(usize, &Logged)| (event.id, position.to_string());
        read.iter().map(text).collect()
    }

    fn free(&mut self, now_ms: EpochMs) -> impl Iterator<Item = &mut Waiting> {
        let is_free = move |waiting: &&mut Waiting| {
            waiting
                .held
                .as_ref()
                .is_none_or(|(_, until)| *until <= now_ms)
        };
        self.queue.iter_mut().filter(is_free)
    }

    /// Where in the queue the invocation is that this lease still holds.
    fn holds(&self, lease: &Lease) -> Option<usize> {
        let is_it =
            |waiting: &Waiting| waiting.held.as_ref().is_some_and(|(held, _)| held == lease);
        self.queue.iter().position(is_it)
    }
}

struct World<'a> {
    factory: &'a dyn Factory,
    /// Taken only while it is reopened.
    store: Option<Arc<dyn Store>>,
    epoch: NodeEpoch,
    sources: [Leased; 2],
    now_ms: EpochMs,
    read_up_to: LogPosition,
    model: Model,
}

macro_rules! same {
    ($found:expr, $wanted:expr, $what:literal) => {
        let (found, wanted) = ($found, $wanted);
        if found != wanted {
            return Err(format!(
                "{}: the store has {found:?}, the model {wanted:?}",
                $what
            ));
        }
    };
}

impl<'a> World<'a> {
    async fn begin(factory: &'a dyn Factory) -> Self {
        let (store, epoch) = start(factory).await;
        let mine = owner();
        let sources = [
            deploy(&*store, epoch, &mine).await,
            deploy(&*store, epoch, &mine).await,
        ];
        listen(&*store, &mine, &sources[0], &sources[1]).await;
        Self {
            factory,
            store: Some(store),
            epoch,
            sources,
            now_ms: T0,
            read_up_to: LogPosition::default(),
            model: Model::default(),
        }
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(self.store.as_ref().unwrap())
    }

    async fn take(&mut self, step: &Step) -> Result<(), String> {
        match *step {
            Step::Emit { source, count } => self.emit(source, count).await,
            Step::Enqueue => self.enqueue().await,
            Step::Delete { source, start, end } => self.delete(source, start, end).await,
            Step::RunDeletions { limit } => {
                run_all_deletions(&*self.store(), limit).await;
            }
            Step::Trim { keep, limit } => {
                let read_up_to = Some(self.read_up_to);
                trim_behind(&*self.store(), keep, limit, read_up_to).await;
                self.model.trim(keep);
            }
            Step::Dispatch { limit } => {
                self.store()
                    .dispatch(self.now_ms, limit, u32::MAX)
                    .await
                    .unwrap();
                self.model.dispatch(limit);
            }
            Step::Read { limit } => self.read(limit).await?,
            Step::Claim { limit } => self.claim(limit).await?,
            Step::Commit { lease } => self.commit(lease).await?,
            Step::Release { lease } => self.release(lease).await,
            Step::Extend { lease } => self.extend(lease).await,
            Step::Clock { seconds } => {
                self.now_ms = EpochMs(self.now_ms.0.saturating_add_signed(seconds * 1000));
            }
            Step::Reopen { start } => self.reopen(start).await,
        }
        self.compare().await
    }

    async fn emit(&mut self, source: usize, count: usize) {
        let texts: Vec<String> = (0..count)
            .map(|_| self.model.append(source, self.now_ms))
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        emit(&*self.store(), &self.sources[source], &texts, self.now_ms).await;
    }

    async fn enqueue(&mut self) {
        let invocation = manual(&self.sources[1].id, "\"manual\"");
        self.store().enqueue(invocation, None).await.unwrap();
        self.model.wait("\"manual\"".to_owned());
    }

    async fn delete(&mut self, source: usize, start: Option<usize>, end: Option<usize>) {
        let ids: Vec<EventId> = self.model.log.iter().map(|event| event.id).collect();
        let chosen = |end: Option<usize>| match (end, ids.len()) {
            (None, _) | (_, 0) => None,
            (Some(number), count) => Some(ids[number % count]),
        };
        let range = EventRange {
            start: chosen(start),
            end: chosen(end),
        };
        let asked = EventDeletion {
            range,
            now_ms: self.now_ms,
            ..deletion(&self.sources[source], ordinary(), (None, None))
        };
        self.store().request_deletion(asked).await.unwrap();
        self.model.delete(source, range);
    }

    async fn read(&mut self, limit: u32) -> Result<(), String> {
        let tail = self.store().tail(self.read_up_to, limit).await.unwrap();
        self.read_up_to = tail.up_to;
        let events = tail.events.iter().map(|appended| &appended.event);
        let found: Vec<_> = events
            .map(|event| (event.id, event.event.get().to_owned()))
            .collect();
        same!(found, self.model.read(limit), "read");
        Ok(())
    }

    async fn claim(&mut self, limit: u32) -> Result<(), String> {
        let term = LeaseTerm {
            epoch: self.epoch,
            expires_at_ms: self.now_ms + LEASE,
        };
        let source = &self.sources[1];
        let claimed = self
            .store()
            .claim(&source.lease, term, self.now_ms, WorkLimit::of(limit))
            .await
            .unwrap();
        let free = self.model.free(self.now_ms).take(limit as usize);
        let wanted: Vec<(String, u32)> = free
            .map(|waiting| (waiting.text.clone(), waiting.starts + 1))
            .collect();
        let found: Vec<(String, u32)> = claimed
            .iter()
            .map(|one| (one.event.get().to_owned(), one.starts))
            .collect();
        same!(found, wanted, "claimed");
        for (waiting, claimed) in self.model.free(self.now_ms).zip(&claimed) {
            waiting.held = Some((claimed.lease.clone(), term.expires_at_ms));
            waiting.starts = claimed.starts;
        }
        self.model
            .leases
            .extend(claimed.into_iter().map(|claimed| claimed.lease));
        Ok(())
    }

    fn lease(&self, number: usize) -> Option<Lease> {
        let leases = &self.model.leases;
        leases.get(number % leases.len().max(1)).cloned()
    }

    async fn commit(&mut self, lease: usize) -> Result<(), String> {
        let Some(lease) = self.lease(lease) else {
            return Ok(());
        };
        let text = self.model.log.len().to_string();
        let run = RunCommit {
            invocation: ended(Some(lease.clone())),
            ..run_of(&self.sources[1], vec![event(&text)], self.now_ms)
        };
        let committed = commit(&*self.store(), run).await;
        let place = self.model.holds(&lease);
        same!(
            committed.is_ok(),
            place.is_some(),
            "whether a commit is taken"
        );
        if let Some(place) = place {
            self.model.queue.remove(place);
            self.model.append(1, self.now_ms);
        }
        Ok(())
    }

    async fn release(&mut self, lease: usize) {
        let Some(lease) = self.lease(lease) else {
            return;
        };
        self.store().release(&lease, None).await.unwrap();
        if let Some(place) = self.model.holds(&lease) {
            let waiting = &mut self.model.queue[place];
            waiting.held = None;
            waiting.starts -= 1;
        }
    }

    async fn extend(&mut self, lease: usize) {
        let Some(lease) = self.lease(lease) else {
            return;
        };
        let until = self.now_ms + 2 * LEASE;
        let one = std::slice::from_ref(&lease);
        self.store().extend_leases(one, until).await.unwrap();
        if let Some(place) = self.model.holds(&lease) {
            self.model.queue[place].held = Some((lease, until));
        }
    }

    async fn reopen(&mut self, start: bool) {
        let old = self.store.take().unwrap();
        let store = self.factory.reopen(old).await;
        if start {
            self.epoch = store.start_node(&node(), self.now_ms).await.unwrap();
            for source in &mut self.sources {
                *source = leased_to(&*store, source, self.epoch).await;
            }
            for waiting in &mut self.model.queue {
                waiting.held = None;
            }
        }
        self.store = Some(store);
    }

    async fn compare(&mut self) -> Result<(), String> {
        let store = self.store();
        for (number, source) in self.sources.iter().enumerate() {
            let events = listed(&*store, source, &ordinary()).await;
            let found: Vec<_> = events
                .iter()
                .map(|event| (event.id, event.event.get().to_owned()))
                .collect();
            same!(found, self.model.listed(number), "listed");
        }
        let with_work = store
            .runnables_with_work(self.epoch, self.now_ms, None, 10)
            .await
            .unwrap();
        let has_work = self.model.free(self.now_ms).next().is_some();
        same!(!with_work.is_empty(), has_work, "whether there is work");
        Ok(())
    }
}

async fn live_through(factory: &dyn Factory, history: &[Step]) -> Result<(), String> {
    let mut world = World::begin(factory).await;
    for (number, step) in history.iter().enumerate() {
        let taken = world.take(step).await;
        taken.map_err(|why| format!("step {}, {step:?}: {why}", number + 1))?;
    }
    Ok(())
}

/// The same histories every time; one that fails is shrunk before it is shown.
pub async fn random_histories_agree_with_the_model(factory: &dyn Factory) {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let histories = proptest::collection::vec(step(), 1..STEPS);
    for _ in 0..HISTORIES {
        let mut history = histories.new_tree(&mut runner).unwrap();
        let Err(mut why) = live_through(factory, &history.current()).await else {
            continue;
        };
        let mut smallest = history.current();
        let mut goes_on = history.simplify();
        while goes_on {
            goes_on = match live_through(factory, &history.current()).await {
                Ok(()) => history.complicate(),
                Err(still) => {
                    (why, smallest) = (still, history.current());
                    history.simplify()
                }
            };
        }
        panic!("{why}\nin the history {smallest:#?}");
    }
}
