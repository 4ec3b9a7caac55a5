//! The order of things in a test of a workflow: mocks, answers and the clock, whatever takes how long.

use serde_json::json;

use super::Flow;

/// A loop whose first item takes longer than the second, before both come to a step that is mocked.
const SLOW_FIRST: &str = r#"
steps:
- namespace: each
  type: loop
  over: "{{[1, 2, 3]}}"
  concurrency: 3
  steps:
  - namespace: prepare
    code: |
      import { setTimeout } from "node:timers/promises";
      export default {
        props: { number: { type: "integer" } },
        run() { return setTimeout(150 * (3 - this.number), this.number); },
      };
    props: { number: "{{steps.each.item}}" }
  - namespace: reserve
    code: "export default { run() {} };"
    props: { number: "{{steps.prepare.$return_value}}" }
    on_error: continue
- namespace: last
  code: "export default { run() {} };"
  props: { all: "{{steps.each.$return_value}}" }
"#;

#[tokio::test]
async fn mocks_go_by_the_order_of_items_however_long_each_takes() {
    let flow = Flow::new(SLOW_FIRST).test(
        "mocks: { reserve: [{ returns: a }, { returns: b }, { returns: c }] }\n\
         expect: { calls: { reserve: 3 }, props: { last: { all: [a, b, c] } } }\n",
    );
    flow.run(&[]).await.ok();
    flow.run(&["--crash"]).await.ok();
}

/// Items that wait as long, and whose props take as much longer as they are earlier.
const SLOW_PROPS: &str = r#"
steps:
- namespace: each
  type: loop
  over: "{{[1, 2, 3]}}"
  concurrency: 3
  steps:
  - namespace: pause
    type: delay
    for: 1h
  - namespace: reserve
    code: "export default { run() {} };"
    props: { number: "{{await new Promise((resolve) => setTimeout(resolve, 150 * (3 - steps.each.item), steps.each.item))}}" }
- namespace: last
  code: "export default { run() {} };"
  props: { all: "{{steps.each.$return_value}}" }
"#;

#[tokio::test]
async fn mocks_go_by_the_order_of_items_after_a_pause_too() {
    let flow = Flow::new(SLOW_PROPS).test(
        "mocks: { reserve: [{ returns: a }, { returns: b }, { returns: c }] }\n\
         expect: { props: { reserve: [{ number: 1 }, { number: 2 }, { number: 3 }], last: { all: [a, b, c] } } }\n",
    );
    flow.run(&[]).await.ok();
    flow.run(&["--crash"]).await.ok();
}

#[tokio::test]
async fn of_two_mocks_side_by_side_the_first_is_always_the_same() {
    let flow = Flow::new(
        r#"
steps:
- namespace: both
  type: parallel
  branches:
  - name: one
    steps: [{ namespace: left, code: "export default { run() {} };" }]
  - name: two
    steps: [{ namespace: right, code: "export default { run() {} };" }]
on_error:
- namespace: alarm
  code: "export default { run() {} };"
"#,
    )
    .test(
        "mocks: { left: { throws: left }, right: { returns: 1 }, alarm: { returns: 2 } }\n\
         expect: { error: left, calls: { right: 1, alarm: 1 }, returns: { right: null } }\n",
    );
    flow.run(&["--crash"]).await.ok();
}

const ASKING_TWICE: &str = r#"
steps:
- namespace: ask
  code: |
    export default {
      run({ $ }) {
        const { runs, context, callback_request } = $.context.run;
        const answers = [...(context ?? []), ...(callback_request ? [callback_request.body ?? callback_request] : [])];
        if (runs < 3) $.flow.rerun(30 * 86_400_000, answers, 5);
        return answers;
      },
    };
- namespace: each
  type: loop
  over: "{{[1, 2]}}"
  concurrency: 2
  steps:
  - namespace: approve
    code: "export default { run({ $ }) { $.flow.suspend(); } };"
"#;

#[tokio::test]
async fn a_list_of_answers_has_one_for_each_execution_of_a_step_with_its_own_code() {
    let flow = Flow::new(ASKING_TWICE).test(
        "mocks:\n  ask: [{ resume_after: 1h, resume_data: { n: 1 } }, { resume_after: 2h, resume_data: { n: 2 } }]\n  \
         approve: [{ resume_after: 3h, resume_data: a }, { resume_after: 1h, resume_data: b }]\n\
         expect: { calls: { ask: 3 }, returns: { ask: [{ n: 1 }, { n: 2 }] }, exports: { approve: { $resume_data: b } } }\n",
    );
    let seen = flow.run(&["--json"]).await.ok().json();
    let hours = seen[0]["lasted_ms"].as_u64().unwrap() / 3_600_000;
    assert_eq!(hours, 6, "{seen}");
    flow.run(&["--crash"]).await.ok();
}

#[tokio::test]
async fn a_context_of_the_test_changes_neither_mocks_nor_calls() {
    let flow = Flow::new(
        "steps:\n- namespace: pay\n  code: \"export default { run() { return 'real'; } };\"\n\
         - namespace: show\n  code: \"export default { run({ $ }) { return $.context.idempotency_key; } };\"\n",
    )
    .test(
        "context: { idempotency_key: mine }\nmocks: { pay: { returns: mocked } }\n\
         expect: { calls: { pay: 1, show: 1 }, returns: { pay: mocked, show: mine } }\n",
    );
    flow.run(&[]).await.ok();
}

/// Every way in which code and expressions learn the time, before and after a pause.
const TELLING_THE_TIME: &str = r#"
steps:
- namespace: before
  code: "export default { run: () => [new Date().toISOString(), new Date(Date.now()).toISOString(), new Date(Date()).toISOString(), new Date(0).getTime()] };"
- namespace: pause
  type: delay
  for: 2d
- namespace: after
  code: |
    export default {
      props: { seen: { type: "string" } },
      async run() {
        const began = Date.now();
        await new Promise((resolve) => setTimeout(resolve, 20));
        return [this.seen, new Date().toISOString(), Date.now() - began, new Date() instanceof Date];
      },
    };
  props: { seen: "{{new Date(Date.now()).toISOString()}}" }
- namespace: choose
  type: ifelse
  branches:
  - name: may
    if: "{{new Date().getUTCMonth() === 4}}"
    steps: [{ namespace: end, code: "export default { run() {} };" }]
"#;

#[tokio::test]
async fn the_clock_of_the_test_is_that_of_code_and_expressions() {
    let (start, end) = ("2031-04-30T10:00:00.000Z", "2031-05-02T10:00:00.000Z");
    let expected = json!({
        "before": [start, start, start, 0],
        "after": [end, "2031-05-02T10:00:00.020Z", 20, true],
    });
    let flow = Flow::new(TELLING_THE_TIME).test(&format!(
        "now: 2031-04-30T10:00:00Z\nexpect: {{ path: [before, pause, after, choose.may, end], returns: {expected} }}\n"
    ));
    flow.run(&["--crash"]).await.ok();
}
