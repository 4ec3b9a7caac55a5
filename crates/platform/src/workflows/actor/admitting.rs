//! Holding runs back until the limits of their workflow let them begin.

use std::{sync::Arc, time::Duration};

use headwater_model::{id::InvocationId, time::EpochMs};
use headwater_workflow::{
    definition::{Settings, Template},
    path::Path,
    run::{Failure, Order, Question, Work},
};
use serde_json::{Value, value::RawValue};

use super::Actor;
use crate::{
    error::PlatformError,
    workflows::{
        admission::{Keys, Verdict},
        held::{Counted, Held, counted},
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
        self.held.runs.push_back(id.clone());
        if !self.held.is_counted && self.held.counting.is_idle() {
            let (context, id) = (Arc::clone(&self.context), self.id.clone());
            let counting = settings.clone();
            self.held
                .counting
                .start(async move { counted(&context, &id, &counting).await });
        }
        let questions = key_questions(&settings);
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
        let settings = &run.deployed.definition.settings;
        let answers = match answers {
            Ok(answers) => answers,
            Err(failure) => {
                let reason = format!("the key of a limit: {}", failure.error.line());
                run.tree.cancel(&reason);
                run.is_admitted = true;
                run.is_dirty = true;
                self.held.runs.retain(|held| held != id);
                return self.advance(id);
            }
        };
        let mut answers = answers.iter().map(|answer| key_text(answer));
        let mut key =
            |template: Option<&Template>| template.and_then(|_| answers.next()).unwrap_or_default();
        run.head.keys = Some(Keys {
            concurrency: key(settings
                .concurrency
                .as_ref()
                .and_then(|limit| limit.key.as_ref())),
            throttle: key(settings
                .throttle
                .as_ref()
                .and_then(|limit| limit.key.as_ref())),
        });
        self.admit_held();
    }

    /// The runs that count already are known.
    pub(super) fn counting_ended(&mut self, counted: Result<Counted, PlatformError>) {
        let counted = match counted {
            Ok(counted) => counted,
            Err(error) => {
                tracing::error!(workflow_id = %self.id, %error, "cannot count the runs of a workflow; those that wait for room wait longer");
                return;
            }
        };
        let Some(settings) = self.settings_of_held() else {
            return;
        };
        let held = &mut self.held;
        for (id, keys, began_at_ms) in counted.running {
            held.admission.begins(&settings, &id, &keys, began_at_ms);
        }
        for (keys, began_at_ms) in counted.began {
            held.admission.began(&settings, &keys, began_at_ms);
        }
        held.is_counted = true;
        self.admit_held();
    }

    /// Lets those begin that may, in their order.
    pub(super) fn admit_held(&mut self) {
        if !self.held.is_counted || self.stopping {
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
            // A run whose key is not known yet may be of the same key as any behind it.
            let Some(keys) = run.head.keys.as_ref().filter(|_| !is_behind_unknown) else {
                is_behind_unknown = true;
                return true;
            };
            match held
                .admission
                .ask(&run.deployed.definition.settings, id, keys, now_ms)
            {
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
            self.advance(&id);
        }
    }

    /// A run has ended: its place is free.
    pub(super) fn gave_place(&mut self, id: &InvocationId) {
        self.held.admission.ended(id);
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

    fn settings_of_held(&self) -> Option<Settings> {
        let first = self.held.runs.iter().find_map(|id| self.runs.get(id));
        first.map(|run| run.deployed.definition.settings.clone())
    }
}

fn key_questions(settings: &Settings) -> Vec<Question> {
    let keys = [
        settings
            .concurrency
            .as_ref()
            .and_then(|limit| limit.key.clone()),
        settings
            .throttle
            .as_ref()
            .and_then(|limit| limit.key.clone()),
    ];
    keys.into_iter().flatten().map(Question::Value).collect()
}

/// The text that runs are told apart by.
fn key_text(answer: &RawValue) -> String {
    match serde_json::from_str(answer.get()) {
        Ok(Value::String(text)) => text,
        _ => answer.get().to_owned(),
    }
}
