//! Holding runs back until the limits of their workflow let them begin.

use std::{collections::HashSet, sync::Arc, time::Duration};

use headwater_model::{id::InvocationId, time::EpochMs};
use headwater_workflow::{
    definition::{Settings, Template},
    path::Path,
    run::{Failure, Order, Question, Work},
};
use serde_json::value::RawValue;

use super::Actor;
use crate::{
    actor::insisted,
    error::PlatformError,
    workflows::{
        admission::{Keys, Verdict, is_limited},
        held::{Counted, Held, Judged, counted, key_text},
        live::LiveRun,
    },
};

impl Actor {
    /// Lets a run begin, or holds it back.
    pub(super) fn admit(&mut self, id: &InvocationId) {
        let Some(run) = self.runs.get_mut(id) else {
            return;
        };
        if run.is_admitted {
            return self.advance(id);
        }
        let settings = run.deployed.definition.settings.clone();
        let questions = questions(run);
        self.held.runs.push_back(id.clone());
        self.held.may_overflow = true;
        if is_limited(&settings) && !self.held.is_counted && self.held.counting.is_idle() {
            let (context, id) = (Arc::clone(&self.context), self.id.clone());
            let counting = settings.clone();
            self.held.counting.start(async move {
                let count = || counted(&context, &id, &counting);
                insisted(&context.core.stopping, count).await
            });
        }
        let Some(run) = self.runs.get_mut(id) else {
            return;
        };
        if questions.is_empty() || run.head.keys.is_some() {
            run.head.keys.get_or_insert_default();
            self.admit_held();
            return;
        }
        let order = Order {
            path: Path::root(),
            work: Work::Evaluate(questions),
        };
        self.prepare(id, order);
    }

    /// The keys of a run were evaluated.
    pub(super) fn keyed(
        &mut self,
        id: &InvocationId,
        answers: Result<Vec<Box<RawValue>>, Box<Failure>>,
    ) {
        let Some(run) = self.runs.get_mut(id) else {
            return;
        };
        let answers = match answers {
            Ok(answers) => answers,
            Err(failure) => {
                let reason = format!("{}: {}", asked(run), failure.error.line());
                return self.cancel_held(id, &reason);
            }
        };
        let settings = &run.deployed.definition.settings;
        let mut answers = answers.into_iter();
        let of_event = idempotency_key(run).and_then(|_| answers.next());
        let mut key = |template: Option<&Template>| {
            let answer = template.and_then(|_| answers.next());
            answer.map(|answer| key_text(&answer)).unwrap_or_default()
        };
        let keys = Keys {
            concurrency: key(concurrency_key(settings)),
            throttle: key(throttle_key(settings)),
        };
        match of_event {
            Some(answer) => self.take_key(id, &answer, keys),
            None => {
                run.head.keys = Some(keys);
                self.admit_held();
            }
        }
    }

    /// An answer about runs that are held came.
    pub(super) async fn on_judged(&mut self, judged: Judged) {
        match judged {
            Judged::Counted(counted) => self.counting_ended(counted).await,
            Judged::Taken(taken) => self.key_taken(taken),
            Judged::Overflowed(beyond) => self.overflowed(beyond),
        }
    }

    /// The runs that count already are known.
    async fn counting_ended(&mut self, counted: Result<Counted, PlatformError>) {
        let counted = match counted {
            Ok(counted) => counted,
            Err(error) => {
                for id in std::mem::take(&mut self.held.runs) {
                    if let Some(run) = self.runs.get(&id) {
                        let lease = run.claimed.lease.clone();
                        self.drop_run(&id);
                        self.put_off(&lease, &error).await;
                    }
                }
                return;
            }
        };
        let Some(settings) = self.settings_of_held() else {
            return;
        };
        let held = &mut self.held;
        let ended = std::mem::take(&mut held.ended);
        // The store may not know yet of some that began here before the workflow was deployed anew.
        let known: HashSet<_> = counted.running.iter().map(|(id, ..)| id).collect();
        for (id, run) in self.runs.iter().filter(|(_, run)| run.is_admitted) {
            if !known.contains(id) {
                let keys = run.head.keys.clone().unwrap_or_default();
                let began_at_ms = run.head.started_at_ms.unwrap_or(run.started_at_ms);
                held.admission.begins(&settings, id, &keys, began_at_ms);
            }
        }
        for (id, keys, began_at_ms) in counted.running {
            match ended.contains(&id) {
                // Its place is free already.
                true => held.admission.began(&settings, &keys, began_at_ms),
                false => held.admission.begins(&settings, &id, &keys, began_at_ms),
            }
        }
        for (keys, began_at_ms) in counted.began {
            held.admission.began(&settings, &keys, began_at_ms);
        }
        held.is_counted = true;
        self.admit_held();
    }

