//! The repository's text files: what git tracks or would track, or, without git, everything
//! outside the folders that builds and nodes write.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result};

const WRITTEN_FOLDERS: [&str; 4] = [".git", "target", "node_modules", "headwater-data"];

/// A text file, its path relative to the repository with `/` between the parts.
#[derive(Debug)]
pub(super) struct TrackedFile {
    pub(super) path: String,
    pub(super) text: String,
}

pub(super) fn read(root: &Path) -> Result<Vec<TrackedFile>> {
    let mut paths = match listed_by_git(root) {
        Some(paths) => paths,
        None => found_in_folders(root)?,
    };
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        // A tracked file may be deleted but not yet committed, or be no text.
        let Ok(text) = std::fs::read_to_string(root.join(&path)) else {
            continue;
        };
        files.push(TrackedFile { path, text });
    }
    Ok(files)
}

fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    if !root.join(".git").exists() {
        return None;
    }
    let output = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root)
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let listed = String::from_utf8(output.stdout).ok()?;
    let paths: Vec<_> = listed.split('\0').filter(|path| !path.is_empty()).collect();
    (output.status.success() && !paths.is_empty())
        .then(|| paths.into_iter().map(str::to_owned).collect())
}

fn found_in_folders(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(root.join(&folder))
            .with_context(|| format!("cannot read {}", root.join(&folder).display()))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = folder.join(&name);
            if !entry.file_type()?.is_dir() {
                found.push(path.to_string_lossy().into_owned());
            } else if !WRITTEN_FOLDERS.contains(&name.as_str()) {
                folders.push(path);
            }
        }
    }
    Ok(found)
}
