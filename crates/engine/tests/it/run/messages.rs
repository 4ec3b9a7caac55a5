//! Messages of runs to their callers.

use headwater_engine::{Entry, Hook, LogLevel, RunMessage};
use headwater_model::{event::EmitKey, outcome::Outcome};
use serde_json::{Map, Value, json};

use crate::harness::{Node, Source};

#[tokio::test(flavor = "multi_thread")]
async fn emits_and_logs_come_in_order_and_events_as_they_were_written() {
    let node = Node::start().await;
    let messages = node
        .run(&Source::named("emit"), json!({"b": 1, "a": [true]}))
        .await;
    let said: Vec<String> = messages
        .0
        .iter()
        .map(|message| match message {
            RunMessage::Emit(emit) => emit.event.get().to_owned(),
            RunMessage::Log { text, .. } => text.trim().to_owned(),
            _ => "end".to_owned(),
        })
        .collect();
    let said: Vec<&str> = said.iter().map(String::as_str).collect();
    assert_eq!(
        said,
        [
            r#"{"b":1,"a":[true]}"#,
            "null",
            "between",
            r#"{"nested":{"list":[1,null,"é"]}}"#,
            "end"
        ]
    );
    let Some(RunMessage::Emit(first)) = messages.0.first() else {
        panic!("no emit")
    };
    assert_eq!(first.options.id, Some(EmitKey::Text("a".into())));
    assert_eq!(first.options.name.as_ref().unwrap().name(), "channel");
    assert_eq!(
        (first.options.summary.as_deref(), first.options.ts),
        (Some("first"), Some(5.0))
    );
    assert_eq!(messages.returned(), json!({"given": {"b": 1, "a": [true]}}));
    node.engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_way_to_log_is_a_line_of_the_run() {
    let node = Node::start().await;
    let messages = node.run(&Source::named("logs"), Value::Null).await;
    let logs: Vec<_> = messages
        .logs()
        .into_iter()
        .map(|(level, text)| (level, text.trim()))
        .collect();
    let expected = [
        (LogLevel::Info, "while loading"),
        (LogLevel::Debug, "debug"),
        (LogLevel::Info, "info { a: 1 }"),
        (LogLevel::Warn, "warn"),
        (LogLevel::Error, "error"),
        (LogLevel::Info, "stdout"),
        (LogLevel::Error, "stderr"),
    ];
    assert_eq!(logs, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_gets_to_standard_error_past_the_runtime_is_a_line_too() {
    let node = Node::start().await;
    let source = Source::named("steer");
    let mut running = node.steer(&source, "stderr").await;
    let mut line = None;
    while line.is_none() {
        let (_, message) = running.messages.recv().await.expect("a line");
        if let RunMessage::Log { level, text } = message {
            line = Some((level, text));
        }
    }
    assert_eq!(line, Some((LogLevel::Error, "past the runtime".to_owned())));
    node.engine.evict(&source.spec.owner).await;
    assert!(running.collect().await.is_lost());
}

#[tokio::test(flavor = "multi_thread")]
async fn key_values_are_loaded_once_and_written_back() {
    let node = Node::start().await;
    let source = Source::with("kv", Map::from_iter([("count".to_owned(), json!(41))]));
    assert_eq!(node.run(&source, Value::Null).await.returned(), 41);
    let messages = node.run(&source, Value::Null).await;
    assert_eq!(messages.returned(), 42);
    let changes: Vec<_> = messages
        .0
        .iter()
        .filter_map(|message| match message {
            RunMessage::KvChanged(change) => Some((
                &change.key[..],
                change.value.as_ref().map(|value| value.get()),
                change.seq,
            )),
            _ => None,
        })
        .collect();
    let values: Vec<_> = changes
        .iter()
        .map(|&(key, value, _)| (key, value))
        .collect();
    assert_eq!(
        values,
        [
            ("count", Some("43")),
            ("gone", None),
            ("nothing", Some("null"))
        ]
    );
    assert!(changes.is_sorted_by(|one, other| one.2 < other.2));
    assert_eq!(
        source
            .state
            .loads
            .load(std::sync::atomic::Ordering::Relaxed),
        1
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_emitted_before_a_throw_counts() {
    let node = Node::start().await;
    let messages = node.run(&Source::named("throw"), Value::Null).await;
    assert_eq!(messages.emitted(), ["before"]);
    let Outcome::Threw { error } = messages.outcome() else {
        panic!("{messages:?}")
    };
    assert_eq!(
        (&error.name[..], &error.message[..]),
        ("TypeError", "on purpose")
    );
    assert_eq!(error.code, Some(json!("E_PURPOSE")));
    assert!(error.stack.contains("component.mjs:6"), "{}", error.stack);
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_get_props_and_fail_alone() {
    let node = Node::start().await;
    let source = Source::named("hooks");
    let deployed = node
        .hook(&source, Hook::Deploy, json!({"greeting": "hello"}))
        .await;
    assert_eq!(deployed.emitted(), ["deploy hello"]);
    assert_eq!(deployed.outcome(), &Outcome::Returned { value: None });
    let activated = node.hook(&source, Hook::Activate, json!({})).await;
    assert!(
        matches!(activated.outcome(), Outcome::Threw { error } if error.message == "no activation")
    );
    let absent = node.hook(&source, Hook::Deactivate, json!({})).await;
    assert_eq!(absent.outcome(), &Outcome::Returned { value: None });
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_response_counts() {
    let node = Node::start().await;
    let props = json!({"http": {"endpoint": "http://localhost/e/x"}});
    let running = node
        .invoke(&Source::named("respond"), Entry::Run, json!(7), props)
        .await;
    let messages = running.collect().await;
    let responses: Vec<_> = messages
        .0
        .iter()
        .filter_map(|message| match message {
            RunMessage::Respond(response) => Some(response),
            _ => None,
        })
        .collect();
    let [response] = responses[..] else {
        panic!("{messages:?}")
    };
    assert_eq!(
        (response.status, &response.body[..]),
        (201, &[0, 255, 7][..])
    );
    let cookies = response
        .headers
        .iter()
        .filter(|(name, _)| name == "set-cookie");
    assert_eq!(
        cookies.map(|(_, value)| &value[..]).collect::<Vec<_>>(),
        ["a=1", "b=2"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_runs_share_a_worker_and_keep_their_messages_apart() {
    let node = Node::start().await;
    let source = Source::named("together");
    let names: Vec<String> = (0..8).map(|number| format!("run {number}")).collect();
    let runs = names
        .iter()
        .map(|name| node.run(&source, json!({"name": name, "of": names.len()})));
    for (name, messages) in names.iter().zip(futures::future::join_all(runs).await) {
        assert_eq!(messages.returned(), *name);
        assert_eq!(messages.emitted(), [name.as_str()]);
        let logs: Vec<_> = messages
            .logs()
            .into_iter()
            .map(|(_, text)| text.trim().to_owned())
            .collect();
        assert_eq!(logs, [format!("in {name}"), format!("out {name}")]);
    }
    assert_eq!(
        source
            .state
            .loads
            .load(std::sync::atomic::Ordering::Relaxed),
        1
    );
    assert_eq!(node.engine.status().source_workers, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn code_that_cannot_be_evaluated_ends_the_run_with_its_error() {
    let node = Node::start().await;
    let source = Source::named("unloadable");
    for _ in 0..2 {
        let messages = node.run(&source, Value::Null).await;
        assert!(
            matches!(messages.outcome(), Outcome::Threw { error } if error.name == "RangeError"),
            "{messages:?}"
        );
    }
    node.until(|status| status.source_workers == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn code_comes_with_its_folders_and_links_and_has_a_tmp() {
    let node = Node::start().await;
    assert_eq!(
        node.run(&Source::named("files"), Value::Null)
            .await
            .returned(),
        "linked"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_action_tells_what_it_exports_and_that_nothing_is_to_follow() {
    let node = Node::start().await;
    let event = json!({"steps": {"before": 1}, "context": {}});
    let messages = node.run(&Source::named("action"), event).await;
    let said: Vec<String> = messages
        .0
        .iter()
        .map(|message| match message {
            RunMessage::Exported(export) => {
                let value = export.value.as_ref().map_or("-", |value| value.get());
                format!("{}={value}", export.name)
            }
            RunMessage::Exited(reason) => format!("exit {reason}"),
            _ => "end".to_owned(),
        })
        .collect();
    let said: Vec<&str> = said.iter().map(String::as_str).collect();
    assert_eq!(
        said,
        [
            r#"early={"steps":{"before":1}}"#,
            r#"$summary="Done""#,
            "nothing=-",
            "exit enough",
            "end"
        ]
    );
    node.engine.shutdown().await;
}
