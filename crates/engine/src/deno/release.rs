//! The release of Deno that Headwater is built for, the bundler that this release runs, and the digests of
//! their binaries. A new release is an edit of this file only.

use crate::api::EngineError;

/// The pinned version. Later patches of the same minor version are accepted where the user provides Deno.
pub const VERSION: &str = "2.9.6";

/// The version of esbuild that the pinned Deno looks for.
pub const BUNDLER_VERSION: &str = "0.25.5";
/// The folder in Deno's cache where it looks for the bundler.
pub(crate) const BUNDLER_FOLDER: &str = "dl";

/// The binaries of the pinned release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Release {
    os: &'static str,
    arch: &'static str,
    /// The package in the npm registry that holds the binary as `deno`.
    pub(super) npm_package: &'static str,
    /// SHA-256 of the binary, which is the same file in both registries.
    pub(super) sha256: &'static str,
    /// The platform as the bundler's package and file are called.
    pub(super) bundler_platform: &'static str,
    /// SHA-256 of the bundler's binary.
    pub(super) bundler_sha256: &'static str,
}

const RELEASES: &[Release] = &[
    Release {
        os: "linux",
        arch: "x86_64",
        npm_package: "@deno/linux-x64-glibc",
        sha256: "bceb5b6a6239b0b010418406d8c77a508f67cf4337d94288f1c19fe71304aab0",
        bundler_platform: "linux-x64",
        bundler_sha256: "3331e0b23c99d93d9a39e436a4838de40ca1c95ac3bcbd9874ba169d8545b634",
    },
    Release {
        os: "linux",
        arch: "aarch64",
        npm_package: "@deno/linux-arm64-glibc",
        sha256: "d08d392418df53f4e6e88a08909c0e1bccbf9adcead7232df72b6ad6075ec416",
        bundler_platform: "linux-arm64",
        bundler_sha256: "d6d656d9326ce1c55c01f73604a3cffda35c63cce60016e9ed795ac91cd1e67d",
    },
    Release {
        os: "macos",
        arch: "x86_64",
        npm_package: "@deno/darwin-x64",
        sha256: "ec9fbd8e8f5f6ca5ceb0ebe4a564636f2c698bf60e3187460ded400cc0147fd5",
        bundler_platform: "darwin-x64",
        bundler_sha256: "e7b2a105f88836f1e080a76180e5cd8e59d1c22f6575d63f5a77a104954c427e",
    },
    Release {
        os: "macos",
        arch: "aarch64",
        npm_package: "@deno/darwin-arm64",
        sha256: "b3ac3bd206e48c26026cadd80c1367e96c149f9c66130952382a642b09fa8a71",
        bundler_platform: "darwin-arm64",
        bundler_sha256: "58d144357454bca840167171380785b133b1e5e682d0c51afa8c80158bfd3f8a",
    },
];

impl Release {
    pub(super) fn of_this_machine() -> Result<Self, EngineError> {
        let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
        let found = RELEASES
            .iter()
            .find(|release| release.os == os && release.arch == arch);
        found.copied().ok_or_else(|| {
            let advice = "install it and start Headwater with HEADWATER_DENO=/path/to/deno";
            EngineError::Spawn(format!(
                "no pinned Deno {VERSION} for {os} on {arch}: {advice}"
            ))
        })
    }
}

/// Tells whether `version` is the pinned one or a later patch of it.
pub(super) fn fits(version: &str) -> bool {
    match (numbers(version), numbers(VERSION)) {
        (Some([major, minor, patch]), Some(pinned)) => {
            [major, minor] == pinned[..2] && patch >= pinned[2]
        }
        _ => false,
    }
}

/// Major, minor and patch; none of a pre-release, whose behaviour is not the release's.
fn numbers(version: &str) -> Option<[u32; 3]> {
    let numbers: Vec<u32> = version
        .split('.')
        .map(str::parse)
        .collect::<Result<_, _>>()
        .ok()?;
    numbers.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn the_pinned_version_and_later_patches_fit() {
        for (version, expected) in [
            ("2.9.6", true),
            ("2.9.12", true),
            ("2.9.5", false),
            ("2.10.0", false),
            ("3.9.6", false),
            ("2.9.7-rc.1", false),
            ("2.9", false),
            ("", false),
        ] {
            assert_eq!(fits(version), expected, "{version}");
        }
    }
}
