//! The questions on a terminal, for components with real options: keys are typed as a person types them.

use headwater_integration::{Dialogue, Node};
use serde_json::{Value, json};

const DOWN: &str = "\u{1b}[B";
const UP: &str = "\u{1b}[A";
const ENTER: &str = "\r";
const ESC: &str = "\u{1b}";

/// An action that returns what it is configured with.
fn action(props: &str, rest: &str) -> String {
    format!(
        r#"
export default {{ name: "Asked", key: "asked-asked", version: "0.0.1", type: "action",
  props: {{ {props} }},
  {rest}
  run() {{ return {{ ...this }}; }} }};"#
    )
}

struct Asked {
    node: Node,
    folder: tempfile::TempDir,
}

impl Asked {
    async fn of(code: &str) -> Self {
        let node = Node::start().await;
        node.save(code).await;
        Self {
            node,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn run(&self, arguments: &[&str]) -> Dialogue {
        let mut all = vec!["run-action", "asked-asked", "--json"];
        all.extend(arguments);
        self.node.cli_at_terminal(self.folder.path(), &all)
    }
}

/// The props of the action, once it has run.
async fn configured(mut dialogue: Dialogue) -> Value {
    let status = dialogue.end().await;
    assert!(status.success(), "{}", dialogue.transcript());
    let data: Value = serde_json::from_str(&dialogue.data()).unwrap();
    data["outcome"]["value"].clone()
}

/// Three pages of two, then nothing.
const PAGED: &str = r#"board: { type: "string", label: "Board", description: "Where it goes",
  async options({ page }) {
    if (page > 2) return [];
    return [0, 1].map((n) => ({ label: `Board ${"ABCDEF"[page * 2 + n]}`, value: `b${page * 2 + n}` }));
  } }"#;

#[tokio::test]
async fn further_pages_of_options_are_appended_and_found_by_typing() {
    let asked = Asked::of(&action(PAGED, "")).await;
    let mut dialogue = asked.run(&[]);
    dialogue.expect("Where it goes").await;
    dialogue.expect("Board A").await;
    dialogue.expect("enter a value by hand").await;
    // The line before "by hand", which is the last one.
    dialogue.send(&[UP, UP, ENTER].concat());
    dialogue.expect("Board D").await;
    dialogue.expect("enter a value by hand").await;
    dialogue.send(&format!("more{ENTER}"));
    dialogue.expect("Board F").await;
    dialogue.expect("enter a value by hand").await;
    dialogue.send(&format!("e{ENTER}"));
    assert_eq!(configured(dialogue).await["board"], "b4");
}

#[tokio::test]
async fn pages_go_on_with_the_context_of_the_one_before() {
    let props = r#"task: { type: "integer", withLabel: true, options({ prevContext }) {
      const n = prevContext?.next ?? 1;
      return { options: [{ label: `Task ${n}`, value: n }], context: { next: n + 1 } };
    } }"#;
    let asked = Asked::of(&action(props, "")).await;
    let mut dialogue = asked.run(&[]);
    dialogue.expect("Task 1").await;
    dialogue.expect("by hand").await;
    dialogue.send(&[DOWN, ENTER].concat());
    dialogue.expect("Task 2").await;
    dialogue.expect("by hand").await;
    dialogue.send(&[DOWN, ENTER].concat());
    let task = configured(dialogue).await["task"].clone();
    assert_eq!(task, json!({"label": "Task 2", "value": 2}));
}

#[tokio::test]
async fn what_is_typed_is_searched_for_by_the_component() {
    let props = r#"city: { type: "string", useQuery: true, options({ query }) {
      return query === "none" ? [] : [`${query} North`, `${query} South`];
    } }"#;
    let asked = Asked::of(&action(props, "")).await;
    let mut dialogue = asked.run(&[]);
    dialogue.expect("city, search for:").await;
    dialogue.send(&format!("none{ENTER}"));
    dialogue.expect("search for something else").await;
    dialogue.expect("by hand").await;
    dialogue.send(ENTER);
    dialogue.expect("city, search for:").await;
    dialogue.send(&format!("Graz{ENTER}"));
    dialogue.expect("Graz South").await;
    dialogue.expect("by hand").await;
    dialogue.send(&format!("south{ENTER}"));
    assert_eq!(configured(dialogue).await["city"], "Graz South");
}

