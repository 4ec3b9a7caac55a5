//! The step that a replay begins with, where the node does not know it by that name: the paths that it perhaps meant.

use anyhow::Error;
use serde_json::Value;

use super::super::step;
use crate::arguments::ReplayRunArguments;
use crate::client::ClientError;
use crate::session::Session;
use crate::source::text;
use crate::usage_error::UsageError;

/// Segments of paths in which steps that handle failures are.
const HANDLER: &str = "on_error";
const SHOWN_MAX: usize = 20;

/// The error with the run's own paths, if it is about the step to begin with.
pub(super) async fn explained(
    session: &Session,
    (id, arguments): (&str, &ReplayRunArguments),
    error: Error,
) -> Error {
    let refused = error.downcast_ref::<ClientError>();
    let is_refused =
        refused.is_some_and(|error| matches!(error.status(), Some(400 | 404 | 409 | 422)));
    let Some(given) = arguments.from.as_deref().filter(|_| is_refused) else {
        return error;
    };
    match session.client.get(&["runs", id]).await {
        Ok(run) => match complaint(&run, given) {
            Some(complaint) => UsageError(complaint).into(),
            None => error,
        },
        Err(_) => error,
    }
}

/// The mistake in the name of a step; `None` if the run has a step of that path, at which a replay can begin.
fn complaint(run: &Value, given: &str) -> Option<String> {
    let paths: Vec<&str> = step::of(run)
        .iter()
        .map(|step| text(step, "path"))
        .collect();
    let is_handler = |path: &str| path.split('.').any(|part| part == HANDLER);
    let is_meant = |path: &&&str| **path == given || without_indices(path) == given;
    let by_name = paths.iter().filter(|path| {
        let name = without_indices(path);
        name.rsplit('.').next() == Some(given)
    });
    let mut meant: Vec<&str> = by_name.copied().collect();
    if let Some(path) = paths.iter().find(is_meant) {
        if !is_handler(path) {
            return None;
        }
        meant = vec![path];
    }
    if let Some(path) = meant.iter().find(|path| is_handler(path)) {
        return Some(format!(
            "--from: `{path}` handles a failure, and no replay can begin there; begin with the step that failed, or \
             leave out --from"
        ));
    }
    let others: Vec<&str> = match meant.is_empty() {
        true => paths.into_iter().filter(|path| !is_handler(path)).collect(),
        false => meant,
    };
    let more = if others.len() > SHOWN_MAX {
        ", …"
    } else {
        ""
    };
    let shown: Vec<_> = others
        .iter()
        .take(SHOWN_MAX)
        .map(|path| format!("`{path}`"))
        .collect();
    Some(format!(
        "--from: the run has no step with the path `{given}`; it has {}{more}",
        shown.join(", ")
    ))
}

fn without_indices(path: &str) -> String {
    let mut parts = path.split('[');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |path, part| {
        path + part.split_once(']').map_or(part, |(_, rest)| rest)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_name_that_is_no_path_is_told_with_the_paths() {
        let paths = ["a", "lp", "lp[0].dbl", "lp[1].dbl", "on_error.alarm"];
        let steps = paths.map(|path| json!({ "path": path }));
        let run = json!({ "steps": steps });
        let complaint = |given: &str| complaint(&run, given);
        assert_eq!(complaint("a"), None);
        assert_eq!(complaint("lp.dbl"), None);
        assert_eq!(complaint("lp[1].dbl"), None);
        assert_eq!(
            complaint("dbl").unwrap(),
            "--from: the run has no step with the path `dbl`; it has `lp[0].dbl`, `lp[1].dbl`"
        );
        let typo = complaint("duble").unwrap();
        assert!(
            typo.ends_with("it has `a`, `lp`, `lp[0].dbl`, `lp[1].dbl`"),
            "{typo}"
        );
        for handler in ["alarm", "on_error.alarm"] {
            let told = complaint(handler).unwrap();
            assert!(
                told.contains("`on_error.alarm` handles a failure"),
                "{told}"
            );
        }
    }
}
