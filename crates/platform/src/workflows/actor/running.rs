//! Carrying out the orders of runs: code, expressions, calls of other workflows.

use std::{borrow::Cow, collections::BTreeSet, sync::Arc};

use headwater_engine::{Invocation, LogLevel};
use headwater_model::{
    id::{AccountId, InvocationId},
    outcome::Outcome,
    time::EpochMs,
};
use headwater_store::{NewInvocation, Trigger};
use headwater_workflow::{
    definition::NodeKind,
    path::Path,
    run::{Cause, Failure, Order, Place, RunEnd, State, StepOutcome, Work},
};
use serde_json::{json, value::to_raw_value};

use super::{Actor, Prepared, ResultTexts};
use crate::{
    error::PlatformError,
    log_line::LogLine,
    platform_event::iso_8601,
    workflows::{
        account_masks::accounts_marked_in,
        blob_texts::BlobTexts,
        context::WorkflowContext,
        effects::Sends,
        endings::{Awaited, Wanted},
        error_mail::Occasion,
        flight::{Executed, For},
        head::{CalledBy, Head},
        hiding::{Ending, Spoken, StepEnding},
        input,
        live::{LiveRun, NODES_LOST_MAX},
        masking::AT_ONCE,
        start::{Call, Execution, Start, knowing, prepared, with_large_input},
    },
};

/// The input of an execution.
enum Ready {
    Now(String),
    Later(Owed),
}

/// Something that an execution still needs.
enum Owed {
    /// The values in place of the marks in this input, which is large.
    Opening(String),
    /// These accounts, whose marks are in its input.
    Accounts(BTreeSet<AccountId>),
}

impl Actor {
    /// Goes on with a run: commits what has to be durable first, or carries out its orders.
    pub(super) fn advance(&mut self, id: &InvocationId) {
        let now_ms = self.context.core.env.now_ms();
        let Some(run) = self.runs.get_mut(id).filter(|run| run.is_admitted) else {
            return;
        };
        run.advance(now_ms);
        if run.committing.is_none()
            && let Some(wanted) = run.owed_result(&self.context.endings)
        {
            return self.read_result(id, wanted);
        }
        let is_reading = matches!(run.awaited, Awaited::Reading(_));
        if run.is_dirty && run.committing.is_none() && !is_reading {
            if let Some(lease) = &self.lease {
                if let State::Ended(RunEnd::Failed { at, failure }) = &run.standing {
                    let (at, failure) = (at.clone(), failure.clone());
                    tell_owner(&self.context, run, (&at, &failure), Occasion::End);
                }
                let commit = run.commit(lease, now_ms);
                self.commits.push(commit);
            }
            return;
        }
        if self.stopping {
            return;
        }
        let orders = run.take_orders();
        let is_given_up = !orders.is_empty() && std::mem::take(&mut run.is_given_up);
        for order in orders {
            match &order.work {
                Work::Step | Work::Evaluate(_) if is_given_up => self.give_up(id, order),
                Work::Step | Work::Evaluate(_) | Work::Call { .. } => self.prepare(id, order),
            }
        }
    }

    /// Fails code that was at work each time that a node ended: another one is not to end of it.
    fn give_up(&mut self, id: &InvocationId, order: Order) {
        let message = format!(
            "nodes ended {NODES_LOST_MAX} times in a row while this was at work; it may be the cause, such as by the \
             memory or the processes that it takes"
        );
        tracing::warn!(run_id = %id, path = %order.path, "{message}");
        let run = self.runs.get_mut(id);
        if let Some(place) = run.and_then(|run| run.tree.place_mut(&order.path)) {
            place.forgive_no_loss();
        }
        let spoken = Spoken {
            path: order.path,
            is_step: matches!(order.work, Work::Step),
            effects: Default::default(),
            outcome: Outcome::Lost { message },
            chance: self.context.core.env.chance(),
        };
        self.executed(Executed::of_none(id.clone(), spoken));
    }

