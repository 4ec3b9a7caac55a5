//! `dev`: deploys a source from a file, deploys it again whenever the file or one that it imports is
//! saved, and prints the source's events and logs. A save that does not work leaves the former version
//! running.

mod keys;
mod live;
mod remembered;
mod signals;
mod watch;

use std::path::PathBuf;
use std::pin::Pin;

use anyhow::{Context as _, Result};
use reqwest::Method;
use serde_json::{Value, json};

use self::live::{Addresses, Live};
use self::remembered::Remembered;
pub(super) use self::remembered::file_of;
pub(super) use self::signals::Signals;
pub(super) use self::watch::PERIOD as WATCH_PERIOD;
use self::watch::Watch;
use super::{outcome, save, show, starting};
use crate::arguments::DevArguments;
use crate::bundle;
use crate::client::ClientError;
use crate::exit::{self, Exit};
use crate::output;
use crate::prop::{self, Given, Stopped};
use crate::session::Session;
use crate::source::{self, text};
use crate::usage_error::UsageError;

pub(super) async fn run(session: &Session, arguments: DevArguments) -> Result<Exit> {
    let given = Given::read(&arguments.props)?;
    let file = arguments.file.canonicalize();
    let file = file.with_context(|| format!("cannot read {}", arguments.file.display()))?;
    let mut dev = Dev {
        session,
        remembered: Remembered::open(&file, &session.client).await?,
        watch: Watch::new(&file),
        shown: arguments.file,
        file,
        given,
        name: arguments.name,
        deploys_anyway: arguments.anyway,
        under_way: None,
        displayed: None,
        called: None,
    };
    let mut signals = Signals::listen()?;
    tokio::select! {
        ended = dev.watch() => ended?,
        () = signals.next() => {}
    }
    tokio::select! {
        left = dev.finish(arguments.delete_on_exit) => left?,
        () = signals.next() => {
            output::tell("stopped waiting; the node continues the deployment, and `headwater list` shows its result");
            return Ok(Exit::Failure);
        }
    }
    Ok(Exit::Success)
}

/// The key that runs the source.
const RUN_KEY: u8 = b'r';

/// The node's answer when a deployment has ended.
type Deployed<'a> = Pin<Box<dyn Future<Output = Result<Value>> + Send + 'a>>;

struct Dev<'a> {
    session: &'a Session,
    file: PathBuf,
    /// The file as the person calls it.
    shown: PathBuf,
    given: Given,
    name: Option<String>,
    /// Whether also code that nothing would start is deployed.
    deploys_anyway: bool,
    remembered: Remembered,
    watch: Watch,
    /// A deployment that the node was asked for, and carries to its end: without waiting for it, a
    /// source would be left that nobody remembers.
    under_way: Option<Deployed<'a>>,
    /// The last display of the source.
    displayed: Option<String>,
    /// The name by which commands know the source.
    called: Option<String>,
}

impl<'a> Dev<'a> {
    /// Watches and deploys until an error that no save can mend.
    async fn watch(&mut self) -> Result<()> {
        let from_now = self.is_known().await?;
        if !from_now {
            self.deploy_with_retries().await?;
        }
        let Some(id) = self.remembered.source_id().map(str::to_owned) else {
            return Ok(());
        };
        let addresses = Addresses::of(&id);
        let file = self.shown.clone();
        let mut live = Live::new(self.session, &file, &addresses);
        if from_now {
            live.skip_past().await?;
        }
        let changes = self.follow_changes(from_now);
        tokio::try_join!(live.print(), changes)?;
        Ok(())
    }

    /// Deploys each save; first of all the files as they are, if that is still to be done.
    async fn follow_changes(&mut self, mut is_due: bool) -> Result<()> {
        loop {
            if is_due {
                self.attempt().await?;
            }
            is_due = tokio::select! {
                () = self.watch.changed() => true,
                () = keys::pressed(RUN_KEY) => false,
            };
            if !is_due {
                self.run_once().await?;
            }
        }
    }

    /// Runs the source by hand. Its events, logs and errors come as those of every run.
    async fn run_once(&self) -> Result<()> {
        let Some(id) = self.remembered.source_id() else {
            return Ok(());
        };
        output::tell("running it");
        let path = ["sources", id, "run"];
        match self.session.client.post(&path, &json!({})).await {
            Ok(report) => output::tell(&format!(
                "the run ended: {}, {}",
                text(&report["outcome"], "status"),
                outcome::emitted(&report)
            )),
            Err(error) => exit::print_error(&error),
        }
        Ok(())
    }

    /// Whether the source of an earlier time still is there.
    async fn is_known(&mut self) -> Result<bool> {
        let Some(id) = self.remembered.source_id() else {
            return Ok(false);
        };
        let Err(error) = self.session.client.get(&["sources", id]).await else {
            return Ok(true);
        };
        match error.downcast_ref::<ClientError>() {
            Some(refused) if refused.is_not_found() => {
                self.remembered.forget()?;
                Ok(false)
            }
            _ => Err(error),
        }
    }

