//! Preparing downloaded packages for components: their manifests as Node sees them, their modules judged. Each is
//! prepared once, in place, by one build at a time across all processes on the cache: files are replaced meanwhile, and
//! other readers of the folder must not see it half done.
//!
//! Not responsible for the changes to manifests ([`super::manifests`]) and modules ([`super::imports`]).

use std::{
    fs::{self, File},
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

use super::{
    command::DenoTool,
    failure::{BuildResult, blocking},
    imports, manifests,
};

/// The folder of marks, beside Deno's cache: out of reach of packages, which may contain any file, and of steps.
const MARKS: &str = "settled";

/// Settles the packages in these folders.
pub(super) async fn settle(tool: &DenoTool, packages: Vec<PathBuf>) -> BuildResult<()> {
    let marks = tool.deno_dir.with_file_name(MARKS);
    for package in packages {
        let mark = Mark::of(&package, &marks);
        let beginning = mark.clone();
        let lock = blocking(&package, move || beginning.begin()).await?;
        let Some(lock) = lock else { continue };
        let is_final = imports::judge_package(tool, &package).await?;
        blocking(&package, move || {
            let _lock = lock;
            if is_final { mark.set() } else { Ok(()) }
        })
        .await?;
    }
    Ok(())
}

/// The mark of a settled package.
#[derive(Debug, Clone)]
struct Mark {
    package: PathBuf,
    file: PathBuf,
}

impl Mark {
    fn of(package: &Path, marks: &Path) -> Self {
        let hash = Sha256::digest(package.as_os_str().as_encoded_bytes());
        Self {
            package: package.to_owned(),
            file: marks.join(hex::encode(hash)),
        }
    }

    /// Settles what needs no tool, if the package is not settled yet; the rest needs the lock.
    fn begin(&self) -> io::Result<Option<File>> {
        if self.is_set_or_needless()? {
            return Ok(None);
        }
        let lock = File::open(&self.package)?;
        lock.lock()?;
        if self.is_set_or_needless()? {
            return Ok(None);
        }
        manifests::as_node_sees_them(&self.package)?;
        Ok(Some(lock))
    }

    fn set(&self) -> io::Result<()> {
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&self.file, identity(&fs::metadata(&self.package)?))
    }

    fn is_set_or_needless(&self) -> io::Result<bool> {
        let folder = match fs::metadata(&self.package) {
            Ok(folder) => folder,
            // A package for other machines is resolved and not downloaded; one that cannot be unpacked is not there.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(error) => return Err(error),
        };
        let set = fs::read_to_string(&self.file);
        Ok(!folder.is_dir() || set.is_ok_and(|of| of == identity(&folder)))
    }
}

/// Facts that change when the folder is removed and downloaded again.
fn identity(folder: &fs::Metadata) -> String {
    let changed_at = (folder.ctime(), folder.ctime_nsec());
    format!("{} {} {changed_at:?}", folder.dev(), folder.ino())
}

#[cfg(test)]
mod tests {
    use std::{fs, thread};

    use super::Mark;

    #[test]
    fn builds_that_need_a_package_at_once_do_not_disturb_each_other() {
        let (package, marks) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for number in 0..500 {
            let folder = package.path().join(number.to_string());
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("index.js"), "").unwrap();
            fs::write(folder.join("package.json"), r#"{"module": "es.js"}"#).unwrap();
        }
        let mark = Mark::of(package.path(), marks.path());
        let settled = || mark.begin().map(|lock| lock.is_some());
        let all: Vec<_> = thread::scope(|threads| {
            let started: Vec<_> = (0..8).map(|_| threads.spawn(settled)).collect();
            started.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert!(all.iter().all(|one| matches!(one, Ok(true))), "{all:?}");
        mark.set().unwrap();
        assert!(matches!(settled(), Ok(false)));
    }

    #[test]
    fn a_package_that_is_downloaded_again_is_settled_again() {
        let (cache, marks) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let package = cache.path().join("a/1.0.0");
        let mark = Mark::of(&package, marks.path());
        assert!(mark.begin().unwrap().is_none(), "there is nothing");
        fs::create_dir_all(&package).unwrap();
        assert!(mark.begin().unwrap().is_some());
        mark.set().unwrap();
        assert!(mark.begin().unwrap().is_none());
        fs::rename(&package, cache.path().join("former")).unwrap();
        fs::create_dir_all(&package).unwrap();
        assert!(mark.begin().unwrap().is_some());
    }
}