    /// Lets those begin that may, in their order.
    pub(super) fn admit_held(&mut self) {
        if self.stopping {
            return;
        }
        let now_ms = self.context.core.env.now_ms();
        self.held.next_ms = None;
        let mut begin = Vec::new();
        let (held, runs) = (&mut self.held, &mut self.runs);
        let mut next_ms: Option<EpochMs> = None;
        let mut is_behind_unknown = false;
        held.runs.retain(|id| {
            let Some(run) = runs.get_mut(id) else {
                return false;
            };
            let settings = &run.deployed.definition.settings;
            let may_ask = !is_limited(settings) || (held.is_counted && !is_behind_unknown);
            // A run whose key is not known yet may be of the same key as any behind it.
            let Some(keys) = run.head.keys.as_ref().filter(|_| may_ask) else {
                is_behind_unknown = true;
                return true;
            };
            match held.admission.ask(settings, id, keys, now_ms) {
                Verdict::Begins => {
                    run.begin(now_ms);
                    // Its place has to be durable before anything of it runs.
                    run.is_dirty = true;
                    begin.push(id.clone());
                    return false;
                }
                Verdict::WaitsUntil(until_ms) => {
                    next_ms = Some(next_ms.map_or(until_ms, |next| next.min(until_ms)))
                }
                Verdict::WaitsForAnother | Verdict::Paused => {}
            }
            true
        });
        held.next_ms = next_ms;
        for id in begin {
            self.held.beginning.insert(id.clone());
            self.advance(&id);
        }
    }

    /// A run has ended: its place is free.
    pub(super) fn gave_place(&mut self, id: &InvocationId) {
        self.held.admission.ended(id);
        if !self.held.counting.is_idle() {
            self.held.ended.insert(id.clone());
        }
        self.admit_held();
    }

    /// The workflow was deployed anew: runs that have not begun follow the new deployment.
    pub(super) fn reload(&mut self) -> Vec<InvocationId> {
        let held: Vec<InvocationId> = self.held.runs.drain(..).collect();
        self.held = Held::default();
        self.more = true;
        held
    }

    /// The time until one of the held runs may begin by the clock.
    pub(super) fn until_next(&self) -> Option<Duration> {
        let env = &self.context.core.env;
        self.held
            .next_ms
            .map(|next_ms| env.lasting(next_ms.since(env.now_ms())))
    }

    pub(super) fn settings_of_held(&self) -> Option<Settings> {
        let first = self.held.runs.iter().find_map(|id| self.runs.get(id));
        first.map(|run| run.deployed.definition.settings.clone())
    }
}

/// The expressions to be evaluated before a run may begin.
fn questions(run: &LiveRun) -> Vec<Question> {
    let settings = &run.deployed.definition.settings;
    let keys = [
        idempotency_key(run),
        concurrency_key(settings),
        throttle_key(settings),
    ];
    keys.into_iter()
        .flatten()
        .cloned()
        .map(Question::Value)
        .collect()
}

/// The keys that were asked for, as the reason of a run that cannot have them names them.
fn asked(run: &LiveRun) -> &'static str {
    let settings = &run.deployed.definition.settings;
    let has_limits = concurrency_key(settings).is_some() || throttle_key(settings).is_some();
    match (idempotency_key(run).is_some(), has_limits) {
        (true, false) => "the trigger's `idempotency_key`",
        (false, _) => "the key of a limit",
        (true, true) => "the trigger's `idempotency_key`, or the key of a limit",
    }
}

fn idempotency_key(run: &LiveRun) -> Option<&Template> {
    run.deployed.idempotency_key(run.claimed.trigger_id()?)
}

fn concurrency_key(settings: &Settings) -> Option<&Template> {
    settings.concurrency.as_ref()?.key.as_ref()
}

fn throttle_key(settings: &Settings) -> Option<&Template> {
    settings.throttle.as_ref()?.key.as_ref()
}
