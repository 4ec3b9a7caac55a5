//! The settings of the user's package client, per kind of step: all of them for steps that query the registry; only
//! those known not to be secret for steps that read untrusted code, which may import any file that the step can read.

use std::{
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
};

use crate::confine::{
    plan::{Access, Entry},
    system,
};

/// The kind of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Getting packages: it needs the user's tokens, and reads no code.
    Registry,
    /// Reading code and downloaded packages.
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

/// Variables that name settings of npm's form: a file, or the folder of one.
const FILES: &[(&str, File)] = &[
    ("HOME", File::In(".npmrc")),
    ("NPM_CONFIG_USERCONFIG", File::Itself),
    ("NPM_CONFIG_GLOBALCONFIG", File::Itself),
];
/// Variables that name certificates.
const CERTIFICATES: &[&str] = &[
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "DENO_CERT",
    "NPM_CONFIG_CAFILE",
];
/// Other variables that are not secret, but for a user and a password in an address.
const VARIABLES: &[&str] = &[
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "DENO_TLS_CA_STORE",
];
/// The beginning of variables that are settings of npm.
const NPM: &str = "npm_config_";
/// Settings of npm that are not secret, but for a user and a password in an address.
const SETTINGS: &[&str] = &[
    "registry",
    "proxy",
    "http-proxy",
    "https-proxy",
    "noproxy",
    "ca",
    "cafile",
    "strict-ssl",
];
/// The setting that a scope may override.
const REGISTRY: &str = "registry";
/// The place of settings without secrets in a build's folder.
const HOME: &str = ".settings";

/// The file that a variable leads to.
#[derive(Debug, Clone, Copy)]
enum File {
    Itself,
    /// The one of this name in the folder that the variable names.
    In(&'static str),
}

impl File {
    fn path(self, value: &OsStr) -> PathBuf {
        match self {
            Self::Itself => value.into(),
            Self::In(name) => Path::new(value).join(name),
        }
    }
}

impl Settings {
    /// The settings of `registry_env` for a step in the build folder `root`. Blocks.
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
        for (number, variable) in registry_env.iter().enumerate() {
            let (name, value) = variable;
            let value = if CERTIFICATES.iter().any(|known| is(name, known)) {
                let files = std::env::split_paths(value).filter(|path| path.is_absolute());
                let files = files.filter_map(|path| system::seen(&path, Access::Read));
                settings.entries.extend(files);
                Some(value.clone())
            } else if purpose == Purpose::Registry {
                settings.entries.extend(whole_file(name, value));
                Some(value.clone())
            } else if let Some((_, file)) = FILES.iter().find(|(known, _)| is(name, known)) {
                let folder = root.join(HOME).join(number.to_string());
                Some(without_secrets(*file, value, &folder)?)
            } else {
                public(name, value)
            };
            let given = value.map(|value| (name.clone(), value));
            settings.env.extend(given);
        }
        Ok(settings)
    }
}

/// The file that a variable leads to, as it is. As text, because only its owner may be able to read the file.
fn whole_file(name: &OsStr, value: &OsStr) -> Option<Entry> {
    let (_, file) = FILES.iter().find(|(known, _)| is(name, known))?;
    let path = file.path(value);
    let text = fs::read_to_string(&path).ok()?;
    Some(Entry::File {
        path,
        text,
        or_machines: true,
    })
}

/// The value that leads to a file in `folder` with the part that is not secret of the one that `value` leads to.
fn without_secrets(file: File, value: &OsStr, folder: &Path) -> io::Result<OsString> {
    let text = fs::read_to_string(file.path(value)).unwrap_or_default();
    let (written, value) = match file {
        File::Itself => (folder.join("npmrc"), folder.join("npmrc")),
        File::In(name) => (folder.join(name), folder.to_owned()),
    };
    fs::create_dir_all(folder)?;
    fs::write(written, public_lines(&text))?;
    Ok(value.into_os_string())
}

/// The lines of npm's settings that are not secret.
fn public_lines(text: &str) -> String {
    let lines = text.lines().filter_map(|line| {
        let (name, value) = line.split_once('=')?;
        is_public(name.trim()).then(|| format!("{}={}\n", name.trim(), without_user(value.trim())))
    });
    lines.collect()
}

/// The value of a variable as far as it is not secret; nothing of one that may be.
fn public(name: &OsStr, value: &OsStr) -> Option<OsString> {
    let known = VARIABLES.iter().any(|known| is(name, known));
    let name = name.to_str()?;
    let start = name.get(..NPM.len()).unwrap_or_default();
    let setting = start.eq_ignore_ascii_case(NPM).then(|| &name[NPM.len()..]);
    let value = value.to_str()?;
    let is_told = known || setting.is_some_and(is_public);
    is_told.then(|| without_user(value).into())
}

/// Whether a setting of npm is not secret.
fn is_public(setting: &str) -> bool {
    let setting = setting.trim_end_matches("[]").to_ascii_lowercase();
    match setting.rsplit_once(':') {
        Some((scope, name)) => scope.starts_with('@') && name == REGISTRY,
        // Variables have no hyphens.
        None => SETTINGS.contains(&&*setting.replace('_', "-")),
    }
}

/// An address without a user and a password in it.
fn without_user(value: &str) -> String {
    let start = value.find("://").map_or(0, |at| at + "://".len());
    let end = value[start..].find(['/', '?', '#']);
    let end = end.map_or(value.len(), |at| start + at);
    match value[start..end].rfind('@') {
        Some(at) => format!("{}{}", &value[..start], &value[start + at + 1..]),
        None => value.to_owned(),
    }
}

/// Package clients take their variables in either case.
fn is(name: &OsStr, known: &str) -> bool {
    name.eq_ignore_ascii_case(known)
}

