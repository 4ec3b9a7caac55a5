//! The settings of the user's package client as one step sees them: whole where it asks the registry, without
//! secrets where it reads strangers' code, which may import whatever file the step can read.

use std::{
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
};

use crate::confine::{
    plan::{Access, Entry},
    system,
};

/// The purpose of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Getting packages: it needs the user's tokens, and reads no code.
    Registry,
    /// Reading code, and packages that are there already.
    Code,
    /// Reading files and nothing else.
    Files,
}

/// The environment of a step and the files that it names.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) entries: Vec<Entry>,
}

/// Variables that name settings of npm's form, and the file below the folder that each names.
const SETTINGS: &[(&str, &str)] = &[
    ("HOME", ".npmrc"),
    ("NPM_CONFIG_USERCONFIG", ""),
    ("NPM_CONFIG_GLOBALCONFIG", ""),
];
/// Variables that name certificates.
const CERTIFICATES: &[&str] = &[
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "DENO_CERT",
    "NPM_CONFIG_CAFILE",
];
/// Parts of the names of secret settings.
const SECRETS: &[&str] = &["auth", "password", "username", "token"];
/// Where settings without secrets are kept in a build's folder.
const HOME: &str = ".settings";

impl Settings {
    /// The settings of `registry_env` for a step in the build folder `root`.
    ///
    /// # Errors
    /// The settings without secrets cannot be written.
    pub(super) fn of(
        registry_env: &[(OsString, OsString)],
        purpose: Purpose,
        root: &Path,
    ) -> io::Result<Self> {
        let mut settings = Self {
            env: Vec::new(),
            entries: Vec::new(),
        };
        if purpose == Purpose::Files {
            return Ok(settings);
        }
        settings.entries.extend(system::certificates());
        for (number, (name, value)) in registry_env.iter().enumerate() {
            let mut value = value.clone();
            if CERTIFICATES.iter().any(|known| is(name, known)) {
                let files = std::env::split_paths(&value).filter(|path| path.is_absolute());
                let files = files.filter_map(|path| system::seen(&path, Access::Read));
                settings.entries.extend(files);
            } else if let Some((_, file)) = SETTINGS.iter().find(|(known, _)| is(name, known)) {
                let path = joined(Path::new(&value), file);
                let text = fs::read_to_string(&path).ok();
                match (purpose, text) {
                    // As text: the file itself may be its owner's alone.
                    (Purpose::Registry, Some(text)) => {
                        settings.entries.push(Entry::File {
                            path,
                            text,
                            or_machines: true,
                        });
                    }
                    (Purpose::Registry | Purpose::Files, _) => {}
                    (Purpose::Code, text) => {
                        let folder = root.join(HOME).join(number.to_string());
                        value = folder.clone().into_os_string();
                        if let Some(text) = text {
                            fs::create_dir_all(&folder)?;
                            fs::write(joined(&folder, file), without_secrets(&text))?;
                        }
                    }
                }
            }
            settings.env.push((name.clone(), value));
        }
        Ok(settings)
    }
}

/// Package clients take their variables in either case.
fn is(name: &OsStr, known: &str) -> bool {
    name.eq_ignore_ascii_case(known)
}

/// The file in the folder, or the path itself where that is a file's.
fn joined(path: &Path, file: &str) -> PathBuf {
    match file {
        "" => path.to_owned(),
        file => path.join(file),
    }
}

fn without_secrets(text: &str) -> String {
    let kept = text.lines().filter(|line| {
        let name = line.split('=').next().unwrap_or_default().to_lowercase();
        !SECRETS.iter().any(|secret| name.contains(secret))
    });
    kept.map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::{Entry, Purpose, Settings, without_secrets};

    #[test]
    fn code_is_read_without_secrets_and_packages_are_got_with_them() {
        let (home, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let text = "@a:registry=https://r.example/\n//r.example/:_authToken=t0ps3cret\n";
        let file = home.path().join(".npmrc");
        std::fs::write(&file, text).unwrap();
        let env = [("HOME".into(), home.path().into())];
        let whole = Settings::of(&env, Purpose::Registry, root.path()).unwrap();
        assert!(whole.entries.contains(&Entry::File {
            path: file,
            text: text.to_owned(),
            or_machines: true,
        }));
        assert_eq!(whole.env, env);
        let reading = Settings::of(&env, Purpose::Code, root.path()).unwrap();
        assert!(!format!("{:?}", reading.entries).contains("t0ps3cret"));
        let seen = std::path::Path::new(&reading.env[0].1).join(".npmrc");
        let seen = std::fs::read_to_string(seen).unwrap();
        assert_eq!(seen, "@a:registry=https://r.example/\n");
    }

    #[test]
    fn secrets_go_by_their_names() {
        let text = "registry=https://r.example/\n_auth = x\n//r/:_password=y\n//r/:username=z\n\n; a comment\n";
        assert_eq!(
            without_secrets(text),
            "registry=https://r.example/\n\n; a comment\n"
        );
    }
}
