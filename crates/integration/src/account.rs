//! The user that servers run as which refuse to run as root.

use std::{
    os::unix::{
        fs::{MetadataExt as _, chown},
        process::CommandExt as _,
    },
    path::Path,
    process::Command,
};

/// A user of this machine, to whom everything that a server needs belongs.
#[derive(Debug, Clone)]
pub(crate) struct Account {
    /// As in `/etc/passwd`.
    pub(crate) name: String,
    uid: u32,
    gid: u32,
    is_own: bool,
}

impl Account {
    /// The user who runs the tests; if that is root, the first of these users that exists.
    pub(crate) fn unprivileged(preferred: &[&str]) -> Self {
        let own = Self::of_the_tests();
        if !own.is_root() {
            return own;
        }
        let candidates = preferred.iter().chain(&["nobody"]);
        let mut found = candidates.filter_map(|name| Self::find(|account| account.name == *name));
        let account = found.next().expect(
            "the server does not run as root, and there is no user that it could run as, such as nobody",
        );
        Self {
            is_own: false,
            ..account
        }
    }

    fn find(wanted: impl Fn(&Self) -> bool) -> Option<Self> {
        let users = std::fs::read_to_string("/etc/passwd").unwrap();
        let read = |line: &str| {
            let fields: Vec<_> = line.split(':').collect();
            let [name, _, uid, gid, ..] = fields.as_slice() else {
                return None;
            };
            Some(Self {
                name: (*name).to_owned(),
                uid: uid.parse().ok()?,
                gid: gid.parse().ok()?,
                is_own: true,
            })
        };
        users.lines().filter_map(read).find(wanted)
    }

    /// The user who runs the tests.
    pub(crate) fn of_the_tests() -> Self {
        let own = std::fs::metadata("/proc/self").expect("Linux has /proc");
        Self::find(|account| account.uid == own.uid())
            .expect("who runs the tests is in /etc/passwd")
    }

    pub(crate) fn is_root(&self) -> bool {
        self.uid == 0
    }

    /// A command that runs as this user.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir("/");
        if !self.is_own {
            command.uid(self.uid).gid(self.gid);
        }
        command
    }

    /// Gives the user a folder and what is in it, one level deep.
    pub(crate) fn take_over(&self, folder: &Path) {
        if self.is_own {
            return;
        }
        for entry in std::fs::read_dir(folder).unwrap() {
            chown(entry.unwrap().path(), Some(self.uid), Some(self.gid)).unwrap();
        }
        chown(folder, Some(self.uid), Some(self.gid)).unwrap();
    }
}
