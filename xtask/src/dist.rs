//! `cargo xtask dist`: packages that carry the binary, for Debian, Python and npm. Builds the binary unless one is
//! given; each format's own tool writes the file. Publishes nothing.

mod binary;
mod deb;
mod npm;
mod staging;
mod wheel;

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use self::{binary::Binary, staging::fresh};
use crate::{
    command::{cargo, run as run_command},
    provision::target_dir,
};

const USAGE: &str = "\
usage: cargo xtask dist [OPTIONS] [deb|wheel|npm …]

  deb, wheel, npm  which packages; all three without any
  --binary FILE    the headwater to pack, instead of building a release
  --folder DIR     where the packages go; target/dist";

/// A kind of package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Deb,
    Wheel,
    Npm,
}

#[derive(Debug)]
struct Options {
    formats: Vec<Format>,
    binary: Option<PathBuf>,
    folder: PathBuf,
}

impl Options {
    fn parse(words: &[&str]) -> Result<Self> {
        let mut options = Self {
            formats: Vec::new(),
            binary: None,
            folder: target_dir().join("dist"),
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || {
                let value = words.next().copied();
                value.with_context(|| format!("{word} needs a value\n{USAGE}"))
            };
            match *word {
                "--binary" => options.binary = Some(value()?.into()),
                "--folder" => options.folder = value()?.into(),
                "deb" => options.formats.push(Format::Deb),
                "wheel" => options.formats.push(Format::Wheel),
                "npm" => options.formats.push(Format::Npm),
                unknown => bail!("{unknown} is unknown\n{USAGE}"),
            }
        }
        if options.formats.is_empty() {
            options.formats = vec![Format::Deb, Format::Wheel, Format::Npm];
        }
        Ok(options)
    }
}

/// Packs the binary, and prints a line about each package.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    let options = Options::parse(words)?;
    let built = match options.binary {
        Some(path) => path,
        None => build()?,
    };
    // Tools of the formats are started in folders of their own.
    let folder = std::path::absolute(&options.folder)?;
    let staging = folder.join("staging");
    fresh(&staging)?;
    let binary = Binary::stripped(&built, &staging.join("headwater"))?;
    for format in options.formats {
        let package = match format {
            Format::Deb => deb::pack(&binary, &staging.join("deb"), &folder)?,
            Format::Wheel => wheel::pack(&binary, &staging.join("wheel"), &folder)?,
            Format::Npm => npm::pack(&binary, &staging.join("npm"), &folder)?,
        };
        let bytes = std::fs::metadata(&package)?.len();
        println!("{}  {} MiB", package.display(), bytes.div_ceil(1 << 20));
    }
    std::fs::remove_dir_all(&staging).context("cannot remove the staging folder")
}

fn build() -> Result<PathBuf> {
    run_command(cargo().args(["build", "--release", "--package", "headwater"]))?;
    Ok(target_dir().join("release/headwater"))
}

#[cfg(test)]
mod tests {
    use super::{Format, Options};

    #[test]
    fn all_packages_are_made_unless_some_are_named() {
        let all = Options::parse(&[]).unwrap();
        assert_eq!(all.formats, [Format::Deb, Format::Wheel, Format::Npm]);
        let one = Options::parse(&["--binary", "headwater", "npm"]).unwrap();
        assert_eq!(one.formats, [Format::Npm]);
        for wrong in [&["rpm"][..], &["--folder"]] {
            assert!(Options::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
