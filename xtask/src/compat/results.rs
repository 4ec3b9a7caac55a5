//! The findings of earlier runs of the same binary, a line of JSON each, so that a run that was ended goes on where it
//! was. Only what works is remembered: a failure is examined again every time.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io::Write as _,
    path::Path,
};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::record::Record;

/// Records by URL.
pub(super) struct Results {
    file: File,
    /// Whose results these are, as its bytes tell.
    binary: String,
    records: BTreeMap<String, Record>,
}

impl Results {
    pub(super) fn open(path: &Path, binary: &Path) -> Result<Self> {
        let bytes = std::fs::read(binary);
        let bytes = bytes.with_context(|| format!("cannot read {}", binary.display()))?;
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        let binary = format!("{:016x}", hasher.finish());
        let text = std::fs::read_to_string(path).unwrap_or_default();
        // A run that was killed may have left half a line.
        let lines = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let lines = lines.filter(|value| value["binary"] == binary.as_str());
        let records = lines.map(|value| Record::from_json(&value));
        let records = records
            .filter(|record| record.failure.is_none())
            .map(|record| (record.url.clone(), record))
            .collect();
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self {
            file,
            binary,
            records,
        })
    }

    pub(super) fn holds(&self, url: &str) -> bool {
        self.records.contains_key(url)
    }

    pub(super) fn get(&self, url: &str) -> Option<&Record> {
        self.records.get(url)
    }

    pub(super) fn add(&mut self, record: Record) -> Result<()> {
        let mut line = record.to_json();
        line["binary"] = Value::from(self.binary.as_str());
        writeln!(self.file, "{line}")?;
        self.records.insert(record.url.clone(), record);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Record, Results};
    use crate::tidy::scratch::Scratch;

    #[test]
    fn what_worked_is_remembered_and_what_failed_is_not() {
        let folder = Scratch::new();
        let path = folder.path().join("results.jsonl");
        let record = |url: &str, failure: Option<&str>| Record {
            url: url.to_owned(),
            failure: failure.map(str::to_owned),
            ..Record::default()
        };
        let binary = folder.path().join("headwater");
        folder.write("headwater", "one");
        let mut results = Results::open(&path, &binary).unwrap();
        results.add(record("npm:a@1/a", None)).unwrap();
        results.add(record("npm:a@1/b", Some("no"))).unwrap();
        assert!(results.holds("npm:a@1/b"));
        folder.write(
            "results.jsonl",
            &(std::fs::read_to_string(&path).unwrap() + "{\"url\": \"npm:a@"),
        );
        let results = Results::open(&path, &binary).unwrap();
        assert!(results.holds("npm:a@1/a") && !results.holds("npm:a@1/b"));
        folder.write("headwater", "another");
        let results = Results::open(&path, &binary).unwrap();
        assert!(!results.holds("npm:a@1/a"));
    }
}
