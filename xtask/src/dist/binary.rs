//! The binary that packages carry: stripped, with the facts about it that packages state.

use std::{
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};

use crate::command::{find_program, output, run};

/// Marks a version of the C library that a symbol needs.
const GLIBC: &[u8] = b"GLIBC_2.";
/// Where an ELF file names its machine.
const MACHINE: std::ops::Range<usize> = 18..20;

/// A processor, by the names that the formats have for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Architecture {
    pub(super) debian: &'static str,
    pub(super) python: &'static str,
    pub(super) npm: &'static str,
}

/// A stripped `headwater`.
#[derive(Debug)]
pub(super) struct Binary {
    path: PathBuf,
    pub(super) version: String,
    pub(super) architecture: Architecture,
    /// The oldest C library that it starts with: `N` of `2.N`.
    pub(super) glibc_minor: u32,
}

impl Binary {
    /// Strips a copy of `built`, and asks it for its version.
    pub(super) fn stripped(built: &Path, path: &Path) -> Result<Self> {
        if find_program("strip").is_none() {
            bail!("strip is missing; install it with `apt-get install binutils`");
        }
        run(Command::new("strip").arg("-o").arg(path).arg(built))?;
        let bytes = std::fs::read(path).context("reading the stripped binary")?;
        let printed = output(Command::new(path).arg("--version"))?;
        let version = printed.trim().strip_prefix("headwater ");
        Ok(Self {
            path: path.to_owned(),
            version: version
                .with_context(|| format!("`--version` printed `{}`", printed.trim()))?
                .to_owned(),
            architecture: architecture(&bytes)?,
            glibc_minor: glibc_minor(&bytes).context("the binary names no C library")?,
        })
    }

    /// Puts it where a package has it.
    pub(super) fn copy_to(&self, path: &Path) -> Result<()> {
        let folder = path.parent().context("a file is in a folder")?;
        std::fs::create_dir_all(folder)?;
        std::fs::copy(&self.path, path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(std::fs::set_permissions(
            path,
            std::fs::Permissions::from_mode(0o755),
        )?)
    }

    /// Runs one of its commands to the end, and returns what that printed.
    pub(super) fn print(&self, arguments: &[&str]) -> Result<String> {
        output(Command::new(&self.path).args(arguments))
    }

    /// The same of a command whose words are for whoever calls it by hand: they are shown if it fails.
    pub(super) fn run_silently(&self, arguments: &[&str]) -> Result<()> {
        let output = Command::new(&self.path).args(arguments).output();
        let output = output.with_context(|| format!("cannot start {}", self.path.display()))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!(
                "`headwater {}` failed: {}",
                arguments.join(" "),
                said.trim()
            );
        }
        Ok(())
    }
}

fn architecture(elf: &[u8]) -> Result<Architecture> {
    if !elf.starts_with(b"\x7fELF") {
        bail!("it is not an ELF binary; packages are made for Linux");
    }
    match elf.get(MACHINE) {
        Some([0x3e, 0]) => Ok(Architecture {
            debian: "amd64",
            python: "x86_64",
            npm: "x64",
        }),
        Some([0xb7, 0]) => Ok(Architecture {
            debian: "arm64",
            python: "aarch64",
            npm: "arm64",
        }),
        other => bail!("packages are made for x86_64 and aarch64, not for ELF machine {other:?}"),
    }
}

/// The newest version that any symbol needs.
fn glibc_minor(elf: &[u8]) -> Option<u32> {
    let windows = elf.windows(GLIBC.len()).enumerate();
    let places = windows.filter(|(_, window)| *window == GLIBC);
    let minors = places.filter_map(|(place, _)| {
        let digits = elf[place + GLIBC.len()..].iter();
        let digits: Vec<u8> = digits
            .copied()
            .take_while(u8::is_ascii_digit)
            .take(3)
            .collect();
        String::from_utf8(digits).ok()?.parse().ok()
    });
    minors.max()
}

#[cfg(test)]
mod tests {
    use super::{architecture, glibc_minor};

    #[test]
    fn the_newest_c_library_that_a_symbol_needs_counts() {
        let symbols = b"\0GLIBC_2.4\0GLIBC_2.34\0GLIBC_2.2.5\0GLIBC_PRIVATE\0";
        assert_eq!(glibc_minor(symbols), Some(34));
        assert_eq!(glibc_minor(b"static"), None);
    }

    #[test]
    fn other_machines_are_refused() {
        let mut elf = b"\x7fELF".to_vec();
        elf.resize(64, 0);
        assert!(architecture(&elf).is_err());
        elf[18] = 0xb7;
        assert_eq!(architecture(&elf).unwrap().debian, "arm64");
        assert!(architecture(b"MZ").is_err());
    }
}
