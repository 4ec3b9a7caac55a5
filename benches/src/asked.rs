//! The command line: which benchmarks, of which builds, and how large.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use crate::{builds::Builds, process};

/// All benchmarks, long ones too.
const ALL: &str = "all";

/// All benchmarks in the order in which they run, and those that run only when asked for by name or with all.
pub(crate) struct Known {
    pub(crate) names: &'static [&'static str],
    pub(crate) long: &'static [&'static str],
}

/// The benchmarks to run.
pub(crate) struct Asked {
    names: Vec<&'static str>,
    pub(crate) builds: Builds,
    pub(crate) sizes: Sizes,
}

/// Bounds of the long benchmarks, for a machine or a moment that is too small for them.
pub(crate) struct Sizes {
    /// The largest fleet of sources, whatever a benchmark wants.
    pub(crate) sources: usize,
    /// The large store.
    pub(crate) store_gb: f64,
    /// Real time of the soak.
    pub(crate) soak_minutes: f64,
    /// A database of PostgreSQL whose user may create others.
    pub(crate) database_url: Option<String>,
}

impl Sizes {
    /// So many, or as many as are allowed.
    pub(crate) fn at_most(&self, sources: usize) -> usize {
        sources.min(self.sources)
    }
}

impl Default for Sizes {
    fn default() -> Self {
        Self {
            sources: usize::MAX,
            store_gb: 2.0,
            soak_minutes: 9.0,
            database_url: None,
        }
    }
}

impl Asked {
    /// Reads the words; underscores in a name count as hyphens.
    pub(crate) fn read(words: &[String], known: &Known) -> Result<Self> {
        let (mut names, mut sizes) = (Vec::new(), Sizes::default());
        let (mut ours, mut other) = (None, None);
        let mut is_all = false;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || {
                words
                    .next()
                    .with_context(|| format!("`{word}` needs a value"))
            };
            match word.as_str() {
                "--node" => ours = Some(PathBuf::from(value()?)),
                "--against" => other = Some(PathBuf::from(value()?)),
                "--sources" => sizes.sources = number(word, value()?)? as usize,
                "--store-gb" => sizes.store_gb = number(word, value()?)?,
                "--soak-minutes" => sizes.soak_minutes = number(word, value()?)?,
                "--database-url" => sizes.database_url = Some(value()?.clone()),
                ALL => is_all = true,
                name => names.push(known.name(name)?),
            }
        }
        let wanted = |name: &&str| match names.as_slice() {
            _ if is_all => true,
            [] => !known.long.contains(name),
            names => names.contains(name),
        };
        Ok(Self {
            names: known.names.iter().copied().filter(wanted).collect(),
            builds: Builds {
                ours: ours.map_or_else(process::headwater, Ok)?,
                other,
            },
            sizes,
        })
    }

    /// In the order in which they run.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.names.iter().copied()
    }
}

impl Known {
    fn name(&self, word: &str) -> Result<&'static str> {
        let name = word.replace('_', "-");
        let found = self.names.iter().find(|known| **known == name);
        found.copied().with_context(|| {
            let names = self.names.join(", ");
            format!("no benchmark is called `{word}`; there are {names}, and `{ALL}`")
        })
    }
}

fn number(option: &str, value: &str) -> Result<f64> {
    match value.parse::<f64>() {
        Ok(number) if number > 0.0 => Ok(number),
        _ => bail!("{option}: `{value}` is not a number above 0"),
    }
}
