//! Serving one run's requests in the order in which it sent them.
//!
//! A run may ask for a hundred records at once, and read its last writes without waiting for them.
//! Reads run in parallel, and so do writes; but a read waits for the writes before it, and a write for
//! the reads.
//!
//! Responsible too for which stores a run may ask for: those that its props name. Code of packages runs in the same
//! process as the component, so a request for another is not the component's word that it was given it.

use std::{collections::BTreeSet, sync::Arc};

use futures::{StreamExt, stream::FuturesUnordered};
use headwater_engine::StoreRequest;
use headwater_store::Owner;
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use super::DataStores;

/// Requests of one run that are under way at once.
const AT_ONCE: usize = 64;

/// The final value of a `data_store` prop; the runtime derives the store's methods from it.
pub(crate) const STORE_FIELD: &str = "$data_store";

/// The requests of one run. A task serves them once the first has come.
pub(crate) struct StoreRequests {
    owner: Owner,
    stores: BTreeSet<String>,
    requests: Option<mpsc::UnboundedSender<StoreRequest>>,
}

impl StoreRequests {
    /// The requests of a run of this owner with these final values of its props.
    pub(crate) fn new(owner: Owner, props: &Map<String, Value>) -> Self {
        let names = props.values().filter_map(|value| value.get(STORE_FIELD));
        let stores = names.filter_map(Value::as_str).map(str::to_owned).collect();
        Self {
            owner,
            stores,
            requests: None,
        }
    }

    /// Takes a request of the run. Of a store that its props do not name, it does nothing but say so.
    pub(crate) fn take(&mut self, data_stores: &Arc<DataStores>, request: StoreRequest) {
        if !self.stores.contains(&request.store) {
            let refusal = "none of the component's props is configured with this data store; add a prop of type \
                 data_store";
            return request.reply.answer(Err(refusal.to_owned()));
        }
        let requests = self.requests.get_or_insert_with(|| {
            let (sender, requests) = mpsc::unbounded_channel();
            let (data_stores, owner) = (Arc::clone(data_stores), self.owner.clone());
            let tasks = data_stores.core.tasks.clone();
            tasks.spawn(async move { serve(&data_stores, &owner, requests).await });
            sender
        });
        let _ = requests.send(request);
    }
}

async fn serve(
    data_stores: &Arc<DataStores>,
    owner: &Owner,
    mut requests: mpsc::UnboundedReceiver<StoreRequest>,
) {
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
            reply.answer(data_stores.operate(owner, &store, operation).await);
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
