//! A scripted executor: it ends steps and answers questions as a test says, and can crash.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use headwater_model::time::EpochMs;
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

use crate::{
    definition::Definition,
    path::Path,
    run::{
        Blob, Cause, Closing, Exported, Failure, FlowCall, Kept, Order, Place, PlaceStatus,
        Resolution, Resolved, Root, RunEnd, RunTree, State, StepEnd, StepOutcome, Work,
    },
};

/// The ends and answers that the executor has ready. Steps without a script return nothing.
#[derive(Clone, Default)]
pub(super) struct Script {
    ends: HashMap<String, VecDeque<StepEnd>>,
    answers: HashMap<String, VecDeque<Result<Value, Box<Failure>>>>,
    refused_calls: HashMap<String, Failure>,
    returns: Returns,
}

/// The return values of steps without a script.
#[derive(Clone, Copy, Default)]
enum Returns {
    #[default]
    Nothing,
    Names,
    Paths,
}

fn end(outcome: StepOutcome) -> StepEnd {
    StepEnd {
        outcome,
        exports: Vec::new(),
        exit: None,
        flow: Vec::new(),
        chance: 0.5,
    }
}

impl Script {
    pub(super) fn new() -> Self {
        Self::default()
    }

    fn with(mut self, step: &str, end: StepEnd) -> Self {
        self.ends.entry(step.to_owned()).or_default().push_back(end);
        self
    }

    pub(super) fn returns(self, step: &str, value: Value) -> Self {
        self.with(step, end(StepOutcome::Returned(Some(Kept::of(&value)))))
    }

    pub(super) fn skips(self, step: &str) -> Self {
        self.with(step, end(StepOutcome::Skipped))
    }

    pub(super) fn fails(self, step: &str, failure: Failure) -> Self {
        self.with(step, end(StepOutcome::Failed(failure)))
    }

    pub(super) fn throws(self, step: &str, message: &str) -> Self {
        self.fails(step, Failure::stated(Cause::Thrown, "Error", message))
    }

    pub(super) fn exits(self, step: &str, reason: &str) -> Self {
        let exit = Some(reason.to_owned());
        self.with(
            step,
            StepEnd {
                exit,
                ..end(StepOutcome::Returned(None))
            },
        )
    }

    pub(super) fn pauses(self, step: &str, call: FlowCall) -> Self {
        let flow = vec![call];
        self.with(
            step,
            StepEnd {
                flow,
                ..end(StepOutcome::Returned(None))
            },
        )
    }

    /// The answers to the next questions of a block, as an array.
    pub(super) fn answers(mut self, block: &str, answers: Value) -> Self {
        self.answers
            .entry(block.to_owned())
            .or_default()
            .push_back(Ok(answers));
        self
    }

    /// An expression of a block throws.
    pub(super) fn cannot_answer(mut self, block: &str, message: &str) -> Self {
        let failure = Failure::stated(Cause::Thrown, "Error", message);
        let answers = self.answers.entry(block.to_owned()).or_default();
        answers.push_back(Err(Box::new(failure)));
        self
    }

    /// The workflow that a block calls is not there.
    pub(super) fn cannot_call(mut self, block: &str, message: &str) -> Self {
        let failure = Failure::stated(Cause::Configuration, "ConfigurationError", message);
        self.refused_calls.insert(block.to_owned(), failure);
        self
    }

    fn answer(&mut self, path: &Path) -> Result<Vec<Box<RawValue>>, Box<Failure>> {
        let answers = self.answers.get_mut(&path.to_string());
        let answers = answers.and_then(VecDeque::pop_front);
        let answers = answers.unwrap_or_else(|| panic!("nobody answers {path}"))?;
        let answers = answers.as_array().unwrap().iter();
        Ok(answers.map(|one| to_raw_value(one).unwrap()).collect())
    }

    /// Steps return their names.
    pub(super) fn returning_names(mut self) -> Self {
        self.returns = Returns::Names;
        self
    }

    /// Steps return their paths.
    pub(super) fn returning_paths(mut self) -> Self {
        self.returns = Returns::Paths;
        self
    }

