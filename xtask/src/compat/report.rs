//! The report: Markdown for people, JSON for whatever compares reports.

use std::{collections::BTreeMap, fmt::Write as _};

use serde_json::{Value, json};

use super::{
    explained,
    record::{Memory, Record, Weight},
};

/// Everything, in Markdown.
pub(super) fn markdown(records: &[Record], weights: &[Weight]) -> String {
    let mut text = format!("# Compatibility\n\n{}\n\n", totals(records));
    costs(&mut text, records);
    failures(&mut text, records);
    packages(&mut text, records);
    weighed(&mut text, weights);
    components(&mut text, records);
    text
}

/// Everything, in JSON.
pub(super) fn json(records: &[Record], weights: &[Weight]) -> String {
    let components: Vec<Value> = records.iter().map(Record::to_json).collect();
    let weights: Vec<Value> = weights.iter().map(Weight::to_json).collect();
    let report =
        json!({ "totals": totals(records), "components": components, "packages": weights });
    format!("{report:#}\n")
}

/// One sentence.
pub(super) fn totals(records: &[Record]) -> String {
    let described = records.iter().filter(|record| record.failure.is_none());
    let explained = records
        .iter()
        .filter(|record| record.failure.is_some() && explained::reason(record).is_some());
    format!(
        "{} of {} components of {} packages are described and load; {} of the others are explained.",
        described.count(),
        records.len(),
        by_package(records).len(),
        explained.count()
    )
}

fn costs(text: &mut String, records: &[Record]) {
    let _ = writeln!(text, "| | median | slowest | |\n|---|--:|--:|---|");
    let saves = records.iter().map(|record| (record.save_ms, record));
    let loads = records
        .iter()
        .filter_map(|record| Some((record.load_ms?, record)));
    for (what, times) in [
        ("save: resolve, bundle, describe", saves.collect::<Vec<_>>()),
        ("load: first call in a fresh worker", loads.collect()),
    ] {
        let Some((slowest, record)) = times.iter().max_by_key(|(ms, _)| *ms) else {
            continue;
        };
        let median = median(times.iter().map(|(ms, _)| *ms));
        let _ = writeln!(
            text,
            "| {what} | {median} ms | {slowest} ms | {} |",
            record.name()
        );
    }
    let _ = writeln!(text);
}

fn failures(text: &mut String, records: &[Record]) {
    let failed: Vec<_> = records
        .iter()
        .filter_map(|record| Some((record, record.failure.as_deref()?)))
        .collect();
    if failed.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "## Failing\n\n| component | what it says | why |\n|---|---|---|"
    );
    for (record, failure) in failed {
        let why = explained::reason(record).unwrap_or("**not explained**");
        let _ = writeln!(text, "| {} | {} | {why} |", record.url, cell(failure));
    }
    let _ = writeln!(text);
}

fn packages(text: &mut String, records: &[Record]) {
    let head = "| package | sources | actions | failing | save, median | load, median | slowest |";
    let _ = writeln!(text, "## Packages\n\n{head}\n|---|--:|--:|--:|--:|--:|--:|");
    for (package, records) in by_package(records) {
        let count =
            |is: &dyn Fn(&Record) -> bool| records.iter().filter(|record| is(record)).count();
        let loads: Vec<u64> = records.iter().filter_map(|record| record.load_ms).collect();
        let _ = writeln!(
            text,
            "| {package} | {} | {} | {} | {} ms | {} ms | {} ms |",
            count(&|record| record.kind == "source"),
            count(&|record| record.kind == "action"),
            count(&|record| record.failure.is_some()),
            median(records.iter().map(|record| record.save_ms)),
            median(loads.iter().copied()),
            loads.iter().max().unwrap_or(&0)
        );
    }
    let _ = writeln!(text);
}

fn weighed(text: &mut String, weights: &[Weight]) {
    if weights.is_empty() {
        return;
    }
    let head =
        "| package | imported | first run | next run | PSS | RSS | PSS without a component |";
    let _ = writeln!(
        text,
        "## Memory of a warm worker\n\nA source that imports the package's slowest component.\n\n\
         {head}\n|---|---|--:|--:|--:|--:|--:|"
    );
    for weight in weights {
        let Memory {
            proportional_kib,
            resident_kib,
        } = weight.memory;
        let _ = writeln!(
            text,
            "| {} | {} | {} ms | {} ms | {} MiB | {} MiB | {} MiB |",
            weight.package,
            weight.key,
            weight.first_run_ms,
            weight.next_run_ms,
            proportional_kib >> 10,
            resident_kib >> 10,
            weight.empty.proportional_kib >> 10
        );
    }
    let _ = writeln!(text);
}

fn components(text: &mut String, records: &[Record]) {
    let head = "| package | key | version | kind | described | save | load | props | hooks |";
    let _ = writeln!(
        text,
        "## Components\n\n{head}\n|---|---|---|---|---|--:|--:|---|---|"
    );
    for record in records {
        let key = match &*record.key {
            "" => record.name(),
            key => key.to_owned(),
        };
        let props: Vec<String> = record
            .props
            .iter()
            .map(|(kind, count)| format!("{count} {kind}"))
            .collect();
        let load = record
            .load_ms
            .map_or_else(|| "–".to_owned(), |ms| format!("{ms} ms"));
        let _ = writeln!(
            text,
            "| {} | {key} | {} | {} | {} | {} ms | {load} | {} | {} |",
            record.package(),
            record.version,
            record.kind,
            record
                .failure
                .as_deref()
                .map_or_else(|| "yes".to_owned(), cell),
            record.save_ms,
            props.join(", "),
            record.hooks.join(", ")
        );
    }
}

fn by_package(records: &[Record]) -> BTreeMap<&str, Vec<&Record>> {
    let mut packages: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
    for record in records {
        packages.entry(record.package()).or_default().push(record);
    }
    packages
}

/// The middle one, or the lower of the two; 0 of none.
fn median(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    let middle = values.len().saturating_sub(1) / 2;
    values.get(middle).copied().unwrap_or_default()
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::{Record, markdown, median};

    #[test]
    fn the_median_is_one_of_the_values() {
        assert_eq!(median([9, 1, 3].into_iter()), 3);
        assert_eq!(median([4, 2].into_iter()), 2);
        assert_eq!(median([].into_iter()), 0);
    }

    #[test]
    fn a_failure_is_named_with_what_it_says() {
        let works = Record {
            url: "npm:@a/b@1.0.0/actions/a.mjs".into(),
            key: "b-a".into(),
            load_ms: Some(7),
            ..Record::default()
        };
        let fails = Record {
            url: "npm:@a/b@1.0.0/actions/c.mjs".into(),
            failure: Some("x | y".into()),
            ..Record::default()
        };
        let text = markdown(&[works, fails], &[]);
        assert!(text.contains("1 of 2 components of 1 packages"), "{text}");
        let row = "| npm:@a/b@1.0.0/actions/c.mjs | x \\| y | **not explained** |";
        assert!(text.contains(row), "{text}");
        assert!(text.contains("7 ms | 7 ms | @a/b/actions/a.mjs"), "{text}");
    }
}
