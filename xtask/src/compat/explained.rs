//! Components that do not work here, and why: by package and path, without a version.

use super::record::Record;

/// This file, for messages.
pub(super) const FILE: &str = "xtask/src/compat/explained.rs";

/// Name and reason.
const EXPLAINED: &[(&str, &str)] = &[(
    "@pipedream/aws/actions/s3-download-file-to-tmp/s3-download-file-to-tmp.mjs",
    "imports `aws-crt`, native code for signatures that several regions share; components run JavaScript only",
)];

/// Why this component is expected to fail.
pub(super) fn reason(record: &Record) -> Option<&'static str> {
    let name = record.name();
    let found = EXPLAINED.iter().find(|(known, _)| *known == name);
    found.map(|(_, reason)| *reason)
}

/// Names in the list that work now, or, when everything was examined, that are not there any more.
pub(super) fn outdated(records: &[Record], whole: bool) -> Vec<&'static str> {
    let is_outdated = |name: &&str| {
        let record = records.iter().find(|record| record.name() == **name);
        record.map_or(whole, |record| record.failure.is_none())
    };
    let names = EXPLAINED.iter().map(|(name, _)| *name);
    names.filter(|name| is_outdated(name)).collect()
}
