//! The folder of a worker: its components' code, its temporary files, and the mark by which a later start of the
//! node finds a process that outlived it.

use std::{
    fs, io,
    os::unix::fs::{MetadataExt, PermissionsExt as _},
    path::{Path, PathBuf},
};

use rustix::process::{Pid, Signal, kill_process_group};

use super::protocol::ComponentNumber;

const PROCESS_MARK: &str = "process";
/// The least that a file takes, be it empty.
const BLOCK_BYTES: u64 = 4096;

/// The folder of one worker, removed by [`WorkerFolder::remove`].
#[derive(Debug)]
pub(crate) struct WorkerFolder {
    path: PathBuf,
}

impl WorkerFolder {
    /// A new one in `work_dir`.
    ///
    /// # Errors
    /// It cannot be created.
    pub(crate) fn create(work_dir: &Path) -> io::Result<Self> {
        let path = tempfile::Builder::new()
            .prefix("w-")
            .tempdir_in(work_dir)?
            .keep();
        let folder = Self { path };
        let code = folder.code(ComponentNumber::FIRST);
        for path in [code, folder.beside(), folder.tmp(), folder.sockets()] {
            create_seen(&path)?;
        }
        Ok(folder)
    }

    /// The code of a component; the worker cannot write there. The process begins in the first one's. No component's is
    /// below that of another, whose packages it would find.
    pub(crate) fn code(&self, component: ComponentNumber) -> PathBuf {
        match component {
            ComponentNumber::FIRST => self.path.join("code"),
            number => self.beside().join(number.to_string()),
        }
    }

    /// The folder of the code of the second component and of later ones.
    pub(crate) fn beside(&self) -> PathBuf {
        self.path.join("beside")
    }

    /// The only place where the worker can write.
    pub(crate) fn tmp(&self) -> PathBuf {
        self.path.join("tmp")
    }

    /// Whether the temporary files take more than `limit` bytes of disk. Stops reading as soon as that is known.
    pub(crate) fn tmp_exceeds(&self, limit: u64) -> bool {
        let (mut bytes, mut folders) = (0, vec![self.tmp()]);
        while let Some(folder) = folders.pop() {
            // A folder that cannot be read is being removed.
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                // The size of a link, not of its target.
                let Ok(metadata) = entry.metadata() else {
                    continue;
                };
                bytes += (metadata.blocks() * 512).max(BLOCK_BYTES);
                if bytes > limit {
                    return true;
                }
                if metadata.is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        false
    }

    /// The folder with the socket of the node's own API, if the worker may reach it.
    pub(crate) fn sockets(&self) -> PathBuf {
        self.path.join("sockets")
    }

    /// Writes the mark of the process that owns this folder.
    pub(crate) fn mark(&self, pid: u32) {
        let Some(mark) = mark_of(pid, &self.path) else {
            return;
        };
        if let Err(error) = fs::write(self.path.join(PROCESS_MARK), mark) {
            tracing::warn!(%error, "a worker's process cannot be noted");
        }
    }

    pub(crate) fn remove(&self) {
        match fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, folder = %self.path.display(), "a worker's folder cannot be removed");
            }
            _ => {}
        }
    }
}

