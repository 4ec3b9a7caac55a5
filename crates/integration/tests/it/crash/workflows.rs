//! Runs of a workflow with branches, a loop, pauses and sends, while their node is killed.
//!
//! Each execution of a step draws a nonce. It tells the receiver when it begins, and leaves the nonce as its result, in
//! an event and in a send: whatever of it was committed has the same nonce, and nothing else has it.

use std::collections::{BTreeMap, BTreeSet};

use headwater_integration::{Node, Received, Receiver};
use serde_json::{Value, json};

use super::{clients::Clients, counted::ids_increase, seed::Seed};

/// How often the node is killed; `HEADWATER_KILLS` asks for more.
const KILLS: usize = 10;
const KILLS_VARIABLE: &str = "HEADWATER_KILLS";
/// The path of what a run's last step sends, before the id.
const LAST: &str = "/sent/last/";
/// Items of a page.
const PAGE: usize = 100;
/// Kills after which a run that they met has to have ended: more runs than that do not pile up.
const KILLS_BEHIND: usize = 3;

/// Two triggers: requests that come again start further runs at the first, and none at the second.
const DEFINITION: &str = "schema: workflow/2022.04
name: Killed
triggers:
- type: http
- type: http
  idempotency_key: '{{event.body.id}}'
steps:
- namespace: first
- namespace: route
  type: ifelse
  branches:
  - name: even
    if: '{{event.body.id % 2 === 0}}'
    steps:
    - namespace: two
  else:
  - namespace: one
- namespace: both
  type: parallel
  branches:
  - name: now
    steps:
    - namespace: left
  - name: later
    steps:
    - namespace: pause
      type: delay
      for: '{{1 + event.body.id % 40}}'
    - namespace: right
- namespace: each
  type: loop
  over: '{{[0, 1, 2]}}'
  concurrency: 2
  steps:
  - namespace: item
- namespace: rest
  type: delay
  for: 20ms
- namespace: last
";

const CODE: &str = r#"
export default {
  async run({ steps, $ }) {
    const { id } = steps.trigger.event.body;
    const mark = { id, key: $.context.idempotency_key, nonce: crypto.randomUUID() };
    await fetch("RECEIVER/begun", { method: "POST", body: JSON.stringify(mark) });
    $.send.http({ method: "POST", url: `RECEIVER/sent/NAME/${id}`, data: mark });
    $.send.emit(mark);
    return mark.nonce;
  },
};
"#;

/// The places of steps in a run of this id.
fn steps_of(id: u64) -> [&'static str; 8] {
    let routed = ["route.even.two", "route.else.one"][usize::from(id % 2 == 1)];
    [
        "first",
        routed,
        "both.now.left",
        "both.later.right",
        "each[0].item",
        "each[1].item",
        "each[2].item",
        "last",
    ]
}

fn kills() -> usize {
    let given = std::env::var(KILLS_VARIABLE).ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(KILLS)
}

/// The ids that are sent before a kill: some when there are few kills, and two for each of many.
fn ids_of(kill: usize, kills: usize) -> std::ops::Range<usize> {
    let until = |kill: usize| 2 * kill + 40 * kill / kills;
    until(kill)..until(kill + 1)
}

struct Killed {
    node: Node,
    receiver: Receiver,
    path: String,
    /// Of each trigger.
    clients: [Clients; 2],
}

/// Where a node is killed.
#[derive(Debug, Clone, Copy)]
enum Moment {
    /// A trigger was accepted.
    Answered,
    /// The code of a step is at work.
    Begun,
    /// A step was committed, and something that it sent has arrived.
    Sent,
    /// Nothing that was asked for is known to have happened.
    AtOnce,
}

