//! Settings: each with its unit and its default.

use std::time::Duration;

use super::{problems, warnings, with};
use crate::definition::{
    Concurrency, FailureKind, Overflow, Queue, Retention, Retry, Settings, Stored, Template,
    Throttle,
};

fn settings(text: &str) -> Settings {
    with(&format!("settings:\n{text}")).settings
}

#[test]
fn each_setting_has_a_default() {
    let expected = Settings {
        notifies_of_errors: true,
        notifies_of_first_error: false,
        timeout: None,
        memory_mb: None,
        auto_retry: None,
        concurrency: None,
        throttle: None,
        queue: Queue {
            size: 10_000,
            overflow: Overflow::Reject,
        },
        retention: Retention {
            days: None,
            stored: Stored::All,
        },
        resume_methods: None,
    };
    for text in [
        "",
        "settings:\n",
        "settings: {}\n",
        "settings:\n  throttle:\n",
    ] {
        assert_eq!(with(text).settings, expected, "{text}");
    }
}

#[test]
fn each_setting_is_read_in_its_unit() {
    let found = settings(
        "  error_notification: false
  notify_first_error: true
  lambda_timeout: 45
  lambda_memory: 512
  auto_retry: { attempts: 2 }
  concurrency: { limit: 3, key: '{{event.id}}' }
  throttle: { limit: 0, per: 10s }
  queue: { size: 5, overflow: oldest }
  data_retention: { days: 7, store: errors }
  resume_methods: [post, PUT]
",
    );
    let expected = Settings {
        notifies_of_errors: false,
        notifies_of_first_error: true,
        timeout: Some(Duration::from_secs(45)),
        memory_mb: Some(512),
        auto_retry: Some(Retry {
            attempts: 2,
            ..Retry::default()
        }),
        concurrency: Some(Concurrency {
            limit: 3,
            key: Some(Template::expression("event.id")),
        }),
        throttle: Some(Throttle {
            limit: 0,
            per: Duration::from_secs(10),
            key: None,
        }),
        queue: Queue {
            size: 5,
            overflow: Overflow::Oldest,
        },
        retention: Retention {
            days: Some(7),
            stored: Stored::Errors,
        },
        resume_methods: Some(vec!["POST".to_owned(), "PUT".to_owned()]),
    };
    assert_eq!(found, expected);
    assert_eq!(
        settings("  data_retention: { store: none }")
            .retention
            .stored,
        Stored::None
    );
    assert_eq!(
        settings("  resume_methods: POST").resume_methods,
        Some(vec!["POST".to_owned()])
    );
    assert_eq!(settings("  auto_retry: false").auto_retry, None);
    assert_eq!(
        settings("  throttle: { limit: 1, per: 1500 }")
            .throttle
            .unwrap()
            .per,
        Duration::from_millis(1500)
    );
}

#[test]
fn a_retry_policy_has_a_default_for_each_key() {
    let retry = |text: &str| {
        settings(&format!("  auto_retry: {text}"))
            .auto_retry
            .unwrap()
    };
    let expected = Retry {
        attempts: 3,
        initial: Duration::from_secs(1),
        factor: 2.0,
        max: Duration::from_mins(5),
        jitter: true,
        on: vec![FailureKind::Thrown],
    };
    assert_eq!(retry("{}"), expected);
    let expected = Retry {
        attempts: 10,
        initial: Duration::from_millis(500),
        factor: 1.5,
        max: Duration::from_hours(1),
        jitter: false,
        on: FailureKind::ALL.to_vec(),
    };
    assert_eq!(
        retry(
            "{ attempts: 10, initial: 500ms, factor: 1.5, max: 1h, jitter: false, on: [thrown, timeout, out_of_memory, worker_lost] }"
        ),
        expected
    );
    assert_eq!(retry("{ on: timeout }").on, [FailureKind::Timeout]);
    assert_eq!(
        retry("{ initial: 10m }").max,
        Duration::from_mins(10),
        "a long pause is not cut"
    );
}

/// Texts, and the beginnings or parts of what is said about them.
const MISTAKES: &[(&str, &str)] = &[
    (
        "  error_notification: maybe",
        "line 3, column 23: error: `error_notification` is `maybe`; expected true or false",
    ),
    (
        "  lambda_timeout: 20s",
        "line 3, column 19: error: `lambda_timeout` is `20s`; expected a whole number of seconds from 1 to 86400",
    ),
    (
        "  lambda_timeout: 0",
        "`lambda_timeout` is 0; expected a whole number of seconds",
    ),
    (
        "  lambda_memory: 1",
        "expected a whole number of MB from 64 to 102400",
    ),
    (
        "  auto_retry: often",
        "`auto_retry` is `often`; expected true, false or {attempts,",
    ),
    (
        "  auto_retry: { attempts: 0 }",
        "`attempts` is 0; expected a whole number from 1 to 100",
    ),
    (
        "  auto_retry: { factor: 0.5 }",
        "`factor` is 0.5; expected a number from 1 to 100",
    ),
    (
        "  auto_retry: { initial: soon }",
        "`initial` is `soon`; expected a time of a year at most, such as `500ms`",
    ),
    (
        "  auto_retry: { max: 400d }",
        "`max` is `400d`; expected a time of a year at most",
    ),
    (
        "  auto_retry: { on: [configuration] }",
        "line 3, column 22: error: `on` names failures to try again after: `thrown`, `timeout`, `out_of_memory`, `worker_lost`. Errors of the configuration are never",
    ),
    (
        "  concurrency: 1",
        "line 3, column 16: error: expected keys with values, and there is a number",
    ),
    (
        "  concurrency: {}",
        "line 3, column 16: error: `limit` is missing here",
    ),
    ("  throttle: { limit: 1 }", "`per` is missing here"),
    (
        "  throttle: { limit: -1, per: 1m }",
        "`limit` is -1; expected a whole number from 0 to 1000000",
    ),
    (
        "  throttle: { limit: 1, per: 0 }",
        "`per` is 0; expected a time",
    ),
    (
        "  queue: { size: 0 }",
        "`size` is 0; expected a whole number from 1 to 1000000",
    ),
    (
        "  queue: { overflow: drop }",
        "`overflow` is `drop`; expected `reject` or `oldest`",
    ),
    (
        "  data_retention: { days: 0 }",
        "expected a whole number of days from 1 to 3650",
    ),
    (
        "  data_retention: { store: some }",
        "`store` is `some`; expected `all` or `errors` or `none`",
    ),
    (
        "  resume_methods: [HEAD]",
        "`resume_methods` are methods that resume a wait: GET, POST",
    ),
    ("  resume_methods: []", "`resume_methods` names no method"),
];

#[test]
fn mistakes_in_settings_are_told_with_their_places() {
    for (text, expected) in MISTAKES {
        let found = problems(&format!("settings:\n{text}"));
        assert!(found[0].contains(expected), "{text}: {found:?}");
        assert_eq!(found.len(), 1, "{text}: {found:?}");
    }
}

#[test]
fn an_unknown_setting_is_told_and_has_no_effect() {
    let found =
        warnings("settings:\n  warm_workers: 3\n  throttle: { limit: 1, per: 1m, burst: 2 }\n");
    assert_eq!(
        found,
        [
            "line 3, column 3: warning: `warm_workers` is not known here, and has no effect",
            "line 4, column 34: warning: `burst` is not known here, and has no effect",
        ]
    );
}