#[cfg(test)]
mod tests {
    use std::{
        ffi::{OsStr, OsString},
        fs,
        path::Path,
    };

    use super::{Entry, Purpose, Settings, public_lines, without_user};

    const TEXT: &str = "@a:registry=https://r.example/\n//r.example/:_authToken=t0ps3cret\n";
    const PUBLIC: &str = "@a:registry=https://r.example/\n";

    fn of(name: &str, value: &Path, purpose: Purpose) -> (Settings, tempfile::TempDir) {
        let root = tempfile::tempdir().unwrap();
        let env = [(name.into(), value.into())];
        let settings = Settings::of(&env, purpose, root.path()).unwrap();
        (settings, root)
    }

    #[test]
    fn each_file_is_seen_whole_for_packages_and_without_secrets_for_code() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(".npmrc");
        fs::write(&file, TEXT).unwrap();
        for (name, value) in [
            ("HOME", home.path()),
            ("NPM_CONFIG_USERCONFIG", &file),
            ("npm_config_userconfig", &file),
            ("NPM_CONFIG_GLOBALCONFIG", &file),
            ("npm_config_globalconfig", &file),
        ] {
            let (whole, _root) = of(name, value, Purpose::Registry);
            assert!(whole.entries.contains(&Entry::File {
                path: file.clone(),
                text: TEXT.to_owned(),
                or_machines: true,
            }));
            assert_eq!(whole.env, [(name.into(), value.into())]);
            let (reading, _root) = of(name, value, Purpose::Code);
            assert!(!format!("{:?}", reading.entries).contains("t0ps3cret"));
            let (named, seen) = &reading.env[0];
            let seen = match name {
                "HOME" => Path::new(seen).join(".npmrc"),
                _ => Path::new(seen).to_owned(),
            };
            assert_eq!(named, name);
            assert_eq!(fs::read_to_string(seen).unwrap(), PUBLIC, "{name}");
        }
    }

    #[test]
    fn files_that_are_not_there_are_no_obstacle() {
        for name in ["HOME", "NPM_CONFIG_USERCONFIG", "npm_config_globalconfig"] {
            for purpose in [Purpose::Registry, Purpose::Code, Purpose::Files] {
                of(name, Path::new("/nowhere/at/all"), purpose);
            }
        }
    }

    #[test]
    fn code_is_read_without_the_tokens_of_the_environment() {
        let root = tempfile::tempdir().unwrap();
        let env = [
            ("DENO_AUTH_TOKENS", "t0ps3cret@r.example"),
            ("NPM_CONFIG_//r.example/:_authToken", "t0ps3cret"),
            ("npm_config_//r.example/:_password", "t0ps3cret"),
            ("NPM_CONFIG__AUTH", "t0ps3cret"),
            ("npm_config_key", "t0ps3cret"),
            ("NPM_CONFIG_OTP", "t0ps3cret"),
            ("PIP_INDEX_URL", "https://me:t0ps3cret@pip.example/"),
            ("HTTPS_PROXY", "http://me:t0ps3cret@proxy.example:3128"),
            ("npm_config_proxy", "me:t0ps3cret@proxy.example:3128"),
            ("no_proxy", "localhost,r.example"),
            ("NPM_CONFIG_REGISTRY", "https://me:t0ps3cret@r.example/npm/"),
            ("npm_config_@auth0:registry", "https://r.example/@auth0/"),
            ("DENO_TLS_CA_STORE", "system"),
        ];
        let env = env.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let whole = Settings::of(&env, Purpose::Registry, root.path()).unwrap();
        assert_eq!(whole.env, env);
        let code = Settings::of(&env, Purpose::Code, root.path()).unwrap();
        let expected = [
            ("HTTPS_PROXY", "http://proxy.example:3128"),
            ("npm_config_proxy", "proxy.example:3128"),
            ("no_proxy", "localhost,r.example"),
            ("NPM_CONFIG_REGISTRY", "https://r.example/npm/"),
            ("npm_config_@auth0:registry", "https://r.example/@auth0/"),
            ("DENO_TLS_CA_STORE", "system"),
        ];
        let seen = code.env.iter().map(|(name, value)| (&**name, &**value));
        let expected = expected.map(|(name, value)| (OsStr::new(name), OsStr::new(value)));
        assert_eq!(Vec::from_iter(seen), expected);
        let files = Settings::of(&env, Purpose::Files, root.path()).unwrap();
        assert!(files.env.is_empty() && files.entries.is_empty());
    }

    #[test]
    fn lines_that_may_be_secret_are_left_out() {
        let text = "registry = https://me:pass@r.example/\n_auth = x\n//r/:_password=y\n//r/:username=z\n\
                    key=\"-----BEGIN\"\n//r/:keyfile=/k\n; a comment\n# t0ps3cret\n//r/:_authToken=${TOKEN}\n\
                    @keycloak:registry=https://r.example/\nca[]=\"-----BEGIN CERTIFICATE\"\nstrict-ssl=false\n";
        let expected = "registry=https://r.example/\n@keycloak:registry=https://r.example/\n\
                        ca[]=\"-----BEGIN CERTIFICATE\"\nstrict-ssl=false\n";
        assert_eq!(public_lines(text), expected);
    }

    #[test]
    fn addresses_lose_their_user_and_nothing_else() {
        for (value, expected) in [
            ("https://r.example/@scope/", "https://r.example/@scope/"),
            ("https://a:b@c@r.example?x=@y", "https://r.example?x=@y"),
            ("\"https://a@r.example\"", "\"https://r.example\""),
            ("a:b@r.example", "r.example"),
            ("", ""),
        ] {
            assert_eq!(without_user(value), expected);
        }
    }
}