#[tokio::test]
async fn lists_take_several_picks_over_pages_and_typed_values() {
    let props = PAGED.replace("\"string\"", "\"string[]\"");
    let asked = Asked::of(&action(&props, "")).await;
    let mut dialogue = asked.run(&[]);
    dialogue.expect("by hand").await;
    // Nothing is picked yet.
    dialogue.send(ENTER);
    dialogue.expect("select at least one").await;
    // The first option, and more.
    dialogue.send(&[" ", UP, UP, " ", ENTER].concat());
    dialogue.expect("Board D").await;
    dialogue.expect("by hand").await;
    // The first one is still ticked; the fourth, and by hand.
    dialogue.send(&[DOWN, DOWN, DOWN, " ", UP, UP, UP, UP, " ", ENTER].concat());
    dialogue.expect("(comma-separated)").await;
    dialogue.send(&format!("x, y{ENTER}"));
    assert_eq!(
        configured(dialogue).await["board"],
        json!(["b0", "b3", "x", "y"])
    );
}

#[tokio::test]
async fn options_that_cannot_be_computed_leave_typing_by_hand() {
    let props =
        r#"board: { type: "integer", min: 3, options() { throw new Error("the API says 401"); } }"#;
    let asked = Asked::of(&action(props, "")).await;
    let mut dialogue = asked.run(&[]);
    dialogue.expect("the API says 401").await;
    dialogue.expect("board:").await;
    dialogue.send(&format!("two{ENTER}"));
    dialogue.expect("is not an integer").await;
    dialogue.send("\u{7f}\u{7f}\u{7f}");
    dialogue.send(&format!("2{ENTER}"));
    dialogue.expect("must be at least 3").await;
    dialogue.send(&format!("\u{7f}7{ENTER}"));
    assert_eq!(configured(dialogue).await["board"], 7);
}

const FORM: &str = r#"kind: { type: "string", options: ["poll", "survey", "broken"], reloadProps: true },
  title: { type: "string", label: "Title" }"#;
const ADDITIONAL: &str = r#"async additionalProps() {
    if (this.kind === "broken") throw new Error("no such kind");
    if (this.kind === "survey") return {};
    return {
      question: { type: "string", label: "Question" },
      size: { type: "integer", label: "Size", options: [1, 2] },
      theme: { type: "string", default: "plain" },
    };
  },"#;

#[tokio::test]
async fn props_that_a_value_brings_are_asked_for_and_others_not() {
    let asked = Asked::of(&action(FORM, ADDITIONAL)).await;
    let mut dialogue = asked.run(&[]);
    dialogue.expect("kind:").await;
    dialogue.send(&format!("broken{ENTER}"));
    dialogue.expect("no such kind").await;
    // It is asked for once more.
    dialogue.expect("kind:").await;
    dialogue.send(&format!("poll{ENTER}"));
    dialogue.expect("Title:").await;
    dialogue.send(&format!("Lunch{ENTER}"));
    dialogue.expect("Question:").await;
    dialogue.send(&format!("Where?{ENTER}"));
    dialogue.expect("Size:").await;
    dialogue.send(&format!("2{ENTER}"));
    let expected = json!({"kind": "poll", "title": "Lunch", "question": "Where?", "size": 2, "theme": "plain"});
    assert_eq!(configured(dialogue).await, expected);
    let mut dialogue = asked.run(&["--prop", "kind=survey"]);
    dialogue.expect("Title:").await;
    dialogue.send(&format!("Taste{ENTER}"));
    let expected = json!({"kind": "survey", "title": "Taste"});
    assert_eq!(configured(dialogue).await, expected);
}

