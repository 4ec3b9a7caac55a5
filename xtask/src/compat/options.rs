//! The words after `cargo xtask compat`.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use crate::command::root;

/// Where a run keeps its node's data, what it downloads and its report.
const FOLDER: &str = "target/compat";
/// As many as a node builds at a time.
const JOBS: usize = 2;

pub(super) const USAGE: &str = "\
usage: cargo xtask compat [OPTIONS] [PACKAGE…]

  PACKAGE…       packages of npm; all that are known without any
  --limit N      at most N components of each package
  --jobs N       components at a time; 1 for figures worth comparing
  --binary FILE  the headwater to use, instead of building a release
  --folder DIR   where the node's data and the report are; target/compat";

/// The options of one run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Options {
    /// Names with or without a version; empty for all that are known.
    pub(super) packages: Vec<String>,
    pub(super) limit: Option<usize>,
    pub(super) jobs: usize,
    pub(super) binary: Option<PathBuf>,
    pub(super) folder: PathBuf,
}

impl Options {
    pub(super) fn parse(words: &[&str]) -> Result<Self> {
        let mut options = Self {
            packages: Vec::new(),
            limit: None,
            jobs: JOBS,
            binary: None,
            folder: root().join(FOLDER),
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || {
                let value = words.next().copied();
                value.with_context(|| format!("{word} needs a value\n{USAGE}"))
            };
            match *word {
                "--limit" => options.limit = Some(count(word, value()?)?),
                "--jobs" => options.jobs = count(word, value()?)?,
                "--binary" => options.binary = Some(value()?.into()),
                "--folder" => options.folder = value()?.into(),
                unknown if unknown.starts_with('-') => bail!("{unknown} is unknown\n{USAGE}"),
                package => {
                    let name = package.strip_prefix("npm:").unwrap_or(package);
                    options.packages.push(name.to_owned());
                }
            }
        }
        Ok(options)
    }
}

fn count(option: &str, value: &str) -> Result<usize> {
    match value.parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => bail!("{option} {value}: not a number above 0\n{USAGE}"),
    }
}

#[cfg(test)]
mod tests {
    use super::Options;

    #[test]
    fn options_and_packages_come_in_any_order() {
        let words = ["npm:@a/b", "--limit", "3", "@c/d@1.0.0", "--jobs", "1"];
        let options = Options::parse(&words).unwrap();
        assert_eq!(options.packages, ["@a/b", "@c/d@1.0.0"]);
        assert_eq!((options.limit, options.jobs), (Some(3), 1));
        for wrong in [&["--limit"][..], &["--jobs", "0"], &["--fast"]] {
            assert!(Options::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
