//! One trace from a trigger to what receivers of webhooks are told.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use headwater_engine::network::NetworkPolicy;
use headwater_model::{id::SourceId, origin::Origin, trace::TraceParent};
use headwater_platform::{Attribute, NewSpan, RecordedSpan, Tracer, on_behalf_of};
use parking_lot::Mutex;
use serde_json::json;

use crate::{
    engine::{Call, FakeEngine, returned},
    receiver::{Receiver, local},
    world::{World, memory},
};

const INCOMING: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Names of spans with their place and their parent's.
type Begun = (String, TraceParent, Option<TraceParent>);

/// Gives spans numbers and keeps what was begun and ended.
#[derive(Default)]
struct Recorder {
    next: AtomicU64,
    begun: Mutex<Vec<Begun>>,
    ended: Arc<AtomicU64>,
}

struct Recorded(TraceParent, Arc<AtomicU64>);

impl Tracer for Recorder {
    fn begin(&self, span: NewSpan<'_>) -> Box<dyn RecordedSpan> {
        let number = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let root: TraceParent = INCOMING.parse().unwrap();
        let place = TraceParent {
            span_id: number.try_into().unwrap(),
            ..span.parent.unwrap_or(root)
        };
        let begun = (span.name.to_owned(), place, span.parent);
        self.begun.lock().push(begun);
        Box::new(Recorded(place, Arc::clone(&self.ended)))
    }
}

impl RecordedSpan for Recorded {
    fn context(&self) -> Option<TraceParent> {
        Some(self.0)
    }

    fn end(self: Box<Self>, _: &[(&'static str, Attribute<'_>)], failure: Option<&str>) {
        assert_eq!(failure, None);
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

/// Runs the source, which emits once, on behalf of a caller in that trace.
async fn run(world: &World, source: &SourceId) {
    world.engine.on("emitter", Call::Run, |run| {
        run.emit(json!(1));
        returned()
    });
    let origin = Origin {
        trace: Some(INCOMING.parse().unwrap()),
        ..Origin::default()
    };
    let running = world.platform.run_source(&world.caller, source, None);
    on_behalf_of(origin, running).await.unwrap();
}

#[tokio::test]
async fn an_attempt_is_in_the_trace_of_the_run_and_tells_the_receiver_its_place() {
    let recorder = Arc::new(Recorder::default());
    let tracer = Arc::clone(&recorder) as Arc<dyn Tracer>;
    let world = World::traced(memory(), FakeEngine::new(), Some(tracer), |config| {
        config.deliveries.network = NetworkPolicy::All;
    })
    .await;
    let receiver = Receiver::new().await;
    let (source, webhook) = world.delivering_to(&receiver.url()).await;
    run(&world, &source).await;
    let post = receiver.next().await;
    let told = post.header("traceparent").to_owned();
    post.status(200);
    world.attempted(&webhook, 1).await;
    let begun = recorder.begun.lock().clone();
    let [run, delivery] = &begun[..] else {
        panic!("{begun:?}")
    };
    assert_eq!((&*run.0, &*delivery.0), ("run", "delivery"));
    assert_eq!(run.2, Some(INCOMING.parse().unwrap()));
    assert_eq!(delivery.2, Some(run.1));
    assert_eq!(told, delivery.1.to_string());
    assert_eq!(recorder.ended.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn without_anybody_who_records_a_traceparent_is_passed_on_as_it_came() {
    let world = local().await;
    let receiver = Receiver::new().await;
    let (source, webhook) = world.delivering_to(&receiver.url()).await;
    run(&world, &source).await;
    let post = receiver.next().await;
    assert_eq!(post.header("traceparent"), INCOMING);
    post.status(200);
    world.attempted(&webhook, 1).await;
    let running = world.platform.run_source(&world.caller, &source, None);
    running.await.unwrap();
    let post = receiver.next().await;
    assert_eq!(post.header("traceparent"), "");
    post.status(200);
    world.attempted(&webhook, 2).await;
}