    /// Tries each save until one is deployed.
    async fn deploy_with_retries(&mut self) -> Result<()> {
        loop {
            self.attempt().await?;
            if self.remembered.source_id().is_some() {
                return Ok(());
            }
            self.watch.changed().await;
        }
    }

    /// Deploys the files as they are now. A fault that the next save can mend is printed; the rest is an
    /// error.
    async fn attempt(&mut self) -> Result<()> {
        self.watch.look();
        let shown = self.shown.display().to_string();
        let is_first = self.remembered.source_id().is_none();
        let error = match self.deploy().await {
            Ok(source) => {
                self.called = Some(source::called(&source).to_owned());
                let brief = show::brief(&source);
                if self.displayed.replace(brief.clone()) != Some(brief.clone()) {
                    output::note(&brief);
                    self.tell_next_run(&source, is_first).await;
                }
                let run = match keys::possible() {
                    true => "r runs it now, ",
                    false => "",
                };
                output::tell(&format!(
                    "live; saving {shown} deploys it again, {run}Ctrl-C ends"
                ));
                return Ok(());
            }
            Err(error) => save::in_terms_of(error, Some(&self.shown)),
        };
        let is_refused = error
            .downcast_ref::<ClientError>()
            .is_some_and(|refused| refused.status() == Some(401));
        if error.is::<Stopped>() || is_refused || (is_first && error.is::<UsageError>()) {
            return Err(error);
        }
        exit::print_error(&error);
        output::tell(&match is_first {
            true => format!("not deployed; waiting for {shown} to be saved"),
            false => format!("the former version keeps running; waiting for {shown} to be saved"),
        });
        Ok(())
    }

    /// Says when a timer starts the next run: nothing is seen of the source until then.
    async fn tell_next_run(&self, source: &Value, is_first: bool) {
        if source::timers(source).is_empty() {
            return;
        }
        if let Some(when) = starting::next_run(&self.session.client, source).await {
            let which = if is_first { "first" } else { "next" };
            let called = source::called(source);
            output::tell(&format!(
                "{which} run {when}; `headwater run {called}` runs it now"
            ));
        }
    }

    async fn deploy(&mut self) -> Result<Value> {
        let deployed = self.request().await?;
        let source = self.under_way.insert(deployed).await;
        self.under_way = None;
        self.keep(source?)
    }

    /// Saves the component and asks for its props; the answer is the request that deploys it, not sent yet.
    async fn request(&mut self) -> Result<Deployed<'a>> {
        let component = self.save().await?;
        let client = &self.session.client;
        let known = self.remembered.source_id().map(str::to_owned);
        let former = match &known {
            Some(id) => Some(client.get(&["sources", id]).await?),
            None => None,
        };
        let given = self.given.clone();
        let props = async {
            if !self.deploys_anyway {
                let shown = self.shown.display().to_string();
                starting::refuse_never(client, &component, former.as_ref(), &shown).await?;
            }
            prop::collect(client, &component, given, former.as_ref()).await
        };
        let props = save::unless_refused(client, &component, props.await).await?;
        let mut body = json!({"component_id": component["id"]});
        if !props.is_empty() {
            body["configured_props"] = props.into();
        }
        if let Some(name) = &self.name {
            body["name"] = name.as_str().into();
        }
        Ok(Box::pin(async move {
            let deployed = match known {
                None => client.post_scoped(&["sources"], body).await,
                Some(id) => {
                    body["active"] = true.into();
                    client.send(Method::PUT, &["sources", &id], &body).await
                }
            };
            save::unless_refused(client, &component, deployed).await
        }))
    }

    fn keep(&mut self, source: Value) -> Result<Value> {
        if self.remembered.source_id().is_none() {
            self.remembered.keep(text(&source, "id"))?;
        }
        Ok(source)
    }

    async fn save(&mut self) -> Result<Value> {
        let local = bundle::component(&self.file).await;
        self.watch
            .follow(local.as_ref().ok().map(|local| &*local.files));
        let body = local?.body();
        let component = self
            .session
            .client
            .post_scoped(&["components"], body)
            .await?;
        match text(&component, "type") {
            "action" => Err(UsageError(format!(
                "{file} is an action; run it with `headwater run-action {file}`",
                file = self.shown.display()
            ))
            .into()),
            _ => Ok(component),
        }
    }

    /// The end of watching: the source is kept or deleted.
    async fn finish(&mut self, delete: bool) -> Result<()> {
        if let Some(deployed) = self.under_way.take() {
            output::tell("waiting for the deployment to end; Ctrl-C again gives up");
            let source = deployed.await;
            if let Err(error) = source.and_then(|source| self.keep(source)) {
                exit::print_error(&save::in_terms_of(error, Some(&self.shown)));
            }
        }
        let Some(id) = self.remembered.source_id() else {
            return Ok(());
        };
        if !delete {
            let called = self.called.as_deref().unwrap_or(id);
            output::tell(&format!(
                "{called} stays deployed, and `headwater dev {}` continues with it; `headwater delete {called}` deletes it",
                self.shown.display()
            ));
            return Ok(());
        }
        self.session.client.delete(&["sources", id]).await?;
        output::tell(&format!("deleted {id}"));
        self.remembered.forget()
    }
}
