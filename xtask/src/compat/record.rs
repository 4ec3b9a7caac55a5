//! The findings about one component, in the words of the report.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// One component, examined.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Record {
    /// The address that was saved: `npm:PACKAGE@VERSION/path`.
    pub(super) url: String,
    /// Why it cannot be described or loaded.
    pub(super) failure: Option<String>,
    /// The id under which it is saved; empty, like everything below, when it could not be.
    pub(super) id: String,
    pub(super) key: String,
    pub(super) version: String,
    /// Source or action.
    pub(super) kind: String,
    /// How many props of which type.
    pub(super) props: BTreeMap<String, u64>,
    pub(super) hooks: Vec<String>,
    /// Resolving, bundling and describing.
    pub(super) save_ms: u64,
    /// The first call of it in a fresh worker.
    pub(super) load_ms: Option<u64>,
}

impl Record {
    /// Name and version of its package.
    pub(super) fn package(&self) -> &str {
        let module = self.url.trim_start_matches("npm:");
        let end = module.match_indices('/').nth(1).map(|(at, _)| at);
        &module[..end.unwrap_or(module.len())]
    }

    /// Its package's name and its path, which outlive versions.
    pub(super) fn name(&self) -> String {
        let package = self.package();
        let path = self.url.trim_start_matches("npm:").strip_prefix(package);
        let name = package.rsplit_once('@').map_or(package, |(name, _)| name);
        format!("{name}{}", path.unwrap_or_default())
    }

    /// For people who watch.
    pub(super) fn line(&self) -> String {
        match &self.failure {
            Some(failure) => format!("failed {}: {failure}", self.url),
            None => {
                let load = self
                    .load_ms
                    .map_or_else(|| "-".to_owned(), |ms| ms.to_string());
                format!(
                    "{} {}: {} ms, {load} ms",
                    self.key, self.version, self.save_ms
                )
            }
        }
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "url": self.url, "failure": self.failure, "id": self.id, "key": self.key, "version": self.version,
            "kind": self.kind, "props": self.props, "hooks": self.hooks,
            "save_ms": self.save_ms, "load_ms": self.load_ms,
        })
    }

    pub(super) fn from_json(value: &Value) -> Self {
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        let props = value["props"].as_object().into_iter().flatten();
        let hooks = value["hooks"].as_array().into_iter().flatten();
        Self {
            url: text("url"),
            failure: value["failure"].as_str().map(str::to_owned),
            id: text("id"),
            key: text("key"),
            version: text("version"),
            kind: text("kind"),
            props: props
                .map(|(kind, count)| (kind.clone(), count.as_u64().unwrap_or_default()))
                .collect(),
            hooks: hooks
                .filter_map(|hook| hook.as_str().map(str::to_owned))
                .collect(),
            save_ms: value["save_ms"].as_u64().unwrap_or_default(),
            load_ms: value["load_ms"].as_u64(),
        }
    }
}

/// The cost of a source that imports a package's slowest component.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Weight {
    pub(super) package: String,
    pub(super) key: String,
    /// From a warm worker without a component to the end of the first run.
    pub(super) first_run_ms: u64,
    /// Of a further run in the same worker.
    pub(super) next_run_ms: u64,
    /// Of its worker, after these.
    pub(super) memory: Memory,
    /// Of a worker without a component.
    pub(super) empty: Memory,
}

/// Of one process, in KiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Memory {
    /// Resident, pages shared with others counted in part.
    pub(super) proportional_kib: u64,
    /// Resident.
    pub(super) resident_kib: u64,
}

impl Weight {
    pub(super) fn to_json(&self) -> Value {
        let memory = |memory: Memory| json!({"pss_kib": memory.proportional_kib, "rss_kib": memory.resident_kib});
        json!({
            "package": self.package, "key": self.key, "first_run_ms": self.first_run_ms,
            "next_run_ms": self.next_run_ms, "worker": memory(self.memory), "empty_worker": memory(self.empty),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Record;

    #[test]
    fn a_record_is_the_same_when_it_is_read_again() {
        let record = Record {
            url: "npm:@pipedream/slack@0.10.3/actions/a/a.mjs".into(),
            id: "sc_1".into(),
            key: "slack-a".into(),
            kind: "action".into(),
            props: [("string".to_owned(), 2)].into(),
            hooks: vec!["deploy".into()],
            save_ms: 3,
            load_ms: Some(4),
            ..Record::default()
        };
        assert_eq!(Record::from_json(&record.to_json()), record);
        assert_eq!(record.package(), "@pipedream/slack@0.10.3");
        assert_eq!(record.name(), "@pipedream/slack/actions/a/a.mjs");
    }
}
