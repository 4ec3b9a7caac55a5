//! The metrics page: everything counted, and gauges of the backlog and the workers, read anew at each look.

use headwater_engine::EngineStatus;
use headwater_model::time::EpochMs;
use headwater_store::Backlog;
use prometheus_client::{
    encoding::{EncodeGaugeValue, text},
    metrics::gauge::ConstGauge,
    registry::{Registry, Unit},
};

use crate::{metrics::PREFIX, platform::Platform};

/// The gauges of one look.
struct Gauges(Registry);

impl Gauges {
    /// The gauges of the node itself.
    fn of(engine: &EngineStatus, runners: usize) -> Self {
        let mut gauges = Self(Registry::with_prefix(PREFIX));
        let help = "Workers without a source";
        gauges.gauge("warm_workers", help, engine.warm_workers);
        let help = "Workers with a source";
        gauges.gauge("source_workers", help, engine.source_workers);
        gauges.gauge("runs_in_flight", "Runs in a worker", engine.runs);
        gauges.gauge("runners", "Sources with work in memory", runners);
        gauges
    }

    /// The gauges of deliveries in memory.
    fn deliver(&mut self, couriers: usize, attempts: usize) {
        self.gauge("couriers", "Webhooks with deliveries in memory", couriers);
        let help = "Attempts to deliver that are in flight";
        self.gauge("attempts_in_flight", help, attempts);
    }

    /// The gauges of the store's backlog.
    fn wait(&mut self, backlog: Backlog, now_ms: EpochMs) {
        let help = format!(
            "Invocations queued or running, counted up to {}",
            Backlog::COUNTED_MAX
        );
        self.gauge("queue_invocations", &help, backlog.invocations);
        let since_ms = backlog.oldest_invocation_at_ms.unwrap_or(now_ms);
        let age = now_ms.since(since_ms);
        self.0.register_with_unit(
            "queue_oldest_age",
            "Time since the oldest unfinished invocation was queued",
            Unit::Seconds,
            ConstGauge::new(age.as_secs_f64()),
        );
        let counted = format!("counted up to {}", Backlog::COUNTED_MAX);
        let help = format!("Deliveries that have not ended, {counted}");
        self.gauge("deliveries_pending", &help, backlog.pending_deliveries);
        let help = format!("Pending deliveries that are due now, {counted}");
        self.gauge("deliveries_due", &help, backlog.due_deliveries);
        let help = "Events not yet dispatched";
        self.gauge("events_undispatched", help, backlog.undispatched_events);
    }

    fn registry(&self) -> &Registry {
        &self.0
    }

    fn gauge<N>(&mut self, name: &str, help: &str, value: N)
    where
        N: EncodeGaugeValue + std::fmt::Debug + Send + Sync + 'static,
    {
        self.0.register(name, help, ConstGauge::new(value));
    }
}

impl Platform {
    /// Everything counted and the state of the moment in the OpenMetrics text format, without the mark
    /// of its end. Values that the store does not give are left out.
    pub async fn metrics(&self) -> String {
        let mut gauges = Gauges::of(&self.core.engine.status(), self.runners.len());
        gauges.deliver(self.couriers.len(), self.couriers.attempts_in_flight());
        let now_ms = self.core.env.now_ms();
        match self.core.store.backlog(now_ms).await {
            Ok(backlog) => gauges.wait(backlog, now_ms),
            Err(error) => tracing::warn!(%error, "the backlog cannot be counted"),
        }
        let mut encoded = String::new();
        for registry in [self.core.metrics.registry(), gauges.registry()] {
            text::encode_registry(&mut encoded, registry).expect("a String takes all text");
        }
        encoded
    }
}
