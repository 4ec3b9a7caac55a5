//! `doctor`: checks that a node answers, is ready, takes the key, and that this machine has everything
//! that the other commands need. It reports and repairs nothing; each failing line has the next step.

mod check;
mod sandbox;

use anyhow::Result;
use headwater_platform::LITTLE_ROOM_BYTES;
use serde_json::Value;

use self::check::{Check, Verdict};
use crate::arguments::DoctorArguments;
use crate::client::ClientError;
use crate::exit::Exit;
use crate::session::Session;
use crate::table;

pub(super) async fn run(session: &Session, arguments: &DoctorArguments) -> Result<Exit> {
    let (node, is_reached) = health(session).await;
    let mut checks = vec![node];
    if !arguments.alive {
        if is_reached {
            checks.extend(readiness(session).await);
            checks.push(key(session).await);
        }
        checks.push(data_dir(session));
    }
    let failed = checks.iter().any(|check| check.verdict == Verdict::Failed);
    let report = checks.iter().map(Check::to_json).collect();
    session.print(&report, |_| {
        table::report(
            &["check", "result", "detail"],
            checks.iter().map(Check::row).collect(),
        )
    })?;
    Ok(if failed { Exit::Failure } else { Exit::Success })
}

/// Whether a node is there, and whether anything is that can be asked more.
async fn health(session: &Session) -> (Check, bool) {
    let answer = match session.client.probe("healthz").await {
        Ok(answer) => answer,
        Err(error) => return (unanswered("node", &error), false),
    };
    let check = match answer.ok {
        true => Check::ok("node", session.client.base().as_str()),
        false => Check::failed(
            "node",
            &format!("{} answered {}", session.client.base(), answer.status),
            "another program may be listening there; give the node's address with --url or HEADWATER_URL",
        ),
    };
    (check, true)
}

/// One line per check the node makes of itself: its store, its runtime and any others that it names.
async fn readiness(session: &Session) -> Vec<Check> {
    let answer = match session.client.probe("readyz").await {
        Ok(answer) => answer,
        Err(error) => return vec![unanswered("ready", &error)],
    };
    let body: Value = serde_json::from_str(&answer.body).unwrap_or_default();
    let overall = match answer.ok {
        true => Check::ok("ready", "the node is ready"),
        false => Check::failed(
            "ready",
            &format!("the node answered {}", answer.status),
            "see the failing checks below and the node's own log",
        ),
    };
    let checks = body.get("checks").and_then(Value::as_object);
    let checks = checks.into_iter().flatten();
    std::iter::once(overall)
        .chain(checks.flat_map(|(name, value)| match name.as_str() {
            "sandbox" => sandbox::checks(value),
            name => vec![node_check(name, value)],
        }))
        .collect()
}

/// A check's value is a text, a boolean or an object with a `status`, which the result says in a word.
fn node_check(name: &str, value: &Value) -> Check {
    let status = value.get("status").unwrap_or(value);
    let good = match status {
        Value::String(status) => matches!(status.as_str(), "ok" | "ready" | "up"),
        Value::Bool(good) => *good,
        // A plain fact, such as a version or a count.
        Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => true,
    };
    let detail = detail(value);
    let name = format!("ready: {name}");
    match good {
        true => Check::ok(&name, &detail),
        false => {
            let hint = value.get("hint").and_then(Value::as_str);
            Check::failed(&name, &detail, hint.unwrap_or("see the node's own log"))
        }
    }
}

fn detail(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(name, _)| *name != "hint");
            let fields: Vec<_> = fields
                .filter_map(|(name, value)| fact(name, value))
                .collect();
            match fields.is_empty() {
                true => value.get("status").map(detail).unwrap_or_default(),
                false => fields.join(", "),
            }
        }
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => value.to_string(),
    }
}

/// A field of a check in words; a status that says what the result says is none.
fn fact(name: &str, value: &Value) -> Option<String> {
    let words = name.replace('_', " ");
    Some(match (name, value) {
        ("status", _) | (_, Value::Null) => return None,
        // None of a kind is nothing to tell.
        (_, Value::Number(count)) => match count.as_u64() {
            Some(0) => return None,
            Some(1) => format!("1 {}", words.trim_end_matches('s')),
            _ => format!("{count} {words}"),
        },
        ("reason" | "detail" | "message", value) => detail(value),
        (_, Value::Bool(true)) => words,
        (_, Value::Bool(false)) => format!("not {words}"),
        _ => format!("{words} {}", detail(value)),
    })
}

async fn key(session: &Session) -> Check {
    if !session.client.has_key() {
        return Check::failed(
            "key",
            "no API key found",
            "log in with `headwater login`, give one with --api-key or HEADWATER_API_KEY, or give the node's data folder with --data-dir",
        );
    }
    match session.client.get(&["users", "me"]).await {
        Ok(user) => Check::ok("key", &format!("user {}", detail(&user["id"]))),
        Err(error) => match error.downcast_ref::<ClientError>() {
            Some(error) => unanswered("key", error),
            None => Check::failed("key", &format!("{error:#}"), "check --url"),
        },
    }
}

/// With a given key, the node may be elsewhere and its folder of no concern.
fn data_dir(session: &Session) -> Check {
    let path = session.data_dir.display().to_string();
    match std::fs::read_dir(&session.data_dir) {
        Ok(_) => room(&session.data_dir, &path),
        Err(_) if session.key_given => Check {
            verdict: Verdict::Skipped,
            ..Check::ok("data folder", &format!("{path} is not on this machine"))
        },
        Err(error) => Check::failed(
            "data folder",
            &format!("{path}: {error}"),
            "give the node's data folder with --data-dir or HEADWATER_DATA_DIR, or a key with --api-key",
        ),
    }
}

/// The bytes that may still be written there.
fn room(folder: &std::path::Path, path: &str) -> Check {
    let Ok(disk) = rustix::fs::statvfs(folder) else {
        return Check::ok("data folder", path);
    };
    let free_bytes = disk.f_bavail.saturating_mul(disk.f_frsize);
    let detail = format!("{path}, {} MiB free", free_bytes >> 20);
    match free_bytes < LITTLE_ROOM_BYTES {
        true => Check::failed(
            "data folder",
            &detail,
            "free space on this disk: the node accepts nothing when it is full",
        ),
        false => Check::ok("data folder", &detail),
    }
}

fn unanswered(name: &str, error: &ClientError) -> Check {
    Check::failed(name, &error.to_string(), error.hint().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn any_shape_of_check_is_understood() {
        let table = [
            (json!("ok"), Verdict::Ok, "ok"),
            (
                json!("database is locked"),
                Verdict::Failed,
                "database is locked",
            ),
            (json!(false), Verdict::Failed, "false"),
            (
                json!({"status": "ok", "reason": null, "warm_workers": 1, "routes": 0}),
                Verdict::Ok,
                "1 warm worker",
            ),
            (json!({"runs": 5}), Verdict::Ok, "5 runs"),
            (json!({"led": false}), Verdict::Ok, "not led"),
            (
                json!({"status": "ok", "version": "2.9.6"}),
                Verdict::Ok,
                "version 2.9.6",
            ),
            (
                json!({"status": "failed", "hint": "install Deno"}),
                Verdict::Failed,
                "failed",
            ),
        ];
        for (value, verdict, detail) in table {
            let check = node_check("store", &value);
            assert_eq!((check.verdict, check.detail.as_str()), (verdict, detail));
        }
        let hinted = node_check("deno", &json!({"status": "failed", "hint": "install Deno"}));
        assert_eq!(hinted.next, "install Deno");
    }
}
