//! Runs on the workers of another machine, which say and keep what they would here, and are lost with it.

use std::{num::NonZeroUsize, sync::Arc};

use futures::{StreamExt as _, stream};
use headwater_engine::{
    Engine, Entry, RunMessage, StoreRequest,
    remote::{self, SpreadEngine, Weight, Wire},
};
use headwater_model::outcome::Outcome;
use serde_json::{Map, json, value::RawValue};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::harness::{Node, Running, Source};

/// A machine that borrows, and one that lends.
struct Pair {
    /// Spreads runs over both.
    spread: Node,
    engine: Arc<SpreadEngine>,
    lender: Node,
}

/// The conversation of both.
struct Conversation {
    lending: JoinHandle<()>,
    leaving: CancellationToken,
    /// Cancelled to cut it off.
    cut: CancellationToken,
}

/// The share of a machine that has next to none, so that the other one has all.
fn weight(processors: usize) -> Weight {
    Weight::of_processors(NonZeroUsize::new(processors).unwrap())
}

impl Pair {
    /// A pair of which the borrower has that share.
    async fn with_weight(processors: usize) -> Self {
        let (mut spread, lender) = (Node::start().await, Node::start().await);
        let own = Arc::clone(&spread.engine);
        let engine = SpreadEngine::of(own, "own".to_owned(), weight(processors));
        spread.engine = Arc::clone(&engine) as _;
        Self {
            spread,
            engine,
            lender,
        }
    }

    /// Has the second machine lend its workers, with so large a share.
    fn lend(&self, processors: usize) -> Conversation {
        let (cut, leaving) = (CancellationToken::new(), CancellationToken::new());
        let (there, here) = wires(&cut);
        let engine = Arc::clone(&self.lender.engine);
        let lending = tokio::spawn(remote::lend(engine, there, leaving.clone()));
        self.engine.borrow_from("lender", weight(processors), here);
        Conversation {
            lending,
            leaving,
            cut,
        }
    }

    fn of_lender(&self) -> usize {
        self.engine.places().get("lender").copied().unwrap_or(0)
    }
}

fn wires(cut: &CancellationToken) -> (Wire, Wire) {
    let (to_here, here) = mpsc::unbounded_channel();
    let (to_there, there) = mpsc::unbounded_channel();
    let wire = |pieces, outgoing| {
        let pieces = stream::unfold(pieces, |mut pieces: mpsc::UnboundedReceiver<_>| async {
            let piece = pieces.recv().await?;
            Some((Ok(piece), pieces))
        });
        let incoming = pieces.take_until(cut.clone().cancelled_owned()).boxed();
        Wire { incoming, outgoing }
    };
    (wire(there, to_here), wire(here, to_there))
}

const MUCH: usize = 1_000_000;

#[tokio::test(flavor = "multi_thread")]
async fn a_run_says_there_all_that_it_would_say_here() {
    let here = Node::start().await;
    let pair = Pair::with_weight(1).await;
    let _conversation = pair.lend(MUCH);
    // As deep as the reader of JSON permits: nothing that is around it on the way may count.
    let deep = (0..120).fold(json!(0.1), |inside, _| json!([inside]));
    let cases = [
        ("kv", json!({}), json!({"db": {}})),
        (
            "respond",
            json!(7),
            json!({"http": {"endpoint": "http://localhost"}}),
        ),
        ("action", json!({}), json!({"text": "t"})),
        ("emit", json!({}), json!({})),
        ("logs", json!({}), json!({})),
        ("throw", json!({}), json!({})),
        ("steer", json!({"deed": "echo", "value": null}), json!({})),
        ("steer", json!({"deed": "echo", "value": deep}), json!({})),
    ];
    for (component, event, props) in cases {
        let key_values = Map::from_iter([("count".to_owned(), json!(41))]);
        let [one, other] = [(); 2].map(|()| Source::with(component, key_values.clone()));
        let (event, run) = (|| event.clone(), || Entry::Run);
        let here = here
            .invoke(&one, run(), event(), props.clone())
            .await
            .collect()
            .await;
        let there = pair
            .spread
            .invoke(&other, run(), event(), props)
            .await
            .collect()
            .await;
        // All of both but the names of folders, which stacks have.
        let told = |messages: &[RunMessage]| -> Vec<_> {
            let told = messages.iter().map(|message| format!("{message:?}"));
            told.map(|text| text.split("stack: ").next().unwrap_or_default().to_owned())
                .collect()
        };
        assert_eq!(told(&there.0), told(&here.0), "{component}");
    }
    assert_eq!(pair.of_lender(), 8);
}

