//! The claims of one step, sorted: attempts are started at once, lines of objects wait for the others of their
//! object, and what cannot be tried now ends here.

use std::{collections::BTreeMap, sync::Arc};

use headwater_model::time::EpochMs;
use headwater_store::{ClaimedSend, SendWay};
use tokio::sync::OwnedSemaphorePermit;

use super::{
    arguments::shown_arguments,
    context::{EndedSend, SendContext},
    s3::{Batch, Line, NOT_SET_UP, Place},
    verdict::{Attempt, Ended, put_off},
};

/// Bytes of an object before it is compressed, unless a single line is longer.
const OBJECT_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bytes of all lines that a step holds.
const HELD_BYTES_MAX: usize = 32 * 1024 * 1024;

/// The claims of one step.
pub(super) struct Taken<'a> {
    context: &'a Arc<SendContext>,
    /// Objects that may get further lines.
    open: BTreeMap<Place, (Batch, OwnedSemaphorePermit)>,
    held_bytes: usize,
    ended: Vec<EndedSend>,
}

impl<'a> Taken<'a> {
    pub(super) fn new(context: &'a Arc<SendContext>) -> Self {
        Self {
            context,
            open: BTreeMap::new(),
            held_bytes: 0,
            ended: Vec::new(),
        }
    }

    /// Whether the lines that it holds take as much memory as they may.
    pub(super) fn is_full(&self) -> bool {
        self.held_bytes >= HELD_BYTES_MAX
    }

    pub(super) fn take(&mut self, send: ClaimedSend) {
        let start = match send.way {
            SendWay::S3 => return self.take_line(send),
            SendWay::Http => SendContext::start_request,
            SendWay::Email => SendContext::start_mail,
        };
        match self.context.permit() {
            Some(permit) => start(self.context, send, permit),
            None => self.give_back(&send, self.now_ms()),
        }
    }

    fn take_line(&mut self, send: ClaimedSend) {
        let line = match Line::read(&send.value) {
            _ if self.context.s3.is_none() => return self.fail(&send, NOT_SET_UP),
            Ok(line) => line,
            Err(reason) => return self.fail(&send, &reason),
        };
        let place = Place::new(line.bucket, line.prefix, send.queued_at_ms);
        // Objects hold whole minutes, which are over.
        if place.ends_ms() > self.now_ms() {
            return self.give_back(&send, place.ends_ms());
        }
        let is_full = |batch: &Batch| batch.bytes + line.payload.get().len() > OBJECT_BYTES_MAX;
        if self.open.get(&place).is_some_and(|(open, _)| is_full(open)) {
            self.start_object(&place);
        }
        if !self.open.contains_key(&place) {
            let Some(permit) = self.context.permit() else {
                return self.give_back(&send, self.now_ms());
            };
            let batch = Batch::new(place.clone());
            self.open.insert(place.clone(), (batch, permit));
        }
        if let Some((batch, _)) = self.open.get_mut(&place) {
            self.held_bytes += line.payload.get().len();
            batch.push(send, line.payload.get().len());
        }
    }

    fn fail(&mut self, send: &ClaimedSend, reason: &str) {
        let request = shown_arguments(send.way, &send.value);
        let ended = Ended::failed(reason).with_request(request);
        let core = &self.context.core;
        let attempt = Attempt::begin(core).end(core, send, ended);
        self.ended.push(EndedSend::new(send, attempt));
    }

    fn give_back(&mut self, send: &ClaimedSend, due_at_ms: EpochMs) {
        let attempt = put_off(send, due_at_ms, self.now_ms());
        self.ended.push(EndedSend::new(send, attempt));
    }

    fn start_object(&mut self, place: &Place) {
        if let Some((batch, permit)) = self.open.remove(place) {
            self.held_bytes = self.held_bytes.saturating_sub(batch.bytes);
            self.context.start_object(batch, permit);
        }
    }

    /// Starts the objects, which get no further lines.
    pub(super) fn start_objects(&mut self) {
        for (batch, permit) in std::mem::take(&mut self.open).into_values() {
            self.context.start_object(batch, permit);
        }
    }

    /// The ends of what was not tried.
    pub(super) fn ended(self) -> Vec<EndedSend> {
        self.ended
    }

    fn now_ms(&self) -> EpochMs {
        self.context.core.env.now_ms()
    }
}
