//! `headwater workflows test`: without a node and without a network, in the real runtime.

mod kills;
mod order;
mod refusals;

use std::path::{Path, PathBuf};

use headwater_integration::{Seen, headwater_in};
use serde_json::{Value, json};

/// The folder of a workflow, with its tests.
struct Flow(tempfile::TempDir);

impl Flow {
    fn new(definition: &str) -> Self {
        let flow = Self(tempfile::tempdir().unwrap());
        let definition = format!("schema: workflow/2022.04\nname: Flow\n{definition}");
        flow.file("workflow.yaml", &definition)
    }

    fn file(self, path: &str, text: &str) -> Self {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn test(self, text: &str) -> Self {
        self.file("tests/first.yaml", text)
    }

    async fn run(&self, flags: &[&str]) -> Seen {
        let arguments = [&["workflows", "test", "."], flags].concat();
        headwater_in(self.0.path(), &arguments).await
    }
}

/// An approval before a loop whose second item is out of stock, and sides that fail or wait.
const ORDERS: &str = r#"
steps:
- namespace: enrich
  code: |
    export default {
      run({ steps, $ }) {
        $.send.emit({ order: steps.trigger.event.id });
        return { total: Number(steps.trigger.event.total), lines: steps.trigger.event.lines };
      },
    };
- namespace: route
  type: ifelse
  branches:
  - name: large
    if: "{{steps.enrich.$return_value.total >= 1000}}"
    steps:
    - namespace: approve
      uses: slack-approve-workflow@0.0.5
      props: { slack: { authProvisionId: apn_slack }, message: "Ship {{steps.trigger.event.id}} in {{steps.trigger.context.id}}?" }
    - namespace: lines
      type: loop
      over: "{{steps.enrich.$return_value.lines}}"
      concurrency: 4
      steps:
      - namespace: reserve
        code: "export default { run() { return { ok: true } } };"
        props: { line: "{{steps.lines.item}}" }
        retry: { attempts: 3, initial: 1h }
        on_error: continue
    - namespace: cool_off
      type: delay
      for: 71d
    - namespace: follow_up
      uses: slack-reply-to-a-message@0.1.29
      props: { text: "Reserved {{steps.lines.$return_value.filter((line) => line?.ok).length}} lines, as {{steps.approve.$return_value.by}} said" }
  else:
  - namespace: note
    code: "export default { run() {} };"
- namespace: mark
  uses: postgresql-upsert-row@2.0.8
"#;
const LARGE: &str = r#"
event: { id: 7, total: "1200.50", lines: [{ sku: A }, { sku: B }] }
mocks:
  approve: { suspend: true, resume_after: 2h, returns: { by: "Ann" } }
  reserve: [{ returns: { ok: true } }, { throws: "out of stock" }]
expect:
  status: succeeded
  path: [enrich, route.large, approve, lines, cool_off, follow_up, mark]
  calls: { reserve: 4, note: 0 }
  props: { follow_up: { text: "Reserved 1 lines, as Ann said" } }
  returns: { enrich: { total: 1200.5 } }
  sends: [{ emit: { event: { order: 7 } } }]
"#;

#[tokio::test]
async fn a_test_mocks_actions_and_waits_no_time_and_a_killed_node_changes_nothing() {
    let flow = Flow::new(ORDERS).test(LARGE);
    let seen = flow.run(&["--json"]).await.ok().json();
    assert_eq!(seen[0]["name"], "first");
    assert_eq!(seen[0]["passed"], true, "{seen}");
    assert_eq!(seen[0]["not_mocked"], json!(["follow_up", "mark"]));
    // The approval, the retries of a line, and the delay.
    let days = seen[0]["lasted_ms"].as_u64().unwrap() / 86_400_000;
    assert_eq!(days, 71, "{seen}");
    let seen = flow.run(&["--crash", "--json"]).await.ok().json();
    assert!(seen[0]["kills"].as_u64().unwrap() >= 6, "{seen}");
}

#[tokio::test]
async fn a_failure_shows_the_expected_and_the_found() {
    let flow = Flow::new(ORDERS).test(LARGE).file(
        "tests/small.yaml",
        "event: { total: 5, lines: [] }\nexpect: { path: [enrich, mark], calls: { note: 2 }, returns: { enrich: { total: 6 } } }\n",
    );
    let seen = flow.run(&[]).await;
    assert_eq!(seen.code, 1);
    assert!(seen.stdout.contains("ok      first"), "{}", seen.stdout);
    for line in [
        "FAILED  small",
        "  path\n    expected [\"enrich\",\"mark\"]\n    found    [\"enrich\",\"route.else\",\"note\",\"mark\"]",
        "  calls.note\n    expected 2\n    found    1",
        "  returns.enrich\n    expected {\"total\":6}\n    found    {\"total\":5,\"lines\":[]}",
    ] {
        assert!(seen.stdout.contains(line), "{line}: {}", seen.stdout);
    }
    assert!(
        seen.stderr.contains("1 of 2 tests failed"),
        "{}",
        seen.stderr
    );
    let seen = flow.run(&["--only", "first"]).await.ok();
    assert!(seen.stderr.contains("1 test passed"), "{}", seen.stderr);
}

const ASKING: &str = r#"
steps:
- namespace: ask
  code: |
    import axios from "axios";
    import https from "node:https";
    export default {
      async run({ $ }) {
        const headers = { "x-key": process.env.SHOP_KEY };
        const { name } = await (await fetch("https://shop.example/orders/7?full=1", { headers })).json();
        const { data } = await axios.post("http://stock.example/reserve", { name });
        const missing = await new Promise((resolve, reject) => {
          https.get("https://shop.example/missing", (response) => resolve(response.statusCode)).on("error", reject);
        });
        return { name, left: data.left, missing };
      },
    };
- namespace: get
  uses: http-get-request
  props: { httpRequest: { method: GET, url: "https://shop.example/again" } }
"#;
const ANSWERED: &str = r#"
variables: { SHOP_KEY: secret }
http:
- match: { method: GET, url: "https://shop.example/orders/7", query: { full: "1" }, headers: { X-Key: secret } }
  reply: { body: { name: pen } }
- match: { url: "stock.example/*", body: { name: pen } }
  reply: { status: 201, body: { left: 3 } }
- match: https://shop.example/missing
  reply: { status: 404, body: "no" }
- match: https://shop.example/again
  reply: [{ body: { page: 1 } }]
"#;

#[tokio::test]
async fn every_way_to_ask_the_network_meets_the_replies_of_the_test() {
    let expected =
        "expect: { returns: { ask: { name: pen, left: 3, missing: 404 }, get: { page: 1 } } }\n";
    let flow = Flow::new(ASKING).test(&format!("{ANSWERED}{expected}"));
    flow.run(&[]).await.ok();
    flow.run(&["--crash"]).await.ok();
}

#[tokio::test]
async fn a_request_without_a_reply_and_a_connection_past_them_fail_by_name() {
    let flow = Flow::new(ASKING).test("expect: { status: failed }\n");
    let seen = flow.run(&["--json"]).await;
    assert_eq!(seen.code, 1);
    let differences = &seen.json()[0]["differences"];
    assert_eq!(differences[0]["what"], "http", "{differences}");
    assert_eq!(
        differences[0]["found"][0],
        "GET https://shop.example/orders/7?full=1"
    );

    // A server that answers everybody, past the requests that tests know.
    let server = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = server.local_addr().unwrap().port();
    let connecting = format!(
        "
steps:
- namespace: connect
  code: |
    import net from \"node:net\";
    export default {{
      run: () => new Promise((resolve, reject) => {{
        const socket = net.connect({port}, \"127.0.0.1\", () => resolve(\"connected\"));
        socket.on(\"error\", (error) => reject(new Error(`not connected: ${{error.message}}`)));
      }}),
    }};
"
    );
    let flow = Flow::new(&connecting).test("expect: { error: not connected }\n");
    flow.run(&[]).await.ok();
}

#[tokio::test]
async fn a_step_that_keeps_something_in_memory_is_found_by_a_kill() {
    let counting = r#"
steps:
- namespace: first
  code: "globalThis.seen = 0; export default { run() { return ++globalThis.seen; } };"
- namespace: each
  type: loop
  over: "{{[1, 2]}}"
  steps:
  - namespace: count
    code: "let count = 0; export default { run() { return ++count; } };"
- namespace: last
  code: "export default { run() {} };"
  props: { counts: "{{steps.each.$return_value}}" }
"#;
    let flow = Flow::new(counting).test("expect: { props: { last: { counts: [1, 2] } } }\n");
    flow.run(&[]).await.ok();
    let seen = flow.run(&["--crash"]).await;
    assert_eq!(seen.code, 1, "{}", seen.stdout);
    assert!(
        seen.stdout.contains("FAILED  first, killed after commit"),
        "{}",
        seen.stdout
    );
    assert!(seen.stdout.contains("    without  {"), "{}", seen.stdout);
}

const WAITING: &str = r#"
triggers: [{ type: http, respond: workflow }]
steps:
- namespace: hello
  code: "export default { run({ steps, $ }) { return $.respond({ status: 202, immediate: true, headers: { 'X-A': 'b' }, body: { got: steps.trigger.event.body } }); } };"
- namespace: ask
  type: wait
  timeout: 3d
  on_timeout: continue
- namespace: again
  code: |
    export default {
      run({ $ }) {
        const { runs, callback_request } = $.context.run;
        if (callback_request) return callback_request.body ?? callback_request;
        $.flow.rerun(60_000, null, 5);
        return runs;
      },
    };
- namespace: day
  code: "export default { run({ $ }) { return new Date($.context.ts).getUTCFullYear(); } };"
"#;

#[tokio::test]
async fn waits_are_answered_by_the_test_or_run_out() {
    let answered = r"
now: 2031-05-01T10:00:00Z
event: { body: 7 }
mocks:
  ask: { resume_after: 1d, resume_data: { ok: true } }
expect:
  calls: { again: 6 }
  returns: { day: 2031 }
  exports: { ask: { $resume_data: { ok: true } } }
  response: { status: 202, headers: { x-a: b }, body: { got: 7 } }
";
    let flow = Flow::new(WAITING).test(answered);
    let seen = flow.run(&["--json"]).await.ok().json();
    let hours = seen[0]["lasted_ms"].as_u64().unwrap() / 3_600_000;
    assert_eq!(hours, 24, "{seen}");
    let flow = Flow::new(WAITING).test("expect: { status: succeeded }\n");
    let seen = flow.run(&["--json"]).await.ok().json();
    let hours = seen[0]["lasted_ms"].as_u64().unwrap() / 3_600_000;
    assert_eq!(hours, 72, "{seen}");
}

#[tokio::test]
async fn a_file_that_is_not_a_test_is_told_with_its_field() {
    let flow = Flow::new(ORDERS).test("mocks: { aprove: { returns: 1 } }\n");
    let seen = flow.run(&[]).await;
    assert_eq!(seen.code, 1);
    assert!(
        seen.stdout
            .contains("mocks.aprove: the workflow has no step `aprove`"),
        "{}{}",
        seen.stdout,
        seen.stderr
    );
    let flow = Flow::new(ORDERS).test("mock: {}\n");
    let seen = flow.run(&[]).await;
    assert!(
        seen.stdout.contains("tests/first.yaml is not a test"),
        "{}",
        seen.stdout
    );
    let flow = Flow::new(ORDERS);
    let seen = flow.run(&[]).await;
    assert!(seen.stderr.contains("put tests there"), "{}", seen.stderr);
}

const REFUSING: &str = r#"
steps:
- namespace: price
  code: |
    export default {
      run({ steps }) {
        if (steps.trigger.event.sku === "null") return null.price;
        throw Object.assign(new Error("no such sku: cow"), { code: "E_SKU" });
      },
    };
"#;

#[tokio::test]
async fn the_error_of_a_step_is_expected_by_its_fields_whatever_its_class() {
    let mut flow = Flow::new(REFUSING);
    for (name, test) in [
        ("text", "expect: { error: no such sku }"),
        ("step", "expect: { error: { step: price } }"),
        ("name", "expect: { error: { name: Error, code: E_SKU } }"),
        ("message", "expect: { error: { message: no such } }"),
        (
            "typed",
            "event: { sku: \"null\" }\nexpect: { error: { name: TypeError, step: price } }",
        ),
        (
            "mocked",
            "mocks: { price: { throws: gone } }\nexpect: { error: { name: Error, message: gone, step: price } }",
        ),
    ] {
        flow = flow.file(&format!("tests/{name}.yaml"), &format!("{test}\n"));
    }
    flow.run(&[]).await.ok();
    let flow = flow.file("tests/other.yaml", "expect: { error: { step: other } }\n");
    let seen = flow.run(&["--only", "other.yaml"]).await;
    assert_eq!(seen.code, 1);
    assert!(
        seen.stdout.contains("\"step\":\"price\""),
        "{}",
        seen.stdout
    );
}

#[tokio::test]
async fn values_of_variables_are_expected_as_the_test_gives_them() {
    let telling = r#"
steps:
- namespace: tell
  code: |
    export default {
      run({ $ }) {
        $.export("header", `Bearer ${process.env.TOKEN}`);
        return { t: process.env.TOKEN };
      },
    };
- namespace: fail
  code: "export default { run() { throw new Error(`not ${process.env.TOKEN}`); } };"
"#;
    let flow = Flow::new(telling).test(
        r#"
variables: { TOKEN: t0ken99 }
expect:
  returns: { tell: { t: t0ken99 } }
  exports: { tell: { header: Bearer t0ken99 } }
  error: { message: not t0ken99, step: fail }
"#,
    );
    flow.run(&[]).await.ok();
    flow.run(&["--crash"]).await.ok();
}

#[tokio::test]
async fn a_file_that_is_no_test_does_not_keep_the_others() {
    let flow = Flow::new(REFUSING)
        .file("tests/empty.yaml", "")
        .file("tests/good.yaml", "expect: { error: sku }\n");
    let seen = flow.run(&[]).await;
    assert_eq!(seen.code, 1);
    assert!(seen.stdout.contains("FAILED  empty"), "{}", seen.stdout);
    assert!(seen.stdout.contains("it is empty"), "{}", seen.stdout);
    assert!(seen.stdout.contains("ok      good"), "{}", seen.stdout);
}

#[tokio::test]
async fn code_that_does_not_parse_is_found_with_everything_else_before_a_test_runs() {
    let broken = r#"
triggers: [{ type: http }]
steps:
- namespace: own
- namespace: within
  code: |
    export default {
      run() { const x = ; },
    };
- namespace: typed
  code: "export default { run({ $ }: { $: unknown }): number { return 1; } };"
- namespace: old
  code: "module.exports = { run() { return require('fs'); } };"
- namespace: late
  code: "export default { run() {} };"
  props: { x: "{{steps.nobody}}" }
"#;
    let flow = Flow::new(broken)
        .file(
            "own/entry.js",
            "import './part.mjs';\nexport default { run() { }\n",
        )
        .file("own/part.mjs", "export const text = 'no end;\n")
        .test("{}");
    let checked = headwater_in(flow.0.path(), &["workflows", "check", ".", "--json"]).await;
    assert_eq!(checked.code, 1);
    let found = checked.json();
    let found: Vec<_> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let part = |field: &str| one[field].as_str().unwrap_or_default();
            (
                part("file"),
                one["line"].as_u64().unwrap(),
                part("severity"),
                part("path"),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("workflow.yaml", 10, "error", "within"),
            ("workflow.yaml", 18, "warning", "late"),
            ("own/entry.js", 3, "error", "own"),
            ("own/part.mjs", 1, "warning", ""),
        ],
        "{}",
        checked.stdout
    );
    let seen = flow.run(&[]).await;
    assert_eq!(seen.code, 1);
    assert!(seen.stderr.contains("workflow.yaml:10:"), "{}", seen.stderr);
}

#[tokio::test]
async fn the_tests_of_the_example_pass_with_kills_too() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/workflows/orders");
    let example: PathBuf = example.canonicalize().unwrap();
    let seen = headwater_in(&example, &["workflows", "test", ".", "--crash", "--json"]).await;
    let reports = seen.ok().json();
    let kills = reports
        .as_array()
        .unwrap()
        .iter()
        .map(|report| report["kills"].clone());
    let kills: Vec<Value> = kills.collect();
    assert!(
        kills.iter().all(Value::is_u64) && !kills.is_empty(),
        "{reports}"
    );
}