impl Killed {
    async fn start() -> Self {
        let node = Node::builder()
            .own_address()
            .flag("--allow-private-network")
            .flag("--retained-events=1000000")
            .flag("--retained-runs=100000")
            .start()
            .await;
        let receiver = Receiver::start().await;
        let mut files = json!({ "workflow.yaml": DEFINITION });
        for step in ["first", "two", "one", "left", "right", "item", "last"] {
            let code = CODE.replace("RECEIVER", &receiver.url());
            files[format!("{step}/entry.js")] = json!(code.replace("NAME", step));
        }
        let deployed = node.post("/workflows", json!({ "files": files })).await;
        let record = deployed.is(200).data();
        let clients = [0, 1].map(|index| {
            let url = &record["triggers"][index]["endpoint_url"];
            Clients::at(url.as_str().unwrap())
        });
        let path = format!("/workflows/{}", record["id"].as_str().unwrap());
        Self {
            node,
            receiver,
            path,
            clients,
        }
    }

    /// Sends ids, and kills the node while their runs are on their way.
    async fn round(&mut self, kill: usize, kills: usize, seed: &mut Seed) {
        let ids = ids_of(kill, kills);
        let clients = self.clients[kill % 2].clone();
        let before = self.receiver.received();
        let answered = clients.tally().len();
        let sending = clients.send(ids.clone());
        let moments = [
            Moment::Answered,
            Moment::Begun,
            Moment::Sent,
            Moment::AtOnce,
        ];
        let arrived = |path: &'static str, count: usize| {
            let count = count_of(&before, path) + count;
            self.receiver
                .until(move |received| count_of(received, path) >= count)
        };
        // Each run has more steps than these.
        let step = 1 + seed.below(7 * ids.len());
        match seed.one_of(&moments) {
            Moment::Answered => {
                let count = answered + 1 + seed.below(ids.len());
                clients.until_answered(count).await;
            }
            Moment::Begun => drop(arrived("/begun", step).await),
            Moment::Sent => drop(arrived("/sent/", step).await),
            Moment::AtOnce => {}
        }
        clients.crash(&mut self.node).await;
        sending.join_all().await;
        if let Some(behind) = kill.checked_sub(KILLS_BEHIND) {
            self.until_ended(ids_of(behind, kills)).await;
        }
    }

    /// Waits until a run of each id has come to its last step.
    async fn until_ended(&self, ids: std::ops::Range<usize>) {
        let last: Vec<String> = ids.map(|id| format!("{LAST}{id}")).collect();
        let is_there = |received: &[Received]| {
            let paths = received.iter().map(|there| &*there.path);
            let paths: BTreeSet<&str> = paths.filter(|path| path.starts_with(LAST)).collect();
            last.iter().all(|path| paths.contains(&**path))
        };
        self.receiver.until(is_there).await;
    }

    /// Every item of a listing, newest first.
    async fn all(&self, listing: &str) -> Vec<Value> {
        let (mut items, mut after) = (Vec::new(), String::new());
        loop {
            let path = format!("{}/{listing}limit={PAGE}{after}", self.path);
            let page = self.node.get(&path).await.is(200);
            let found = page.items();
            let is_last = found.len() < PAGE;
            items.extend(found);
            if is_last {
                return items;
            }
            let cursor = page.json()["page_info"]["end_cursor"].clone();
            after = format!("&after={}", cursor.as_str().unwrap());
        }
    }

    /// The runs, whole, once all have ended.
    async fn runs(&self) -> Vec<Value> {
        let open = format!("{}/runs?open=true", self.path);
        self.node.until_empty(&open).await;
        let mut runs = Vec::new();
        for listed in self.all("runs?").await {
            let path = format!("/runs/{}", listed["id"].as_str().unwrap());
            runs.push(self.node.get(&path).await.is(200).data());
        }
        runs
    }

    /// The nonces of the events that steps emitted, by their keys.
    async fn emitted(&self) -> BTreeMap<String, String> {
        let mut events = self.all("event_summaries?expand=event&").await;
        events.reverse();
        ids_increase(&events);
        let mut emitted = BTreeMap::new();
        for event in &events {
            let (key, nonce) = marked(&event["event"]["raw_event"]);
            let twice = emitted.insert(key, nonce);
            assert_eq!(twice, None, "committed twice: {event}");
        }
        emitted
    }
}

