//! `backup` and `restore`: a node's data folder in one file, and back. The store is copied as it is at one moment, also
//! while a node writes to it; what stands beside it is read after it, so that what the store names is there.

use std::{
    fs::{self, DirEntry, File, Metadata, OpenOptions},
    io::{self, ErrorKind, Read as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Component, Path},
};

use anyhow::{Context as _, Result, bail};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use tar::{Archive, Builder, Header};

use super::data_dir::{DataDir, PARTS, SECRET_PARTS, STORE};
use crate::{
    arguments::{BackupArguments, Global, RestoreArguments},
    exit::Exit,
    output,
};

/// Files that are being written, which every start empties.
const UNFINISHED: &str = "files/uploads";
/// The folder in which a backup is unpacked before it is moved to its place.
const RESTORING: &str = ".restoring";

/// Writes the backup of the data folder. A file that is there is whole.
pub(crate) fn back_up(global: &Global, arguments: &BackupArguments) -> Result<Exit> {
    let root = &global.data_dir;
    if !DataDir::is_at(root) {
        bail!(
            "there is no embedded store in {}; name the node's data folder with --data-dir. Of a node on PostgreSQL, \
             back the database up with pg_dump, and copy the data folder",
            root.display()
        );
    }
    if DataDir::has_store_elsewhere(root) {
        bail!(
            "the node of {} has its store in a database, and the embedded one there is out of date: back the database up \
             with pg_dump, and copy the data folder",
            root.display()
        );
    }
    let file = &arguments.file;
    if file.exists() {
        bail!("{} exists; name a new file", file.display());
    }
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let working = tempfile::Builder::new()
        .prefix(".headwater-backup-")
        .tempdir_in(folder.unwrap_or(Path::new(".")))
        .with_context(|| format!("cannot write beside {}", file.display()))?;
    let store = working.path().join(STORE);
    headwater_store_sqlite::copy(&root.join(STORE), &store).context("cannot copy the store")?;
    let packed = working.path().join("packed");
    let parts = PARTS
        .into_iter()
        .chain(SECRET_PARTS.into_iter().filter(|_| arguments.with_keys));
    pack(root, &store, parts, &packed)
        .with_context(|| format!("cannot write {}", file.display()))?;
    fs::hard_link(&packed, file).with_context(|| format!("cannot write {}", file.display()))?;
    let size = fs::metadata(file)?.len();
    output::data(&file.display().to_string())?;
    let keys = match arguments.with_keys {
        true => "it has the secret key, with which it opens all credentials: keep it like one",
        false => {
            "the secret key is not in it: keep a copy of that apart, without which accounts and secrets are lost"
        }
    };
    output::tell(&format!(
        "backed up {} ({size} bytes); {keys}",
        root.display()
    ));
    Ok(Exit::Success)
}

/// Creates a data folder from a backup, whole or not at all.
pub(crate) fn restore(global: &Global, arguments: &RestoreArguments) -> Result<Exit> {
    let root = &global.data_dir;
    let shown = root.display();
    let is_other =
        |entry: io::Result<DirEntry>| entry.map_or(true, |it| it.file_name() != RESTORING);
    if fs::read_dir(root).is_ok_and(|mut entries| entries.any(is_other)) {
        bail!(
            "{shown} is not empty; name a new folder with --data-dir, or move that one away first"
        );
    }
    let file = &arguments.file;
    let packed = File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    let data_dir = DataDir::open(root)?;
    let restoring = root.join(RESTORING);
    let restored = unpacked(packed, &restoring)
        .with_context(|| format!("{} is not a backup that can be restored", file.display()))
        .and_then(|()| move_in(&restoring, root));
    restored.inspect_err(|_| {
        // It is not taken back with the folder if an interrupted restore had left it there.
        let _ = fs::remove_dir_all(&restoring);
        data_dir.leave_as_found();
    })?;
    output::data(&root.display().to_string())?;
    if !data_dir.has_secret_keys() {
        output::tell(&format!(
            "before you start it, put the secret key of that node into {} or HEADWATER_SECRET_KEY: accounts and secrets \
             are encrypted with it",
            data_dir.shown_secret_key_path()
        ));
    }
    output::tell(&format!(
        "restored {shown}; `headwater serve --data-dir {shown}` goes on where the backup was created. End the node that it is \
         of first: two would send everything twice"
    ));
    Ok(Exit::Success)
}

