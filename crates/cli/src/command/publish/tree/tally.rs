//! The numbers of a tree that was published, and the components that could not be.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use super::packages::shown;
use crate::source::text;
use crate::table;

#[derive(Debug, Default, Serialize)]
pub(super) struct Tally {
    published: usize,
    /// They were in the registry already, with the same code.
    unchanged: usize,
    refused: Vec<Refused>,
    pub(super) seconds: u64,
}

#[derive(Debug, Serialize)]
struct Refused {
    path: String,
    reason: String,
}

impl Tally {
    /// Counts the results of a request.
    pub(super) fn add(&mut self, results: &[Value]) {
        for result in results {
            match (text(result, "refused"), result["newly_published"] == true) {
                ("", true) => self.published += 1,
                ("", false) => self.unchanged += 1,
                (reason, _) => self.refuse(text(result, "path"), reason),
            }
        }
    }

    pub(super) fn refuse_all(&mut self, paths: &[PathBuf], reason: &str) {
        for path in paths {
            self.refuse(&shown(path), reason);
        }
    }

    pub(super) fn refuse(&mut self, path: &str, reason: &str) {
        self.refused.push(Refused {
            path: path.to_owned(),
            reason: reason.to_owned(),
        });
    }

    pub(super) fn is_whole(&self) -> bool {
        self.refused.is_empty()
    }

    /// The numbers in one line.
    pub(super) fn line(&self) -> String {
        format!(
            "{} components published, {} unchanged, {} refused",
            self.published,
            self.unchanged,
            self.refused.len()
        )
    }

    pub(super) fn plain(&self) -> String {
        let counts = table::card(vec![
            ("published".to_owned(), self.published.to_string()),
            ("unchanged".to_owned(), self.unchanged.to_string()),
            ("refused".to_owned(), self.refused.len().to_string()),
            ("seconds".to_owned(), self.seconds.to_string()),
        ]);
        let refused = self.refused.iter();
        let refused = refused.map(|refused| format!("\n- {}: {}", refused.path, refused.reason));
        let refused: String = refused.collect();
        match refused.is_empty() {
            true => counts,
            false => format!("{counts}\n\nNot in the registry:{refused}"),
        }
    }
}
