//! Environment variables of the node that are nearly, but not quite, those that it reads.

use std::collections::BTreeSet;

use super::{environment::TEST_CLOCK, help::VARIABLES, near_name::nearest};
use crate::arguments;

/// The beginning of all names.
const PREFIX: &str = "HEADWATER_";

/// Warns of those that are set.
pub(super) fn warn_of_misspelt() {
    let known = known();
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in names {
        if let Some(meant) = meant(&name, &known) {
            tracing::warn!(
                "the environment variable {name} is not known, and ignored; is {meant} meant?"
            );
        }
    }
}

/// The names that are read.
fn known() -> BTreeSet<String> {
    let mut known = BTreeSet::from(VARIABLES.map(|(name, _)| name.to_owned()));
    known.insert(TEST_CLOCK.to_owned());
    let mut commands = vec![arguments::command()];
    while let Some(command) = commands.pop() {
        let names = command.get_arguments().filter_map(|one| one.get_env());
        known.extend(names.filter_map(|name| name.to_str().map(str::to_owned)));
        commands.extend(command.get_subcommands().cloned());
    }
    known
}

/// The known name that is nearest to an unknown one, if they differ by a slip of the keys. Others may have any name: definitions
/// of apps name variables for secrets, and Kubernetes sets some for a service of that name.
fn meant<'a>(name: &str, known: &'a BTreeSet<String>) -> Option<&'a str> {
    let own = name.strip_prefix(PREFIX)?;
    if known.contains(name) {
        return None;
    }
    nearest(name, own, known.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_keys_is_told_with_the_name_that_is_meant() {
        let known = known();
        for (name, expected) in [
            ("HEADWATER_LISEN", Some("HEADWATER_LISTEN")),
            ("HEADWATER_PUBLIC_ULR", Some("HEADWATER_PUBLIC_URL")),
            ("HEADWATER_API_KEYS", Some("HEADWATER_API_KEY")),
            ("HEADWATER_SECRETKEY", Some("HEADWATER_SECRET_KEY")),
            ("HEADWATER_RETAIND_EVNTS", Some("HEADWATER_RETAINED_EVENTS")),
            ("HEADWATER_DATADIR", Some("HEADWATER_DATA_DIR")),
            ("HEADWATER_LOG", None),
            ("HEADWATER_PORT", None),
            ("HEADWATER_SERVICE_HOST", None),
            ("HEADWATER_SLACK_SECRET", None),
            ("HEADWATERS_LISTEN", None),
        ] {
            assert_eq!(meant(name, &known), expected, "{name}");
        }
    }

    #[test]
    fn every_option_that_a_variable_may_set_is_known() {
        let known = known();
        for name in [
            "HEADWATER_WORKSPACE",
            "HEADWATER_IMPORT_KEY",
            "HEADWATER_S3_REGION",
        ] {
            assert!(known.contains(name), "{name}");
        }
    }
}