/// Unpacks a backup into a folder beside the data that it becomes, in place of what an interrupted one has left, and checks it.
fn unpacked(packed: File, into: &Path) -> Result<()> {
    match fs::remove_dir_all(into) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
        _ => fs::create_dir(into)?,
    }
    unpack(packed, into)?;
    let store = into.join(STORE);
    headwater_store_sqlite::check(&store)?;
    Ok(File::open(store)?.sync_all()?)
}

/// Moves what was unpacked to its place, the store last: a folder that has it is whole.
fn move_in(from: &Path, to: &Path) -> Result<()> {
    let parts = PARTS.into_iter().chain(SECRET_PARTS).chain([STORE]);
    for part in parts.filter(|part| from.join(part).exists()) {
        fs::rename(from.join(part), to.join(part))
            .with_context(|| format!("cannot write {}", to.join(part).display()))?;
    }
    Ok(fs::remove_dir_all(from)?)
}

/// Packs the copied store and the parts of the folder that are there.
fn pack(
    root: &Path,
    store: &Path,
    parts: impl Iterator<Item = &'static str>,
    to: &Path,
) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(to)?;
    let mut archive = Builder::new(GzEncoder::new(file, Compression::fast()));
    archive.follow_symlinks(false);
    archive.append_path_with_name(store, STORE)?;
    for part in parts {
        add(&mut archive, &root.join(part), Path::new(part))?;
    }
    archive.into_inner()?.finish()?.sync_all()
}

/// Adds a file, or a folder with all that is in it. What a node deletes meanwhile is left out, and what it has not finished.
fn add(archive: &mut Builder<impl io::Write>, path: &Path, name: &Path) -> io::Result<()> {
    if name == Path::new(UNFINISHED) {
        return Ok(());
    }
    let added = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => add_folder(archive, path, name),
        Ok(found) if found.is_file() => add_file(archive, path, name, &found),
        Ok(_) => Ok(()),
        Err(error) => Err(error),
    };
    match added {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        added => added,
    }
}

fn add_folder(archive: &mut Builder<impl io::Write>, path: &Path, name: &Path) -> io::Result<()> {
    archive.append_dir(name, path)?;
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        add(archive, &entry.path(), &name.join(entry.file_name()))?;
    }
    Ok(())
}

/// Adds a file of the length that it had when it was found.
fn add_file(
    archive: &mut Builder<impl io::Write>,
    path: &Path,
    name: &Path,
    found: &Metadata,
) -> io::Result<()> {
    let mut content = File::open(path)?.take(found.len());
    let mut header = Header::new_gnu();
    header.set_metadata(found);
    archive.append_data(&mut header, name, &mut content)?;
    match content.limit() {
        0 => Ok(()),
        _ => Err(io::Error::other(format!(
            "{} became shorter meanwhile; try again",
            path.display()
        ))),
    }
}

/// Unpacks files and folders that a backup may have, and refuses everything else.
fn unpack(packed: File, root: &Path) -> Result<()> {
    let mut archive = Archive::new(GzDecoder::new(packed));
    archive.set_preserve_permissions(true);
    let mut has_store = false;
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        let kind = entry.header().entry_type();
        if !is_of_a_backup(&path) || !(kind.is_file() || kind.is_dir()) {
            bail!("it has `{}`, which no backup has", path.display());
        }
        has_store |= path == Path::new(STORE);
        entry.unpack_in(root)?;
    }
    // The checksum stands at the very end.
    io::copy(&mut archive.into_inner(), &mut io::sink())?;
    match has_store {
        true => Ok(()),
        false => bail!("it has no store"),
    }
}

fn is_of_a_backup(path: &Path) -> bool {
    let mut names = path.components();
    let Some(Component::Normal(first)) = names.next() else {
        return false;
    };
    let mut known = [STORE].into_iter().chain(PARTS).chain(SECRET_PARTS);
    known.any(|part| first == part) && names.all(|name| matches!(name, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_parts_of_a_data_folder_are_unpacked() {
        for known in [
            "headwater.db",
            "files/tenants/u_1",
            "apps/own.toml",
            "secret-key",
        ] {
            assert!(is_of_a_backup(Path::new(known)), "{known}");
        }
        for other in [
            "../headwater.db",
            "/etc/passwd",
            "files/../../x",
            "other",
            "",
        ] {
            assert!(!is_of_a_backup(Path::new(other)), "{other}");
        }
    }
}