    fn next(&mut self, path: &Path) -> StepEnd {
        let scripted = self
            .ends
            .get_mut(&path.to_string())
            .and_then(VecDeque::pop_front);
        scripted.unwrap_or_else(|| {
            let value = match self.returns {
                Returns::Nothing => None,
                Returns::Names => path.to_string().rsplit('.').next().map(Value::from),
                Returns::Paths => Some(Value::from(path.to_string())),
            };
            end(StepOutcome::Returned(value.map(|value| Kept::of(&value))))
        })
    }
}

/// A run under way.
pub(super) struct Story {
    tree: RunTree,
    script: Script,
    now_ms: EpochMs,
    pending: Vec<Path>,
    calls: Vec<String>,
    /// `steps` as each execution found it.
    scopes: HashMap<String, Value>,
    state: State,
    /// The run as a store would have it.
    stored: (Root, BTreeMap<Path, String>),
    scripts_stored: Script,
}

impl Story {
    pub(super) fn of(text: &str, script: Script) -> Self {
        let text = format!("schema: workflow/2022.04\nname: Test\n{text}");
        let definition = Definition::read(&text, &[]).unwrap();
        Self::from_tree(RunTree::new(Arc::new(definition)), script)
    }

    pub(super) fn from_tree(tree: RunTree, script: Script) -> Self {
        let mut story = Self {
            tree,
            scripts_stored: script.clone(),
            script,
            now_ms: EpochMs(1_000_000),
            pending: Vec::new(),
            calls: Vec::new(),
            scopes: HashMap::new(),
            state: State::Running,
            stored: (Root::default(), BTreeMap::new()),
        };
        let places = story.tree.places().iter();
        let bodies =
            places.map(|(path, place)| (path.clone(), serde_json::to_string(place).unwrap()));
        story.stored.1 = bodies.collect();
        story.advance();
        story
    }

    /// Goes on until code is to run; expressions are answered at once.
    fn advance(&mut self) {
        loop {
            let (orders, state) = self.tree.advance(self.now_ms);
            self.state = state;
            self.commit();
            let mut has_answered = false;
            for Order { path, work } in orders {
                match work {
                    Work::Step => {
                        self.calls.push(path.to_string());
                        let scope = self.scope(&path);
                        self.scopes.insert(path.to_string(), scope);
                        self.pending.push(path);
                    }
                    Work::Evaluate(_) => {
                        let answers = self.script.answer(&path);
                        let answers = answers.map_err(|failure| *failure);
                        self.tree.answered(&path, answers, self.now_ms);
                        has_answered = true;
                    }
                    Work::Call {
                        workflow,
                        event,
                        waits,
                    } => {
                        let event = event.text().unwrap();
                        self.calls.push(format!("{path}: {workflow} {event}"));
                        let called = match self.script.refused_calls.get(&path.to_string()) {
                            Some(failure) => Err(failure.clone()),
                            None => Ok("r_1"),
                        };
                        self.tree.called(&path, called, waits, self.now_ms);
                        has_answered = true;
                    }
                }
            }
            if !has_answered {
                return;
            }
        }
    }

    fn commit(&mut self) {
        self.stored.0 = self.tree.root().clone();
        for path in self.tree.take_changes() {
            let body = serde_json::to_string(&self.tree.places()[&path]).unwrap();
            self.stored.1.insert(path, body);
        }
        self.scripts_stored = self.script.clone();
    }

    /// Forgets everything but what was committed.
    pub(super) fn crash(&mut self) {
        let places = self.stored.1.iter();
        let places = places.map(|(path, body)| (path.clone(), serde_json::from_str(body).unwrap()));
        let definition = Arc::clone(self.tree.definition());
        self.tree = RunTree::load(definition, self.stored.0.clone(), places.collect());
        self.script = self.scripts_stored.clone();
        self.pending.clear();
        self.advance();
    }

    /// Ends the execution of a step as its script says.
    pub(super) fn end(&mut self, step: &str) {
        let path: Path = step.parse().unwrap();
        self.pending.retain(|pending| *pending != path);
        let end = self.script.next(&path);
        self.tree.step_ended(&path, end, self.now_ms);
        self.advance();
    }