fn count_of(received: &[Received], path: &str) -> usize {
    let there = received.iter().filter(|there| there.path.starts_with(path));
    there.count()
}

/// The key of a step's execution, and its nonce.
fn marked(mark: &Value) -> (String, String) {
    let text = |name: &str| {
        let text = mark[name].as_str();
        text.unwrap_or_else(|| panic!("no {name} in {mark}"))
            .to_owned()
    };
    (text("key"), text("nonce"))
}

/// The nonces that steps left as their results, by their keys. Each run did everything once, and no try of a step
/// counted as failed because its node went away.
fn committed(runs: &[Value]) -> BTreeMap<String, String> {
    let mut committed = BTreeMap::new();
    for run in runs {
        assert_eq!(run["status"], "succeeded", "{run:#}");
        let id = run["event"]["body"]["id"].as_u64().unwrap();
        for path in steps_of(id) {
            let steps = run["steps"].as_array().unwrap();
            let step = steps.iter().find(|step| step["path"] == path);
            let step = step.unwrap_or_else(|| panic!("{path} is missing in {run:#}"));
            assert_eq!(step["attempts"], 1, "{path} of {run:#}");
            let nonce = step["return_value"].as_str().unwrap();
            let key = format!("{}/{path}", run["id"].as_str().unwrap());
            committed.insert(key, nonce.to_owned());
        }
    }
    committed
}

/// Each request that was answered has its run, and none has more runs than it was sent; one of the second trigger has
/// one.
fn check_accepted(clients: &[Clients; 2], runs: &[Value]) {
    let mut started: BTreeMap<u64, usize> = BTreeMap::new();
    for run in runs {
        let id = run["event"]["body"]["id"].as_u64().unwrap();
        *started.entry(id).or_default() += 1;
    }
    for (clients, has_key) in clients.iter().zip([false, true]) {
        for (id, sent) in clients.tally() {
            assert!(sent.answered, "{id} was sent until it was answered");
            let runs = started.remove(&(id as u64)).unwrap_or_default();
            assert!(runs >= 1, "{id} was accepted and has no run");
            let most = if has_key { 1 } else { sent.attempts };
            assert!(runs <= most, "{id} has {runs} runs: {sent:?}");
        }
    }
    assert!(started.is_empty(), "nobody sent {started:?}");
}

/// Each send of a committed step has arrived, as often as it did with one key of its own, and nothing else has.
fn check_sent(received: &[Received], committed: &BTreeMap<String, String>) {
    let mut sent: BTreeMap<String, String> = BTreeMap::new();
    for there in received {
        let (key, nonce) = marked(&there.json());
        if there.path == "/begun" {
            continue;
        }
        assert_eq!(Some(&nonce), committed.get(&key), "sent by {key}");
        let name = there.headers["idempotency-key"].to_str().unwrap();
        let former = sent.entry(name.to_owned()).or_insert(key.clone());
        assert_eq!(*former, key, "two sends have the key {name}");
    }
    assert_eq!(
        sent.len(),
        committed.len(),
        "a send came with several keys: {sent:#?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_workflow_is_lost_or_committed_twice() {
    let kills = kills();
    let mut seed = Seed::new();
    let mut killed = Killed::start().await;
    for kill in 0..kills {
        killed.round(kill, kills, &mut seed).await;
    }
    let runs = killed.runs().await;
    check_accepted(&killed.clients, &runs);
    let committed = committed(&runs);
    assert_eq!(
        killed.emitted().await,
        committed,
        "the events, and the results of the steps"
    );
    let is_sent = |received: &[Received]| {
        let sent = received.iter().filter(|there| there.path != "/begun");
        let keys: BTreeSet<String> = sent.map(|there| marked(&there.json()).0).collect();
        committed.keys().all(|key| keys.contains(key))
    };
    let received = killed.receiver.until(is_sent).await;
    check_sent(&received, &committed);
}
