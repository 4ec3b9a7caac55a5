//! The text of a unit: what is run, where it may write, and what it is kept from.

use std::{
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

use super::options::{ServeOptions, chosen_data_dir};
use crate::usage_error::UsageError;

/// The name of the unit's file.
pub(super) const NAME: &str = "headwater.service";
/// The beginning of every unit of this module.
pub(super) const WRITTEN_BY: &str = "# Written by `headwater service install";

const SYSTEM: &str = include_str!("system.service");
const USER: &str = include_str!("user.service");
/// Where the units of the machine have their data.
const STATE: &str = "/var/lib/headwater";
const SHUTDOWN_GRACE: Duration = Duration::from_secs(30);
/// Traces are sent, and connections end, after the grace for runs.
const STOP_BEYOND_GRACE: Duration = Duration::from_secs(15);
/// Folders that a service of the machine does not see, or sees others of.
const HIDDEN: [&str; 5] = ["/home", "/root", "/run/user", "/tmp", "/var/tmp"];
/// Characters of words that systemd reads as they are.
const PLAIN: &str = "-_./:=,@+";

/// The systemd that runs a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manager {
    System,
    User,
}

impl Manager {
    pub(super) fn of(is_user: bool) -> Self {
        match is_user {
            true => Self::User,
            false => Self::System,
        }
    }

    pub(super) fn systemctl(self) -> &'static str {
        match self {
            Self::System => "systemctl",
            Self::User => "systemctl --user",
        }
    }
}

/// A unit, shown as its file has it.
#[derive(Debug)]
pub(super) struct Unit {
    manager: Manager,
    binary: PathBuf,
    options: ServeOptions,
    data_dir: PathBuf,
}

impl Unit {
    /// # Errors
    /// The options are not fit for a unit; there is no home for the data.
    pub(super) fn new(
        manager: Manager,
        binary: PathBuf,
        data_dir: &Path,
        words: &[String],
    ) -> Result<Self, UsageError> {
        let options = ServeOptions::read(words)?;
        let data_dir = match (chosen_data_dir(&options, data_dir)?, manager) {
            (Some(chosen), _) => chosen,
            (None, Manager::System) => STATE.into(),
            (None, Manager::User) => own_folder("XDG_DATA_HOME", ".local/share")?.join("headwater"),
        };
        Ok(Self {
            manager,
            binary,
            options,
            data_dir,
        })
    }

    /// The data folder, if systemd does not create it.
    pub(super) fn own_data_dir(&self) -> Option<&Path> {
        let is_created = self.manager == Manager::System && self.data_dir == Path::new(STATE);
        (!is_created).then_some(&*self.data_dir)
    }

    /// # Errors
    /// A path that the service would not see.
    pub(super) fn check_sees_its_files(&self) -> Result<(), UsageError> {
        if self.manager == Manager::User {
            return Ok(());
        }
        let files = self.options.files.iter();
        let files = files.map(|(option, path)| (option.as_str(), path));
        let own = [("--binary", &self.binary), ("--data-dir", &self.data_dir)];
        for (option, path) in own.into_iter().chain(files) {
            if HIDDEN.iter().any(|hidden| path.starts_with(hidden)) {
                return Err(UsageError(format!(
                    "{option}: a service does not see {}; choose a place that is neither a home nor for temporary \
                     files, such as /usr/local/bin, /etc/headwater or /var/lib, or give --user",
                    path.display()
                )));
            }
        }
        Ok(())
    }

