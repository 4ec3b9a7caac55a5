//! The work that a request waits for, in words of people.

use reqwest::Method;

/// The words for a request to this path; those of a request that is not known to take long say whom it waits for.
pub(super) fn of(method: &Method, path: &[&str]) -> &'static str {
    if *method == Method::GET {
        return match path {
            ["accounts", "connect", _] => "waiting for the account to be connected",
            ["packages", ..] => "downloading the package",
            _ => WAITING,
        };
    }
    match path {
        ["components"] | ["components", "registry"] => "saving and building the component",
        ["registry", ..] => "publishing the components",
        ["sources"] if *method == Method::POST => "deploying the source",
        ["workflows", _, "roll_back"] => "deploying the workflow",
        ["sources", _, "roll_back"] => "deploying the source",
        ["sources", _] if *method == Method::DELETE => "deleting the source",
        ["sources", _] => "updating the source",
        ["sources", _, "run"] => "running the source",
        ["components", _, "run"] => "running the action",
        ["components", _, "try"] => "running the code",
        ["components", _, _] => "asking the component for its options",
        ["workflows"] => "building and deploying the workflow",
        ["workflows", _] if *method == Method::DELETE => "deleting the workflow",
        ["workflows", _, "run"] | ["runs", _, "replay"] => "starting the run",
        ["webhooks", _, "test"] => "sending the test event",
        ["deliveries", "retry" | "discard"] => "changing the deliveries",
        ["accounts", _, "check"] => "testing the account with the app",
        ["events", "replay"] => "replaying the events",
        ["secret_key", ..] => "encrypting the secrets anew",
        _ => WAITING,
    }
}

const WAITING: &str = "waiting for the node";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_takes_long_is_told_by_its_name() {
        for (method, path, told) in [
            (Method::POST, &["sources"][..], "deploying the source"),
            (Method::PUT, &["sources", "dc_1"], "updating the source"),
            (Method::DELETE, &["sources", "dc_1"], "deleting the source"),
            (
                Method::POST,
                &["components"],
                "saving and building the component",
            ),
            (Method::GET, &["components"], WAITING),
            (Method::POST, &["keys"], WAITING),
        ] {
            assert_eq!(of(&method, path), told, "{method} {path:?}");
        }
    }
}
