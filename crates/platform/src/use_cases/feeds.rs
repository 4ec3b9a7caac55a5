//! Following an emitter's events over SSE: the access check, and the channels.

use std::sync::Arc;

use futures::Stream;
use headwater_model::{channel::Channel, id::EmitterId};
use headwater_store::ChannelFilter;

use crate::{
    caller::Caller,
    error::PlatformError,
    feeds::{Follow, Portion},
    platform::Platform,
};

impl Platform {
    /// An emitter's events in order, each once: those after `after` that the log still has, then those
    /// that come. The stream ends when the emitter is deleted, the node stops, the reader is too slow, or its key or
    /// a membership of its user ends; then the reader may go on after the last event it got, if it still may read.
    ///
    /// # Errors
    /// `NotFound` for an emitter that the caller cannot see, `Invalid` for the channel `$in`.
    pub async fn follow(
        self: &Arc<Self>,
        caller: &Caller,
        follow: Follow,
    ) -> Result<impl Stream<Item = Portion> + Send + use<>, PlatformError> {
        let key = caller.identity.key.clone();
        let place = self.feeds.take_place(&follow, key.clone());
        // The look comes after the place, also at the caller, who may have lost access meanwhile.
        let identity = self.core.store.identity(&key.hash).await?;
        let caller = Caller {
            identity: identity.ok_or(PlatformError::Unauthenticated)?,
            ..caller.clone()
        };
        self.visible_emitter(&caller, &follow.emitter).await?;
        check_channels(&follow.channels)?;
        Ok(self.feeds.follow(place, follow).await?)
    }

    async fn visible_emitter(
        &self,
        caller: &Caller,
        emitter: &EmitterId,
    ) -> Result<(), PlatformError> {
        match emitter {
            EmitterId::Source(id) => self.visible_source(caller, id).await.map(drop),
            EmitterId::Workflow(id) => self.visible_workflow(caller, id).await.map(drop),
        }
    }
}

fn check_channels(channels: &ChannelFilter) -> Result<(), PlatformError> {
    match channels.covers(&Channel::scheduled()) {
        true => Err(PlatformError::invalid(
            "event_name",
            "events on `$in` wait there; follow the channel they are meant for",
        )),
        false => Ok(()),
    }
}