    /// Reads the large values of the result that a step of another run waits for. The end is committed after it.
    fn read_result(&mut self, id: &InvocationId, wanted: Wanted) {
        let Some(run) = self.runs.get_mut(id) else {
            return;
        };
        let blobs = run.begin_reading(wanted);
        let (context, id) = (Arc::clone(&self.context), id.clone());
        self.results.push(Box::pin(async move {
            let texts = BlobTexts::read(&context.core, &id, blobs).await;
            (id, texts)
        }));
    }

    /// Goes on with the end of a run, whose result is known now.
    pub(super) fn result_read(&mut self, (id, texts): ResultTexts) {
        let Some(run) = self.runs.get_mut(&id) else {
            return;
        };
        match texts {
            Ok(texts) => run.read_result(&texts),
            // The next start of the node reads it again.
            Err(_) if self.stopping => return,
            Err(error) => {
                tracing::error!(run_id = %id, %error, "the result of a run cannot be read");
                run.read_result(&BlobTexts::default());
            }
        }
        self.advance(&id);
    }

    /// Reads what the order needs.
    pub(super) fn prepare(&mut self, id: &InvocationId, order: Order) {
        let Some(run) = self.runs.get(id) else {
            return;
        };
        let (context, deployed) = (Arc::clone(&self.context), Arc::clone(&run.deployed));
        let blobs = input::blobs(run, &order.path);
        let (id, hops) = (id.clone(), run.claimed.hops);
        self.preparing.push(Box::pin(async move {
            let Order { path, work } = order;
            let start = prepared(&context, &deployed, (&id, &path, hops), work, blobs).await;
            (id, path, start)
        }));
    }

    /// Carries an order out.
    pub(super) fn start_prepared(&mut self, (id, path, start): Prepared) {
        if !self.runs.contains_key(&id) {
            return;
        }
        let start = match start {
            Ok(start) => start,
            // The next start of the node tries it again.
            Err(_) if self.stopping => return,
            Err(error) => return self.not_prepared(&id, &path, &error),
        };
        match start {
            Start::Call(call) => self.call(&id, &path, call),
            Start::Execute(execution) => self.execute(id, path, *execution),
        }
    }

    /// Calls another workflow: its run is queued with this run's next commit.
    fn call(&mut self, id: &InvocationId, path: &Path, call: Call) {
        let env = &self.context.core.env;
        let (now_ms, called) = (env.now_ms(), env.id(InvocationId::new));
        let Some(run) = self.runs.get_mut(id) else {
            return;
        };
        let wait = input::wait_of(run, path);
        let called_by = CalledBy {
            run_id: wait.run_id,
            path: wait.path,
            generation: wait.generation,
        };
        let head = Head {
            called_by: call.waits.then_some(called_by),
            ..Head::default()
        };
        run.pending.calls.push(NewInvocation {
            id: called.clone(),
            runnable: call.runnable,
            trigger: Trigger::Call,
            via: None,
            event: call.event,
            hops: run.claimed.hops + 1,
            now_ms,
            due_at_ms: EpochMs(0),
            origin: run.claimed.origin.clone(),
            state: to_raw_value(&head).ok(),
        });
        let called = Ok(called.as_str());
        run.tree.called(path, called, call.waits, now_ms);
        run.is_dirty = true;
        self.advance(id);
    }

    /// Has a worker execute code or expressions.
    fn execute(&mut self, id: InvocationId, path: Path, mut execution: Execution) {
        let text = match execution.input.take() {
            Some(text) => text,
            None => match self.input(&id, &path, &execution) {
                Ok(Ready::Now(text)) => text,
                Ok(Ready::Later(owed)) => return self.prepare_more(id, path, execution, owed),
                Err(error) => return self.not_prepared(&id, &path, &error),
            },
        };
        let Some(run) = self.runs.get_mut(&id) else {
            return;
        };
        let of = For {
            run: id,
            owner: run.deployed.workflow.owner.clone(),
            is_step: !matches!(execution.work, Work::Evaluate(_)),
            hops: run.claimed.hops,
            masks: execution.masks,
            path,
        };
        run.worker = Some(execution.worker.owner.clone());
        let wall = Some(run.time_limit(&of.path));
        self.flight.start(of, execution.worker, |run| Invocation {
            run,
            entry: execution.entry,
            event: input::raw(text),
            props: execution.props,
            wall,
        });
    }

