//! The error of a database that a node cannot use at its start: one sentence with the cause, and what to do.

use headwater_store::StoreError;

/// The error in the operator's words. It has no part of the URL, in which there may be a password.
pub(super) fn told(error: &StoreError) -> anyhow::Error {
    match error {
        StoreError::Unavailable { source, .. } => {
            let cause = cause(&**source);
            anyhow::anyhow!(
                "--database-url: the database cannot be used ({cause}); {}",
                next(&cause)
            )
        }
        StoreError::Conflict(_) | StoreError::Corrupt(_) | StoreError::Unsupported(_) => {
            anyhow::anyhow!("--database-url: {error}")
        }
    }
}

/// The innermost error that says more than that there is one, without the number of the operating system.
fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    let texts = std::iter::successors(Some(error), |error| error.source());
    // An error of the database names its code behind its text; what is below it is `db error`.
    let said = texts.map(ToString::to_string);
    let said = said.take_while(|text| text != "db error");
    let text = said.last().unwrap_or_default();
    text.split(" (os error")
        .next()
        .unwrap_or_default()
        .to_owned()
}

fn next(cause: &str) -> &'static str {
    const STEPS: [(&str, &str); 6] = [
        ("(28P01)", "correct the password in the URL"),
        (
            "(28000)",
            "let this user log in from here (pg_hba.conf), or name another",
        ),
        (
            "(3D000)",
            "create the database (`createdb`), or correct its name in the URL",
        ),
        ("(42501)", "let its user create tables"),
        (
            "certificate",
            "see `sslmode` and `sslrootcert` in the guide's page about PostgreSQL",
        ),
        ("lookup", "correct the host in the URL"),
    ];
    let known = STEPS.iter().find(|(sign, _)| cause.contains(sign));
    known.map_or(
        "check that PostgreSQL 15 or later runs there, and that host and port of the URL are right",
        |(_, next)| *next,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_is_told_once_with_what_to_do() {
        let refused = std::io::Error::from_raw_os_error(111);
        let told = told(&StoreError::unavailable(
            "connecting to the database",
            refused,
        ));
        let told = format!("{told:#}");
        assert!(
            told.starts_with(
                "--database-url: the database cannot be used (Connection refused); check that"
            ),
            "{told}"
        );
        assert_eq!(
            next("no such user (28P01)"),
            "correct the password in the URL"
        );
    }
}