/// Creates a folder that the worker, which may run as another user than the node, can access.
///
/// # Errors
/// It cannot be created.
pub(crate) fn create_seen(path: &Path) -> io::Result<()> {
    fs::create_dir(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

/// Empties `work_dir`, ending processes of a former node that are still there.
///
/// # Errors
/// A folder cannot be removed.
pub(crate) fn wipe(work_dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(work_dir)? {
        let path = entry?.path();
        end_leftover(&path);
        let removed = if path.is_dir() {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

fn end_leftover(folder: &Path) {
    let mark = fs::read_to_string(folder.join(PROCESS_MARK)).unwrap_or_default();
    let pid = mark.split(' ').next().and_then(|pid| pid.parse().ok());
    // An id alone may be another process's by now, and the folder a copy of that of a node that goes on.
    let same = pid.filter(|&pid| mark_of(pid, folder).as_ref() == Some(&mark));
    if let Some(group) = same.and_then(|pid: u32| Pid::from_raw(pid.cast_signed())) {
        tracing::warn!(pid, "ending a worker that a former node left behind");
        // It may have ended in between.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// A mark that identifies this process and this folder: it differs for a process of an earlier boot of the machine, and
/// for a copy of the folder.
fn mark_of(pid: u32, folder: &Path) -> Option<String> {
    let started = start_of(pid)?;
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let folder = folder.canonicalize().ok()?;
    let metadata = folder.metadata().ok()?;
    Some(format!(
        "{pid} {started} {} {} {} {}",
        boot.trim(),
        metadata.dev(),
        metadata.ino(),
        folder.display()
    ))
}

/// The time when the process started, in the kernel's ticks: with its id, its identity. Linux only.
fn start_of(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name, in parentheses, may hold anything.
    let after_name = stat.rsplit_once(')')?.1;
    after_name
        .split_ascii_whitespace()
        .nth(19)
        .map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::process::{CommandExt, ExitStatusExt},
        process::Command,
    };

    use super::{WorkerFolder, wipe};

    #[test]
    fn temporary_files_count_in_all_folders_and_links_do_not() {
        let work_dir = tempfile::tempdir().unwrap();
        let folder = WorkerFolder::create(work_dir.path()).unwrap();
        let below = folder.tmp().join("a/b");
        fs::create_dir_all(&below).unwrap();
        let other = work_dir.path().join("other");
        fs::write(&other, [1; 100_000]).unwrap();
        std::os::unix::fs::symlink(&other, below.join("link")).unwrap();
        assert!(!folder.tmp_exceeds(50_000));
        fs::write(below.join("file"), [1; 100_000]).unwrap();
        assert!(folder.tmp_exceeds(50_000));
        assert!(!folder.tmp_exceeds(1_000_000));
    }

    #[test]
    fn processes_of_the_folder_that_was_copied_go_on() {
        let (original, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut process = Command::new("sleep")
            .arg("3600")
            .process_group(0)
            .spawn()
            .unwrap();
        let folder = WorkerFolder::create(original.path()).unwrap();
        folder.mark(process.id());
        let copied = copy.path().join(folder.path.file_name().unwrap());
        fs::create_dir(&copied).unwrap();
        let mark = folder.path.join(super::PROCESS_MARK);
        fs::copy(mark, copied.join(super::PROCESS_MARK)).unwrap();
        wipe(copy.path()).unwrap();
        assert!(process.try_wait().unwrap().is_none());
        wipe(original.path()).unwrap();
        assert_eq!(process.wait().unwrap().signal(), Some(9));
    }

    #[test]
    fn processes_that_outlived_their_node_are_ended_and_no_others() {
        let work_dir = tempfile::tempdir().unwrap();
        let mut processes = [(); 2].map(|()| {
            Command::new("sleep")
                .arg("3600")
                .process_group(0)
                .spawn()
                .unwrap()
        });
        let folders = processes.each_ref().map(|process| {
            let folder = WorkerFolder::create(work_dir.path()).unwrap();
            folder.mark(process.id());
            folder
        });
        // The second id is now another process's.
        let mark = folders[1].path.join(super::PROCESS_MARK);
        let text = fs::read_to_string(&mark).unwrap();
        let mut words: Vec<_> = text.split(' ').collect();
        words[1] = "1";
        fs::write(&mark, words.join(" ")).unwrap();
        wipe(work_dir.path()).unwrap();
        assert_eq!(processes[0].wait().unwrap().signal(), Some(9));
        assert!(processes[1].try_wait().unwrap().is_none());
        processes[1].kill().unwrap();
        processes[1].wait().unwrap();
        assert_eq!(fs::read_dir(work_dir.path()).unwrap().count(), 0);
    }
}
