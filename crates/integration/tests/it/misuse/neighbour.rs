//! A source that does nothing wrong, beside one that does.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use headwater_integration::{Node, NodeBuilder, Source};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::code::answering;

/// How often the neighbour is asked; no answer is expected within any time.
const PACE: Duration = Duration::from_millis(10);

/// Asks a source again and again; each answer has to be its own.
struct Neighbour {
    asking: JoinHandle<()>,
    is_over: Arc<AtomicBool>,
    answers: Arc<AtomicUsize>,
    before: usize,
}

impl Neighbour {
    async fn ask(node: &Node) -> Self {
        let source = node.deploy(&answering("neighbour"), json!({})).await;
        let (client, endpoint) = (node.with_key(None), source.endpoint().to_owned());
        // A node that cannot answer at all fails the test here and not in the background.
        client.get(&endpoint).await.is(200);
        let (is_over, answers) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicUsize::new(0)),
        );
        let (ends, count) = (Arc::clone(&is_over), Arc::clone(&answers));
        let asking = tokio::spawn(async move {
            let mut pace = tokio::time::interval(PACE);
            while !ends.load(Ordering::Relaxed) {
                assert_eq!(client.get(&endpoint).await.is(200).text, "neighbour");
                count.fetch_add(1, Ordering::Relaxed);
                pace.tick().await;
            }
        });
        Self {
            asking,
            is_over,
            answers,
            before: 0,
        }
    }

    /// The number of answers since the last call.
    fn since(&mut self) -> usize {
        let answers = self.answers.load(Ordering::Relaxed);
        answers - std::mem::replace(&mut self.before, answers)
    }

    async fn end(self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.asking
            .await
            .expect("the neighbour was answered throughout");
    }
}

/// A node with a neighbour that is asked throughout, and one source whose runs do what they are told.
pub(super) struct Street {
    pub(super) node: Node,
    pub(super) source: Source,
    neighbour: Neighbour,
}

impl Street {
    /// Deploys the component, whose `run` gets a request with the path of a deed.
    pub(super) async fn of(node: NodeBuilder, code: &str) -> Self {
        let node = node.start().await;
        let neighbour = Neighbour::ask(&node).await;
        let source = node.deploy(code, json!({})).await;
        Self {
            node,
            source,
            neighbour,
        }
    }

    /// Sends a request for that deed, which is accepted whatever comes of it.
    pub(super) async fn request(&self, deed: &str) {
        self.node
            .get(&format!("{}/{deed}", self.source.endpoint()))
            .await
            .is(200);
    }

    /// Requests a deed that is to be reported as an error, and returns the report.
    pub(super) async fn error_of(&mut self, deed: &str) -> Value {
        let before = self.node.channel(&self.source, "$errors").await.len();
        self.neighbour.since();
        self.request(deed).await;
        let errors = self
            .node
            .channel_until(&self.source, "$errors", |errors| errors.len() > before)
            .await;
        assert_eq!(errors.len(), before + 1, "{errors:#?}");
        let error = errors[before]["event"].clone();
        assert_eq!(
            error["original_event"]["path"],
            format!("/{deed}"),
            "{error}"
        );
        error["error"].clone()
    }

    /// The source works on its next request, and the neighbour was and is answered.
    pub(super) async fn assert_unharmed(&mut self) {
        let before = self.node.events(&self.source).await.len();
        self.request("behave").await;
        let events = self
            .node
            .events_until(&self.source, |events| events.len() > before)
            .await;
        assert_eq!(events.last().unwrap()["event"], "behaved");
        assert!(
            !self.neighbour.asking.is_finished(),
            "the neighbour was not answered"
        );
        self.node.get("//healthz").await.is(200);
    }

    /// How often the neighbour was answered since the last deed was requested.
    pub(super) fn neighbours_answers(&mut self) -> usize {
        self.neighbour.since()
    }

    /// Ends the asking; each answer was right.
    pub(super) async fn end(self) -> Node {
        self.neighbour.end().await;
        self.node
    }
}