    /// The input of an execution with the values in place of their marks, unless that takes more than this task may do.
    ///
    /// # Errors
    /// The text of a blob is missing.
    fn input(
        &self,
        id: &InvocationId,
        path: &Path,
        execution: &Execution,
    ) -> Result<Ready, PlatformError> {
        let run = self.runs.get(id);
        let run = run.ok_or_else(|| PlatformError::not_found("run", id))?;
        let now_ms = self.context.core.env.now_ms();
        let (texts, urls) = (&execution.texts, self.context.urls());
        let text = match &execution.work {
            Work::Evaluate(questions) => {
                input::evaluation(run, path, questions, &urls, now_ms, texts)?
            }
            Work::Step | Work::Call { .. } => input::step(run, path, &urls, now_ms, texts)?,
        };
        if text.len() > AT_ONCE {
            return Ok(Ready::Later(Owed::Opening(text)));
        }
        let text = match execution.masks.opened(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(opened) => opened,
        };
        let accounts = match execution.knows_marks {
            true => BTreeSet::new(),
            false => accounts_marked_in(&text),
        };
        Ok(match accounts.is_empty() {
            true => Ready::Now(text),
            false => Ready::Later(Owed::Accounts(accounts)),
        })
    }

    /// Does what an execution still needs, and starts it then.
    fn prepare_more(&self, id: InvocationId, path: Path, execution: Execution, owed: Owed) {
        let Some(run) = self.runs.get(&id) else {
            return;
        };
        let (context, owner) = (
            Arc::clone(&self.context),
            run.deployed.workflow.owner.clone(),
        );
        self.preparing.push(Box::pin(async move {
            let execution = match owed {
                Owed::Opening(text) => with_large_input(&context, &owner, text, execution).await,
                Owed::Accounts(accounts) => knowing(&context, &owner, accounts, execution).await,
            };
            let start = execution.map(|execution| Start::Execute(Box::new(execution)));
            (id, path, start)
        }));
    }

    fn not_prepared(&mut self, id: &InvocationId, path: &Path, error: &PlatformError) {
        let outcome = Outcome::Threw {
            error: headwater_model::outcome::ComponentError {
                name: "ConfigurationError".to_owned(),
                message: error.to_string(),
                ..Default::default()
            },
        };
        let is_step = self
            .runs
            .get(id)
            .and_then(|run| run.tree.node(path))
            .is_some_and(|node| matches!(node.kind, NodeKind::Step(_)));
        let spoken = Spoken {
            path: path.clone(),
            is_step,
            effects: Default::default(),
            outcome,
            chance: self.context.core.env.chance(),
        };
        self.executed(Executed::of_none(id.clone(), spoken));
    }

    /// An execution ended.
    pub(super) fn executed(&mut self, executed: Executed) {
        let now_ms = self.context.core.env.now_ms();
        let Some(run) = self.runs.get_mut(&executed.run) else {
            return;
        };
        run.pending.usage.add(executed.usage);
        match executed.ending {
            Ending::Answers(answers) => {
                if executed.path == Path::root() {
                    return self.keyed(&executed.run, answers);
                }
                let answers = answers.map_err(|failure| *failure);
                run.tree.answered(&executed.path, answers, now_ms);
            }
            Ending::Step(ending) => {
                run.pending.kv_writes.extend(executed.kv_writes);
                step_ended(&self.context, run, &executed.path, *ending);
            }
        }
        run.is_dirty = true;
        let id = executed.run;
        self.advance(&id);
    }
}

