//! Downloaded packages, brought to how components get them: their manifests as Node sees them, their modules judged.
//! Each once, where it was downloaded to, and by one build at a time, be it of another process on the same cache:
//! files are replaced meanwhile, and who walks the folder must not meet what is half done.
//!
//! Not responsible for what is done to manifests ([`super::manifests`]) and modules ([`super::imports`]).

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use super::{
    command::DenoTool,
    failure::{BuildResult, disk},
    imports, manifests,
};

/// Says in a package's folder that this was done.
const DONE: &str = ".headwater-settled";

/// Settles the packages in these folders.
pub(super) async fn settle(tool: &DenoTool, packages: Vec<PathBuf>) -> BuildResult<()> {
    for package in packages {
        let folder = package.clone();
        let lock = blocking(&package, move || begin(&folder)).await?;
        let Some(_lock) = lock else { continue };
        imports::judge_package(tool, &package).await?;
        fs::write(package.join(DONE), "").map_err(|error| disk(&package, &error))?;
    }
    Ok(())
}

/// Settles what needs no tool, if the package is not settled yet; the rest is for whoever holds the lock.
fn begin(package: &Path) -> io::Result<Option<File>> {
    // A package for other machines is resolved and not downloaded; one that cannot be unpacked is not there.
    let is_settled = || package.join(DONE).is_file() || !package.is_dir();
    if is_settled() {
        return Ok(None);
    }
    let lock = File::open(package)?;
    lock.lock()?;
    if is_settled() {
        return Ok(None);
    }
    manifests::as_node_sees_them(package)?;
    Ok(Some(lock))
}

async fn blocking<T: Send + 'static>(
    package: &Path,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> BuildResult<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|failed| std::panic::resume_unwind(failed.into_panic()))
        .map_err(|error| disk(package, &error))
}

#[cfg(test)]
mod tests {
    use std::{fs, thread};

    use super::{DONE, begin};

    #[test]
    fn builds_that_need_a_package_at_once_do_not_disturb_each_other() {
        let package = tempfile::tempdir().unwrap();
        for number in 0..500 {
            let folder = package.path().join(number.to_string());
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("index.js"), "").unwrap();
            fs::write(folder.join("package.json"), r#"{"module": "es.js"}"#).unwrap();
        }
        let settled = || begin(package.path()).map(|lock| lock.is_some());
        let all: Vec<_> = thread::scope(|threads| {
            let started: Vec<_> = (0..8).map(|_| threads.spawn(settled)).collect();
            started.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert!(all.iter().all(|one| matches!(one, Ok(true))), "{all:?}");
        fs::write(package.path().join(DONE), "").unwrap();
        assert!(matches!(settled(), Ok(false)));
    }
}