#[tokio::test]
async fn flags_are_read_by_the_types_of_the_props_that_they_bring() {
    let asked = Asked::of(&action(FORM, ADDITIONAL)).await;
    let run = |props: &'static [&'static str]| {
        let mut all = vec!["run-action", "asked-asked", "--json", "--prop", "title=1"];
        all.extend(props.iter().flat_map(|prop| ["--prop", prop]));
        let node = &asked.node;
        async move { node.cli(&all).await }
    };
    let seen = run(&["kind=poll", "size=2", "question=3"]).await.ok();
    let value = &seen.json()["outcome"]["value"];
    assert_eq!(
        (&value["size"], &value["question"]),
        (&json!(2), &json!("3"))
    );
    let seen = run(&["kind=poll", "size=2"]).await;
    assert_eq!(seen.code, 2);
    assert!(
        seen.stderr.contains("  question (string): Question"),
        "{}",
        seen.stderr
    );
    let seen = run(&["kind=survey", "size=2"]).await;
    assert_eq!(seen.code, 2);
    assert!(
        seen.stderr.contains("the component has no prop size"),
        "{}",
        seen.stderr
    );
}

#[tokio::test]
async fn only_what_a_person_must_give_is_asked_for() {
    let props = r#"
      note: { type: "alert", alertType: "info", content: "Make a key first." },
      kept: { type: "string", hidden: true, optional: true },
      off: { type: "string", disabled: true, optional: true },
      extra: { type: "string", optional: true },
      limit: { type: "integer", default: 5 },
      tracker: { type: "app", app: "tracker" },
      sure: { type: "boolean" },
      key: { type: "string", secret: true, label: "Key" }"#;
    let asked = Asked::of(&action(props, "")).await;
    asked.node.account("tracker", json!({"api_key": "k"})).await;
    let mut dialogue = asked.run(&[]);
    dialogue.expect("Make a key first.").await;
    dialogue.expect("tracker account:").await;
    dialogue.expect("apn_").await;
    dialogue.send(ENTER);
    dialogue.expect("sure").await;
    dialogue.send(&format!("y{ENTER}"));
    dialogue.expect("Key:").await;
    dialogue.send(&format!("hunter2{ENTER}"));
    let configured = configured(dialogue).await;
    assert_eq!(
        (&configured["key"], &configured["sure"]),
        (&json!("hunter2"), &json!(true))
    );
    assert_eq!(configured["tracker"]["$auth"]["api_key"], "k");
}

#[tokio::test]
async fn a_secret_is_not_shown_and_leaving_changes_nothing() {
    let props = r#"key: { type: "string", secret: true, label: "Key" }, more: { type: "string" }"#;
    let asked = Asked::of(&action(props, "")).await;
    let mut dialogue = asked.run(&[]);
    dialogue.expect("Key:").await;
    dialogue.send(&format!("hunter2{ENTER}"));
    dialogue.expect("more:").await;
    dialogue.send(ESC);
    dialogue.expect("stopped at prop more").await;
    assert_eq!(dialogue.end().await.code(), Some(1));
    assert!(!dialogue.transcript().contains("hunter2"));
    assert_eq!(dialogue.data(), "");
}

#[tokio::test]
async fn a_data_store_is_picked_or_a_new_one_is_named() {
    let code = r#"
export default { name: "Asked", key: "asked-asked", version: "0.0.1", type: "action",
  props: { store: { type: "data_store", label: "Seen" } },
  run() { return this.store.keys(); } };"#;
    let asked = Asked::of(code).await;
    let set = ["data-stores", "set", "users", "user-7", "1"];
    asked.node.cli(&set).await.ok();
    let mut dialogue = asked.run(&[]);
    dialogue.expect("Seen, a data store:").await;
    dialogue.send(ENTER);
    assert_eq!(configured(dialogue).await, json!(["user-7"]));
    let mut dialogue = asked.run(&[]);
    dialogue.expect("a new one").await;
    dialogue.send(&format!("{DOWN}{ENTER}"));
    dialogue.expect("first written to it").await;
    dialogue.send(&format!("others{ENTER}"));
    assert_eq!(configured(dialogue).await, json!([]));
}
