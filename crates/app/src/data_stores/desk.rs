//! Serving one run's requests in the order in which it made them.
//!
//! A run may ask for a hundred records at once, and read what it has just written without waiting for it. Reads go on
//! side by side, and so do writes; but a read waits for the writes before it, and a write for the reads.

use std::sync::Arc;

use futures::{StreamExt, stream::FuturesUnordered};
use headwater_engine::StoreRequest;
use headwater_store::Owner;
use tokio::sync::mpsc;

use crate::app::App;

/// Requests of one run that are under way at once.
const AT_ONCE: usize = 64;

/// Where a run's requests go. There is a task behind it once the first has come.
#[derive(Default)]
pub(crate) struct Desk {
    requests: Option<mpsc::UnboundedSender<StoreRequest>>,
}

impl Desk {
    /// Takes a request of a run of this owner.
    pub(crate) fn take(&mut self, app: &Arc<App>, owner: &Owner, request: StoreRequest) {
        let requests = self.requests.get_or_insert_with(|| {
            let (sender, requests) = mpsc::unbounded_channel();
            let (app, owner) = (Arc::clone(app), owner.clone());
            let tasks = app.tasks.clone();
            tasks.spawn(async move { serve(&app, &owner, requests).await });
            sender
        });
        let _ = requests.send(request);
    }
}

async fn serve(app: &Arc<App>, owner: &Owner, mut requests: mpsc::UnboundedReceiver<StoreRequest>) {
    let mut under_way = FuturesUnordered::new();
    let mut are_writes = false;
    while let Some(request) = next(&mut requests, &mut under_way).await {
        let is_write = request.operation.is_write();
        while under_way.len() >= AT_ONCE || (is_write != are_writes && !under_way.is_empty()) {
            under_way.next().await;
        }
        are_writes = is_write;
        under_way.push(async move {
            let StoreRequest {
                store,
                operation,
                mut reply,
            } = request;
            reply.room().await;
            reply.answer(app.operate(owner, &store, operation).await);
        });
    }
    while under_way.next().await.is_some() {}
}

/// The next request; until it comes, those under way go on.
async fn next<F: Future<Output = ()>>(
    requests: &mut mpsc::UnboundedReceiver<StoreRequest>,
    under_way: &mut FuturesUnordered<F>,
) -> Option<StoreRequest> {
    loop {
        tokio::select! {
            biased;
            request = requests.recv() => return request,
            Some(()) = under_way.next() => {}
        }
    }
}