    fn exec_start(&self) -> String {
        let fixed = [
            self.binary.display().to_string(),
            "serve".to_owned(),
            "--data-dir".to_owned(),
            self.data_dir.display().to_string(),
        ];
        let words = fixed.iter().chain(&self.options.words);
        words.map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    fn folders(&self) -> String {
        match self.own_data_dir() {
            None => "StateDirectory=headwater\nStateDirectoryMode=0700".to_owned(),
            Some(folder) => format!("ReadWritePaths={}", quoted(&folder.display().to_string())),
        }
    }

    fn capabilities(&self) -> &'static str {
        match self.options.takes_low_port {
            false => "CapabilityBoundingSet=",
            true => {
                "AmbientCapabilities=CAP_NET_BIND_SERVICE\nCapabilityBoundingSet=CAP_NET_BIND_SERVICE"
            }
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.manager {
            Manager::System => SYSTEM,
            Manager::User => USER,
        };
        let grace = self.options.shutdown_grace.unwrap_or(SHUTDOWN_GRACE);
        let stop_s = (grace + STOP_BEYOND_GRACE).as_secs().to_string();
        let text = text
            .replace("{stop_s}", &stop_s)
            .replace("{capabilities}", self.capabilities())
            .replace("{folders}", &self.folders())
            .replace("{exec_start}", &self.exec_start());
        formatter.write_str(&text)
    }
}

/// A folder of this user's own: the one that a variable names, or its place in the home.
///
/// # Errors
/// The user has no home.
pub(super) fn own_folder(variable: &str, in_home: &str) -> Result<PathBuf, UsageError> {
    let given = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    match (given(variable), given("HOME")) {
        (Some(folder), _) => Ok(folder.into()),
        (None, Some(home)) => Ok(PathBuf::from(home).join(in_home)),
        (None, None) => Err(UsageError(format!(
            "--user: neither {variable} nor HOME is set; set one of them"
        ))),
    }
}

/// The word as systemd reads it unchanged: no variable, no specifier, no break.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || PLAIN.contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let mut text = String::from('"');
    for letter in word.chars() {
        match letter {
            '"' | '\\' => text.extend(['\\', letter]),
            '%' | '$' => text.extend([letter, letter]),
            '\n' => text.push_str("\\n"),
            _ => text.push(letter),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::DEFAULT_DATA_DIR;

    fn unit(words: &[&str]) -> Result<Unit, UsageError> {
        let words: Vec<_> = words.iter().map(|&word| word.to_owned()).collect();
        let binary = "/usr/bin/headwater".into();
        Unit::new(Manager::System, binary, Path::new(DEFAULT_DATA_DIR), &words)
    }

    fn text(words: &[&str]) -> String {
        unit(words).unwrap().to_string()
    }

    #[test]
    fn options_reach_the_node_as_they_were_given() {
        let text = text(&["--mail-from", "A 100% \"B\" <a$b@mail.example>"]);
        let line = "ExecStart=/usr/bin/headwater serve --data-dir /var/lib/headwater --mail-from \
                    \"A 100%% \\\"B\\\" <a$$b@mail.example>\"\n";
        assert!(text.contains(line), "{text}");
        assert!(!text.contains('{'), "{text}");
    }

    #[test]
    fn a_unit_gives_what_its_options_need_and_no_more() {
        let plain = text(&["--listen=127.0.0.1:3000"]);
        for line in [
            "\nStateDirectory=headwater\n",
            "\nCapabilityBoundingSet=\n",
            "\nTimeoutStopSec=45\n",
        ] {
            assert!(plain.contains(line), "{plain}");
        }
        let other = text(&[
            "--listen",
            "0.0.0.0:443",
            "--data-dir=/srv/node",
            "--shutdown-grace=2m",
        ]);
        for line in [
            " --data-dir /srv/node --listen 0.0.0.0:443 ",
            "\nReadWritePaths=/srv/node\n",
            "\nAmbientCapabilities=CAP_NET_BIND_SERVICE\n",
            "\nTimeoutStopSec=135\n",
        ] {
            assert!(other.contains(line), "{other}");
        }
        assert!(!other.contains("StateDirectory"), "{other}");
    }

    #[test]
    fn options_that_a_unit_cannot_have_are_refused_by_their_name() {
        for (words, told) in [
            (["--no-such-option"].as_slice(), "--no-such-option"),
            (&["--config=a.toml"], "--config: `a.toml`"),
            (&["--data-dir", "data"], "--data-dir: `data`"),
            (
                &["--database-url=postgres://a:b@c/d"],
                "HEADWATER_DATABASE_URL",
            ),
        ] {
            let error = unit(words).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
        let hidden = unit(&["--tls-cert=/tmp/a.pem", "--tls-key=/tmp/k.pem"]).unwrap();
        let error = hidden.check_sees_its_files().unwrap_err().to_string();
        assert!(error.starts_with("--tls-cert: "), "{error}");
    }
}