/// The code of a step ended.
fn step_ended(context: &WorkflowContext, run: &mut LiveRun, path: &Path, ending: StepEnding) {
    let now_ms = context.core.env.now_ms();
    let StepEnding {
        mut end,
        mut sends,
        logs,
    } = ending;
    let place = run.tree.places().get(path);
    let tries = place.map_or(1, |place| place.failed_tries + 1);
    sends.number_from(place.map_or(0, Place::next_send));
    if let StepOutcome::Failed(failure) = &mut end.outcome {
        name_setting(failure);
    }
    if !run.measure(&mut end, context.core.config.workflow_results) {
        sends = Sends::default();
    }
    run.logs.add(path, logs);
    if let Some(place) = run.tree.place_mut(path) {
        place.note_sent(sends.queued.len());
    }
    run.pending.sends.extend(sends.queued);
    run.emit(sends.emitted, sends.streamed);
    run.tree.step_ended(path, end, now_ms);
    export_attempt(context, run, path);
    log_try(run, path, tries, now_ms);
    tell_of_first_try(context, run, path);
}

/// Adds the setting by which a step that came to a limit gets more.
fn name_setting(failure: &mut Failure) {
    let raise = match failure.cause {
        Cause::Timeout => "raise the step's `timeout`, or `lambda_timeout` in the settings",
        Cause::OutOfMemory => "raise `lambda_memory` in the settings (MB)",
        Cause::TooMuchOutput => {
            "keep large data in files (`$.files`), or raise `--run-output-mib` of the node"
        }
        Cause::Thrown
        | Cause::Configuration
        | Cause::WorkerLost
        | Cause::WaitTimedOut
        | Cause::Called => return,
    };
    failure.error.message = format!("{}; {raise}", failure.error.message);
}

/// Exports what is known of a try that failed, if another one follows.
fn export_attempt(context: &WorkflowContext, run: &mut LiveRun, path: &Path) {
    let urls = context.urls().of(&input::wait_of(run, path));
    let Some(place) = run
        .tree
        .place_mut(path)
        .filter(|place| place.awaits_retry())
    else {
        return;
    };
    let until_ms = place.wait.as_ref().and_then(|wait| wait.until_ms);
    let (Some(failure), Some(until_ms)) = (&place.failure, until_ms) else {
        return;
    };
    let resume_ts = iso_8601(until_ms);
    let summary = format!("{}; tried again at {resume_ts}", failure.error.titled());
    let attempt = json!({
        "error": failure.shown(),
        "cancel_url": urls.cancel,
        "rerun_url": urls.rerun,
        "resume_ts": resume_ts,
    });
    place.export_attempt(&summary, &attempt);
}

/// Logs the error of a try that failed, if another one follows, which may fail otherwise.
fn log_try(run: &mut LiveRun, path: &Path, number: u32, now_ms: EpochMs) {
    let place = run.tree.places().get(path);
    let failed = place.filter(|place| place.awaits_retry() && place.failed_tries == number);
    let Some(failure) = failed.and_then(|place| place.failure.as_ref()) else {
        return;
    };
    let stack = failure.error.stack.trim_end();
    let error = match stack.is_empty() {
        true => failure.error.titled(),
        false => stack.to_owned(),
    };
    let line = LogLine {
        level: LogLevel::Error,
        message: format!("try {number} failed: {error}"),
        ts: now_ms,
    };
    run.logs.add(path, vec![line]);
}

/// Tells of the first failure of a step that is tried again, if its workflow wants that.
fn tell_of_first_try(context: &WorkflowContext, run: &mut LiveRun, path: &Path) {
    let place = run.tree.places().get(path);
    let first = place.filter(|place| place.failed_tries == 1 && place.awaits_retry());
    let Some(failure) = first.and_then(|place| place.failure.clone()) else {
        return;
    };
    let settings = &run.deployed.definition.settings;
    if settings.notifies_of_first_error && !run.head.is_test {
        let event = run.error_event(path, &failure, false);
        run.pending.events.push(event);
        tell_owner(context, run, (path, &failure), Occasion::FirstTry);
    }
}

/// Sends the owner a mail about a failure with the next commit, if this node sends mail.
fn tell_owner(
    context: &WorkflowContext,
    run: &mut LiveRun,
    failed: (&Path, &Failure),
    occasion: Occasion,
) {
    if context.core.config.mail.is_none() {
        return;
    }
    let now_ms = context.core.env.now_ms();
    let mail = context.error_mails.about(run, failed, occasion, now_ms);
    run.pending.sends.extend(mail);
}
