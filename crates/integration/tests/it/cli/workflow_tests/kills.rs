//! `headwater workflows test --crash`: differences that a kill makes are found, and nothing else counts as one.

use serde_json::json;

use super::Flow;

/// Steps that show ids of every kind that they can see, before and after a pause.
const IDS: &str = r#"
triggers: [{ type: http, respond: workflow }]
steps:
- namespace: answer
  code: "export default { async run({ $ }) { await $.respond({ status: 200, immediate: true, body: 1 }); } };"
- namespace: ask
  type: wait
  timeout: 1h
  on_timeout: continue
- namespace: tell
  code: "export default { props: { id: { type: 'string' } }, run({ steps, $ }) { return [$.context, steps.trigger.context, this.id]; } };"
  props: { id: "{{steps.trigger.context.owner_id}} {{steps.trigger.context.emitter_id}}" }
- namespace: again
  code: "export default { run({ $ }) { return $.context.id; } };"
- namespace: break
  code: "export default { run() { throw new Error('broken'); } };"
on_error:
- namespace: alarm
  code: "export default { run({ steps, $ }) { $.send.emit(steps.trigger.event.error); return steps.trigger.event.error.cellId; } };"
"#;

#[tokio::test]
async fn ids_that_are_drawn_for_each_trial_count_as_the_same() {
    let flow = Flow::new(IDS).test("expect: { error: broken, response: { body: 1 } }\n");
    let seen = flow.run(&["--crash", "--json"]).await.ok().json();
    assert!(seen[0]["kills"].as_u64().unwrap() >= 5, "{seen}");
}

/// A step that is at work, and has been answered, whenever the node is killed after the step beside it.
const BESIDE: &str = r#"
steps:
- namespace: both
  type: parallel
  branches:
  - name: left
    steps:
    - namespace: first
      code: |
        import { existsSync } from "node:fs";
        import { setTimeout } from "node:timers/promises";
        export default { async run() { while (!existsSync("/tmp/asked")) await setTimeout(1); } };
    - namespace: second
      code: |
        import { writeFileSync } from "node:fs";
        export default { run() { writeFileSync("/tmp/go", ""); } };
  - name: right
    steps:
    - namespace: ask
      code: |
        import { existsSync, writeFileSync } from "node:fs";
        import { setTimeout } from "node:timers/promises";
        import axios from "axios";
        const page = async () => (await (await fetch("https://shop.example/pages")).json()).page;
        export default {
          async run() {
            const pages = [await page(), (await axios.get("https://shop.example/pages")).data.page];
            writeFileSync("/tmp/asked", "");
            // A kill takes the folder along, and the step that has ended does not write it again.
            for (let tries = 0; tries < 100 && !existsSync("/tmp/go"); tries++) await setTimeout(10);
            return [...pages, await page()];
          },
        };
- namespace: after
  code: "export default { run: async () => (await (await fetch('https://shop.example/pages')).json()).page };"
"#;

#[tokio::test]
async fn a_call_that_is_made_again_is_answered_as_before() {
    let flow = Flow::new(BESIDE).test(
        "http: [{ match: https://shop.example/pages, reply: [{ body: { page: 1 } }, { body: { page: 2 } }, { body: { page: 3 } }, { body: { page: 4 } }] }]\n\
         expect: { returns: { ask: [1, 2, 3], after: 4 } }\n",
    );
    let seen = flow.run(&["--crash", "--json"]).await.ok().json();
    assert!(seen[0]["kills"].as_u64().unwrap() >= 4, "{seen}");
}

/// A step that keeps something in memory, and one that lets it be seen in a way of its own.
fn keeping(last: &str) -> String {
    format!(
        "
steps:
- namespace: first
  code: \"globalThis.kept = 0; export default {{ run() {{ globalThis.kept = 1; }} }};\"
- namespace: last
  code: \"export default {{ async run({{ $ }}) {{ {last} }} }};\"
"
    )
}

#[tokio::test]
async fn everything_that_a_kill_changes_is_found() {
    for (last, expect, what) in [
        (
            "$.export('kept', globalThis.kept ?? 0);",
            "{ exports: { last: { kept: 1 } } }",
            "results",
        ),
        (
            "throw new Error(`kept ${globalThis.kept ?? 0}`);",
            "{ error: kept }",
            "error",
        ),
        (
            "if (!globalThis.kept) await fetch('https://lost.example/').catch(() => {});",
            "{ status: succeeded }",
            "http",
        ),
        (
            "$.send.emit(globalThis.kept ?? 0);",
            "{ status: succeeded }",
            "sends",
        ),
    ] {
        let flow = Flow::new(&keeping(last)).test(&format!("http: []\nexpect: {expect}\n"));
        flow.run(&[]).await.ok();
        let seen = flow.run(&["--crash", "--json"]).await;
        assert_eq!(seen.code, 1, "{last}: {}", seen.stdout);
        let report = &seen.json()[0];
        let differences = report["differences"].as_array().unwrap();
        let found: Vec<_> = differences.iter().map(|found| &found["what"]).collect();
        assert!(found.contains(&&json!(what)), "{last}: {report}");
        assert!(report["killed_after"].is_u64(), "{report}");
    }
}

#[tokio::test]
async fn executions_of_one_step_are_told_apart_after_a_kill() {
    let flow = Flow::new(
        r#"
steps:
- namespace: poll
  code: |
    export default {
      run({ $ }) {
        const { runs } = $.context.run;
        if (runs < 3) $.flow.rerun(60_000, null, 5);
        return runs;
      },
    };
- namespace: fail
  code: "export default { run() { return 1; } };"
  retry: { attempts: 3, initial: 1h }
"#,
    )
    .test("mocks: { fail: [{ throws: no }, { throws: no }, { returns: 2 }] }\nexpect: { calls: { poll: 3, fail: 3 }, returns: { poll: 3, fail: 2 } }\n");
    flow.run(&["--crash"]).await.ok();
}
