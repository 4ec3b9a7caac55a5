//! What is the case when somebody looks: what waits, and who works. Counted nowhere; asked anew
//! each time.

use std::time::Duration;

use headwater_engine::EngineStatus;
use headwater_store::Backlog;
use prometheus_client::{
    encoding::EncodeGaugeValue,
    metrics::gauge::ConstGauge,
    registry::{Registry, Unit},
};

use super::PREFIX;

/// The gauges of one look.
pub(super) struct Moment(Registry);

impl Moment {
    /// What the node knows of itself.
    pub(super) fn of(engine: &EngineStatus, runners: usize) -> Self {
        let mut moment = Self(Registry::with_prefix(PREFIX));
        let help = "Workers that belong to no source yet";
        moment.gauge("warm_workers", help, engine.warm_workers);
        let help = "Workers that belong to a source";
        moment.gauge("source_workers", help, engine.source_workers);
        moment.gauge("runs_in_flight", "Runs in a worker", engine.runs);
        moment.gauge("runners", "Sources with work in memory", runners);
        moment
    }

    /// What is being delivered.
    pub(super) fn deliver(&mut self, couriers: usize, attempts: usize) {
        self.gauge("couriers", "Webhooks with deliveries in memory", couriers);
        let help = "Attempts to deliver that are in flight";
        self.gauge("attempts_in_flight", help, attempts);
    }

    /// What the store knows.
    pub(super) fn wait(&mut self, backlog: Backlog, now_ms: u64) {
        let help = format!(
            "Invocations queued or running, counted up to {}",
            Backlog::COUNTED_MAX
        );
        self.gauge("queue_invocations", &help, backlog.invocations);
        let since_ms = backlog.oldest_invocation_at_ms.unwrap_or(now_ms);
        let age = Duration::from_millis(now_ms.saturating_sub(since_ms));
        self.0.register_with_unit(
            "queue_oldest_age",
            "Time since the oldest invocation was queued that has not ended",
            Unit::Seconds,
            ConstGauge::new(age.as_secs_f64()),
        );
        let counted = format!("counted up to {}", Backlog::COUNTED_MAX);
        let help = format!("Deliveries that have not ended, {counted}");
        self.gauge("deliveries_pending", &help, backlog.pending_deliveries);
        let help = format!("Those of them that wait for nothing, {counted}");
        self.gauge("deliveries_due", &help, backlog.due_deliveries);
        let help = "Events that dispatch has not passed";
        self.gauge("events_undispatched", help, backlog.undispatched_events);
    }

    pub(super) fn registry(&self) -> &Registry {
        &self.0
    }

    fn gauge<N>(&mut self, name: &str, help: &str, value: N)
    where
        N: EncodeGaugeValue + std::fmt::Debug + Send + Sync + 'static,
    {
        self.0.register(name, help, ConstGauge::new(value));
    }
}