/// `null`, nothing and an error stay apart.
#[tokio::test(flavor = "multi_thread")]
async fn questions_of_a_run_are_answered_here() {
    let pair = Pair::with_weight(1).await;
    let _conversation = pair.lend(MUCH);
    let source = Source::named("store");
    let props = json!({"data": {"$data_store": "a store"}});
    let mut running = pair
        .spread
        .invoke(&source, Entry::Run, json!({}), props)
        .await;
    let mut asked = Vec::new();
    let outcome = loop {
        match self::asked(&mut running).await {
            Ok(mut request) => {
                assert_eq!(request.store, "a store");
                request.reply.room().await;
                let null = RawValue::from_string("null".to_owned()).unwrap();
                request.reply.answer(match asked.len() {
                    0 => Ok(None),
                    1 => Ok(Some(null)),
                    2 => Ok(None),
                    _ => Err("not now".to_owned()),
                });
                asked.push(format!("{:?}", request.operation));
            }
            Err(outcome) => break outcome,
        }
    };
    let value = Some(json!([null, true, "data store \"a store\": not now"]));
    assert_eq!(outcome, Outcome::Returned { value });
    assert_eq!(asked.len(), 4);
    assert!(
        asked[0].starts_with("Set") && asked[0].contains("null"),
        "{asked:?}"
    );
    assert_eq!(pair.of_lender(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn sources_are_spread_and_keep_their_places() {
    let pair = Pair::with_weight(1).await;
    let _conversation = pair.lend(1);
    let sources: Vec<_> = (0..8).map(|_| Source::named("steer")).collect();
    for round in 0..2 {
        for source in &sources {
            let echoed = pair
                .spread
                .run(source, json!({"deed": "echo", "value": round}))
                .await;
            assert_eq!(echoed.returned(), round);
        }
    }
    let places = pair.engine.places();
    assert_eq!(places.values().sum::<usize>(), 8, "{places:?}");
    for source in &sources {
        assert_eq!(
            source
                .state
                .loads
                .load(std::sync::atomic::Ordering::Relaxed),
            1
        );
        pair.engine.evict(&source.spec.owner).await;
    }
    assert!(pair.engine.places().is_empty());
    assert_eq!(pair.lender.engine.status().source_workers, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_moves_between_runs_and_not_in_the_middle_of_one() {
    let pair = Pair::with_weight(1).await;
    let (busy, idle) = (Source::named("steer"), Source::named("steer"));
    let mut waiting = pair.spread.steer(&busy, "waitForRelease").await;
    waiting.has_begun().await;
    pair.spread.run(&idle, json!({"deed": "echo"})).await;
    let _conversation = pair.lend(MUCH);
    pair.spread.run(&idle, json!({"deed": "echo"})).await;
    assert_eq!(pair.of_lender(), 1);
    // Its other run is in the worker of the first one, which it would not meet elsewhere.
    pair.spread.run(&busy, json!({"deed": "release"})).await;
    waiting.collect().await.returned();
    assert_eq!(pair.of_lender(), 1);
    assert_eq!(
        idle.state.loads.load(std::sync::atomic::Ordering::Relaxed),
        2
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_are_lost_with_the_conversation_and_nothing_is_left_of_them() {
    let pair = Pair::with_weight(1).await;
    let conversation = pair.lend(MUCH);
    let source = Source::named("steer");
    let mut waiting = pair.spread.steer(&source, "wait").await;
    waiting.has_begun().await;
    conversation.cut.cancel();
    assert!(waiting.collect().await.is_lost());
    conversation.lending.await.unwrap();
    let left = pair.lender.engine.status();
    assert_eq!((left.source_workers, left.runs), (0, 0));
    let again = pair
        .spread
        .run(&source, json!({"deed": "echo", "value": "here"}))
        .await;
    assert_eq!(again.returned(), "here");
    assert_eq!(pair.of_lender(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lender_that_leaves_ends_its_runs_first_and_gets_no_more() {
    let pair = Pair::with_weight(1).await;
    let conversation = pair.lend(MUCH);
    let (busy, other) = (Source::named("store"), Source::named("steer"));
    let props = json!({"data": {"$data_store": "a store"}});
    let mut running = pair
        .spread
        .invoke(&busy, Entry::Run, json!({}), props)
        .await;
    let mut asked = asked(&mut running).await.expect("a question");
    conversation.leaving.cancel();
    loop {
        pair.spread
            .run(&other, json!({"deed": "echo"}))
            .await
            .returned();
        if pair.of_lender() == 1 {
            break;
        }
    }
    let outcome = loop {
        asked.reply.answer(Ok(None));
        match self::asked(&mut running).await {
            Ok(next) => asked = next,
            Err(outcome) => break outcome,
        }
    };
    assert!(matches!(outcome, Outcome::Returned { .. }), "{outcome:?}");
    conversation.lending.await.unwrap();
    assert_eq!(pair.lender.engine.status().source_workers, 0);
}

/// The next question of a run.
///
/// # Errors
/// It has ended like this.
async fn asked(running: &mut Running) -> Result<StoreRequest, Outcome> {
    match running.messages.recv().await.expect("the run to go on").1 {
        RunMessage::StoreAsked(request) => Ok(request),
        RunMessage::Outcome(outcome) => Err(outcome),
        message => panic!("{message:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_is_spared_is_cleared_of_what_is_idle() {
    let pair = Pair::with_weight(1).await;
    let _conversation = pair.lend(MUCH);
    let source = Source::named("kv");
    pair.spread
        .invoke(&source, Entry::Run, json!({}), json!({"db": {}}))
        .await
        .collect()
        .await;
    assert_eq!(pair.of_lender(), 1);
    pair.engine.spare("lender", true);
    pair.engine.tidy().await;
    assert_eq!(pair.of_lender(), 0);
    assert_eq!(pair.lender.engine.status().source_workers, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_cannot_be_had_there_is_an_error_here() {
    let pair = Pair::with_weight(1).await;
    let _conversation = pair.lend(MUCH);
    let source = Source::named("steer");
    source
        .state
        .is_broken
        .store(true, std::sync::atomic::Ordering::Relaxed);
    let refused = pair
        .spread
        .start_run(&source, json!({"deed": "echo"}))
        .await;
    assert_eq!(refused.unwrap_err().to_string(), "worker lost: no map");
}
