//! A term of work of a node: the platform with what feeds it besides HTTP, from its start to its end in order.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use axum::Router;
use headwater_api::{Pages, Settings};
use headwater_engine::Engine;
use headwater_platform::Platform;
use headwater_store::Backlog;
use tokio::task::JoinHandle;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::{
    first_user, log::Notes, node, receiving::MailListener, setup::Setup, stopping,
    store::NodeStore, workflows::WorkflowFolders,
};

/// Mail that is not wholly here by then is left to its sender.
const MAIL_TAKEN_WITHIN: Duration = Duration::from_secs(5);
/// A deployment that is not done by then is left to the next start.
const DEPLOYED_WITHIN: Duration = Duration::from_secs(10);

/// A platform that works.
pub(super) struct Running {
    app: Arc<Platform>,
    router: Router,
    /// The server of components that call the API, which serves them until their runs have ended.
    components: Option<JoinHandle<()>>,
    mail: Option<JoinHandle<()>>,
    folders: Option<JoinHandle<()>>,
    stopping: CancellationToken,
    over: CancellationToken,
}

impl Running {
    /// Starts the work on an engine that `spread` may put this machine's into. `None`: another node has the store.
    ///
    /// # Errors
    /// The store cannot be used; an option does not fit what is in it.
    pub(super) async fn start(
        setup: &Setup<'_>,
        store: NodeStore,
        mail: Option<MailListener>,
        spread: impl FnOnce(Arc<dyn Engine>) -> Arc<dyn Engine>,
    ) -> Result<Option<Self>> {
        let Setup {
            options, data_dir, ..
        } = setup;
        // Before the first worker starts: workers get a link to the socket.
        let socket = match options.self_alias.is_some() {
            true => Some(data_dir.bind_api_socket()?),
            false => None,
        };
        let Some(app) = node::start(setup, store, spread).await? else {
            return Ok(None);
        };
        let prepared = async {
            first_user::create(&app, setup).await?;
            WorkflowFolders::open(options, setup.global, data_dir, &app).await
        };
        let folders = match prepared.await {
            Ok(folders) => folders,
            Err(error) => {
                app.stop().await;
                return Err(error);
            }
        };
        let stopping = CancellationToken::new();
        let router = router(setup, &app);
        let components = socket.map(|socket| {
            let server = setup.server(router.clone(), CancellationToken::new());
            tokio::spawn(server.serve_components(socket))
        });
        Ok(Some(Self {
            mail: mail.map(|mail| mail.start(&app, stopping.clone())),
            folders: folders.map(|folders| folders.start(stopping.clone())),
            app,
            router,
            components,
            stopping,
            over: CancellationToken::new(),
        }))
    }

    /// Everything that it serves over HTTP.
    pub(super) fn router(&self) -> Router {
        self.router.clone()
    }

    /// Cancelled once the term is over.
    pub(super) fn over(&self) -> CancellationToken {
        self.over.clone()
    }

    /// Waits until another node has taken this one's place.
    pub(super) async fn replaced(&self) {
        self.app.replaced().await;
    }

    /// Says that the node stops, and how many runs it waits for.
    pub(super) fn tell_stopping(&self, notes: Notes, grace: Duration) {
        stopping::tell_begun(notes, &self.app, grace);
    }

    /// Ends the work in order: what was accepted is durable, and runs have their grace unless `hurry` ends first.
    pub(super) async fn stop(
        self,
        notes: Notes,
        grace: Duration,
        hurry: impl Future<Output = ()>,
    ) -> Ended {
        self.stopping.cancel();
        // Before the platform stops: what is being taken is promised to its sender.
        tokio::join!(
            ended(self.mail, MAIL_TAKEN_WITHIN.min(grace)),
            ended(self.folders, DEPLOYED_WITHIN.min(grace)),
        );
        let has_ended = tokio::select! {
            () = self.app.end(grace) => true,
            () = stopping::tell_left(notes, &self.app) => false,
            () = hurry => false,
        };
        // Before others have the work: a request that is still being answered must not write beside theirs.
        self.over.cancel();
        if has_ended {
            self.app.give_up().await;
        }
        if let Some(components) = self.components {
            components.abort();
        }
        Ended(self.app)
    }

    /// Ends the work at once, of a node whose place another one has taken: nothing of it would be kept.
    pub(super) async fn abandon(self) {
        self.stopping.cancel();
        self.over.cancel();
        self.app.abandon().await;
        for task in [self.mail, self.folders, self.components]
            .into_iter()
            .flatten()
        {
            task.abort();
        }
    }
}

/// Lets a task end within a time, and ends it then.
async fn ended(task: Option<JoinHandle<()>>, within: Duration) {
    if let Some(task) = task.map(AbortOnDropHandle::new) {
        let _ = tokio::time::timeout(within, task).await;
    }
}

/// A platform that takes nothing any more.
pub(super) struct Ended(Arc<Platform>);

impl Ended {
    /// Leaves the store whole, and returns the work that waits in it. Called once the last connection is gone.
    pub(super) async fn close(self) -> Backlog {
        let left = self.0.work_left().await;
        self.0.close().await;
        left
    }
}

fn router(setup: &Setup<'_>, app: &Arc<Platform>) -> Router {
    let settings = Settings {
        sets_endpoints_apart: setup.options.sandbox_endpoints.unwrap_or(true),
        bodies: setup.bodies,
        connections: setup.counts.clone(),
    };
    let pages = Pages {
        all: headwater_ui::router(Arc::clone(app)),
        missing: headwater_ui::missing(Arc::clone(app)),
    };
    headwater_api::router(Arc::clone(app), settings, pages)
}
