//! Tests of workflows that cannot be run, and say why.

use super::Flow;

const ANSWERING: &str = r#"
triggers: [{ type: http, respond: workflow }]
steps:
- namespace: hello
  code: "export default { run({ $ }) { return $.respond({ status: 200, body: 'hello' }); } };"
"#;

#[tokio::test]
async fn a_request_that_begins_no_run_ends_the_test_with_its_reason() {
    for (event, told) in [
        ("7", "event: "),
        ("{ headers: { x-pd-notrigger: \"1\" } }", "began no run"),
    ] {
        let text = format!("event: {event}\nexpect: {{ response: {{ status: 200 }} }}\n");
        let seen = Flow::new(ANSWERING).test(&text).run(&[]).await;
        assert_eq!(seen.code, 1);
        assert!(seen.stdout.contains("FAILED  first"), "{}", seen.stdout);
        assert!(seen.stdout.contains(told), "{event}: {}", seen.stdout);
    }
}

#[tokio::test]
async fn a_mistake_in_a_file_is_told_with_its_field() {
    for (text, told) in [
        ("variables: { PORT: 80 }", "variables.PORT"),
        (
            "http: [{ match: { methd: GET, url: https://a.example }, reply: {} }]",
            "http[0]: match: methd",
        ),
    ] {
        let seen = Flow::new(ANSWERING).test(text).run(&[]).await;
        assert_eq!(seen.code, 1);
        assert!(seen.stdout.contains(told), "{text}: {}", seen.stdout);
    }
}