    /// Ends two executions before anything follows from either.
    pub(super) fn end_both(&mut self, steps: [&str; 2]) {
        for step in steps {
            let path: Path = step.parse().unwrap();
            self.pending.retain(|pending| *pending != path);
            let end = self.script.next(&path);
            self.tree.step_ended(&path, end, self.now_ms);
        }
        self.advance();
    }

    /// Ends steps in their order, and lets time pass, until the run ends.
    pub(super) fn run(&mut self) -> RunEnd {
        self.run_with_crashes(usize::MAX)
    }

    pub(super) fn run_with_crashes(&mut self, every: usize) -> RunEnd {
        let mut ended = 0;
        loop {
            if let State::Ended(end) = &self.state {
                return end.clone();
            }
            match (self.pending.first(), self.waits_for()) {
                (Some(next), _) => self.end(&next.to_string()),
                (None, Some(span)) => self.pass(span),
                (None, None) => panic!("it waits for an answer"),
            }
            ended += 1;
            if ended % every == 0 {
                self.crash();
            }
        }
    }

    /// Lets time pass.
    pub(super) fn pass(&mut self, span: Duration) {
        self.now_ms = self.now_ms + span;
        self.tree.wake(self.now_ms);
        self.advance();
    }

    pub(super) fn resolve(
        &mut self,
        step: &str,
        generation: u32,
        resolution: Resolution,
    ) -> Resolved {
        let resolved =
            self.tree
                .resolve(&step.parse().unwrap(), generation, resolution, self.now_ms);
        self.advance();
        resolved
    }

    pub(super) fn cancel(&mut self, reason: &str) {
        self.tree.cancel(reason);
        self.advance();
    }

    pub(super) fn state(&self) -> State {
        self.state.clone()
    }

    pub(super) fn closing(&self) -> Option<&Closing> {
        self.tree.root().closing.as_ref()
    }

    /// The waits that have not begun and are answered.
    pub(super) fn ahead(&self) -> Vec<String> {
        let ahead = self.tree.root().early.iter();
        ahead.map(|(path, _)| path.to_string()).collect()
    }

    /// The time until the run goes on by itself.
    pub(super) fn waits_for(&self) -> Option<Duration> {
        match &self.state {
            State::Waiting(until_ms) => until_ms.map(|until_ms| until_ms.since(self.now_ms)),
            State::Running | State::Ended(_) => None,
        }
    }

    /// Steps whose code runs.
    pub(super) fn pending(&self) -> Vec<String> {
        self.pending.iter().map(ToString::to_string).collect()
    }

    /// Every execution so far, and every call of another workflow.
    pub(super) fn calls(&self) -> Vec<&str> {
        self.calls.iter().map(String::as_str).collect()
    }

    pub(super) fn place(&self, path: &str) -> &Place {
        &self.tree.places()[&path.parse().unwrap()]
    }

    pub(super) fn places(&self) -> &BTreeMap<Path, Place> {
        self.tree.places()
    }

    pub(super) fn definition(&self) -> Arc<Definition> {
        Arc::clone(self.tree.definition())
    }

    pub(super) fn status(&self, path: &str) -> PlaceStatus {
        self.place(path).status
    }

    pub(super) fn executions(&self, path: &str) -> u32 {
        self.place(path).executions()
    }

    /// `steps` as the last execution of a step found it, without the trigger.
    pub(super) fn scope_of(&self, step: &str) -> Value {
        self.scopes[step].clone()
    }

    fn scope(&self, path: &Path) -> Value {
        let scope = self.tree.scope(path);
        let mut text = String::new();
        let blob = |_: &Blob| -> Result<Arc<str>, ()> { Err(()) };
        Exported::Object(scope).write(&mut text, &blob).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// The final places with their statuses and exports.
    pub(super) fn committed(&self) -> Vec<(String, PlaceStatus, String)> {
        let places = self.tree.places().iter();
        let shown = places.map(|(path, place)| {
            (
                path.to_string(),
                place.status,
                serde_json::to_string(&place.exports).unwrap(),
            )
        });
        shown.collect()
    }
}
