//! A small disk of a test's own, to be filled.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// A mounted file system in memory; dropping it unmounts it.
#[derive(Debug)]
pub(crate) struct Disk {
    folder: PathBuf,
}

impl Disk {
    /// Mounts one of so many MiB at the folder. `None` where that takes rights that this process has not.
    pub(crate) fn mount(folder: &Path, mib: u32) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={mib}m"), "tmpfs"]);
        run(mount.arg(folder)).then(|| Self {
            folder: folder.to_owned(),
        })
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: a worker that is just ending may still have a file open.
        run(Command::new("umount").arg("--lazy").arg(&self.folder));
    }
}

fn run(command: &mut Command) -> bool {
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}
