//! Files of owners, which outlive runs: those of `$.files`, and those that the node keeps of events.
//!
//! Responsible for limits, files in the making, and the URLs to download files. Not responsible for the bytes
//! (`store::file_storage`), nor for the moment at which a step asks. A file that a step has written stays, also if the step fails
//! afterwards: files are not part of a step's commit.

mod draft;
mod fault;
mod link;
mod requests;
mod room;
mod uploads;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use chrono::DateTime;
use headwater_model::time::EpochMs;
use headwater_store::{FileContent, FilePath, FileStorage, FileUsage, Owner};
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use self::{
    draft::Draft,
    fault::Fault,
    link::{Link, LinkKey},
    room::Room,
    uploads::Uploads,
};
use crate::{core::Core, error::PlatformError, signing_key::InstallationKey};

/// Bytes of a file at most.
const FILE_BYTES_MAX: u64 = 5_000_000_000;
/// Files of an owner at most: their names are held in memory.
const FILES_MAX: u64 = 100_000;
/// The time that a URL leads to its file, unless the file itself has an end.
const LINK_VALID: Duration = Duration::from_secs(30 * 60);
/// The time that a file of an event is kept.
pub(crate) const EVENT_FILE_KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// The time after which an upload that nobody continues is given up.
const UPLOAD_IDLE: Duration = Duration::from_secs(60 * 60);
/// The time between two looks for files that have expired.
const SWEPT_EVERY: Duration = Duration::from_secs(60 * 60);
/// Pieces of files in memory at once.
const PIECES_AT_ONCE: usize = 64;
/// The folder of files of events.
const EVENT_FOLDER: &str = ".events";
/// Bytes of a name that the sender of an event has chosen.
const EVENT_NAME_BYTES: usize = 200;

/// The files of all owners.
pub struct Files {
    core: Arc<Core>,
    storage: Arc<dyn FileStorage>,
    key: LinkKey,
    room: Arc<Room>,
    uploads: Uploads,
    pieces: Semaphore,
    sweep_due: Mutex<EpochMs>,
}

/// A file of an event.
#[derive(Debug)]
pub(crate) struct EventFile {
    path: FilePath,
    /// The URL that leads to it as long as it is kept.
    pub(crate) url: String,
}

/// The place that the URL of a file leads to.
pub enum FileLink {
    /// The file as it is now.
    Found(Box<dyn FileContent>),
    /// The URL's time is over.
    Expired,
}

impl Files {
    pub(crate) fn new(
        core: Arc<Core>,
        storage: Arc<dyn FileStorage>,
        key: &InstallationKey,
    ) -> Self {
        Self {
            core,
            storage,
            key: LinkKey(key.of("files")),
            room: Arc::default(),
            uploads: Uploads::default(),
            pieces: Semaphore::new(PIECES_AT_ONCE),
            sweep_due: Mutex::new(EpochMs(0)),
        }
    }

    /// A URL at which anybody can download the file for half an hour.
    ///
    /// # Errors
    /// `NotFound` for a path without a file, `Invalid` for a text that is no path.
    pub async fn url(&self, owner: &Owner, path: &str) -> Result<String, PlatformError> {
        Ok(self.link_to(owner.tenant(), path).await?)
    }

    /// The file that the token of a URL names.
    ///
    /// # Errors
    /// `NotFound` for a token that this installation did not create, and for a file that was deleted.
    pub async fn open(&self, token: &str) -> Result<FileLink, PlatformError> {
        let not_found = || PlatformError::not_found("file", "of this URL");
        let link = self.key.link(token).ok_or_else(not_found)?;
        if link.expires_at_ms <= self.core.env.now_ms() {
            return Ok(FileLink::Expired);
        }
        let found = self.found(&link.tenant, &link.path).await?;
        found.map(FileLink::Found).ok_or_else(not_found)
    }

    /// Keeps bytes that came with an event for 30 days, and returns a URL that leads to them as long. The owner sees them in
    /// the folder `.events`, and may delete them earlier.
    ///
    /// # Errors
    /// `Conflict` if the owner's files take all the room that they may, `Unavailable` if the storage does not work.
    pub async fn put_for_event(
        &self,
        owner: &Owner,
        name: &str,
        bytes: Bytes,
    ) -> Result<String, PlatformError> {
        let file = self.put_for(owner, name, bytes, EVENT_FILE_KEPT).await?;
        Ok(file.url)
    }

    /// The same for files that can be taken back, and for another time.
    ///
    /// # Errors
    /// As [`Files::put_for_event`].
    pub(crate) async fn put_for(
        &self,
        owner: &Owner,
        name: &str,
        bytes: Bytes,
        kept: Duration,
    ) -> Result<EventFile, PlatformError> {
        let env = &self.core.env;
        let now_ms = env.now_ms();
        let expires_at_ms = now_ms + kept;
        let path = format!(
            "{EVENT_FOLDER}/{}/{}/{}",
            day(now_ms),
            env.token(),
            event_name(name)
        );
        let path: FilePath = path.parse().map_err(Fault::from)?;
        let tenant = owner.tenant();
        let mut draft = self
            .begin(tenant, path.clone(), Some(expires_at_ms))
            .await?;
        self.append(&mut draft, tenant, bytes).await?;
        self.put(draft, now_ms).await?;
        let url = self.link(Link {
            tenant: tenant.to_owned(),
            path: path.clone(),
            expires_at_ms,
        });
        Ok(EventFile { path, url })
    }

    /// Deletes files of an event that was not taken. One that cannot be deleted goes when its time is over.
    pub(crate) async fn take_back(&self, owner: &Owner, files: &[EventFile]) {
        for file in files {
            if let Err(error) = self.storage.delete(owner.tenant(), &file.path).await {
                tracing::debug!(%error, "cannot delete a file of an event that was not taken");
            }
        }
    }

    /// Deletes all files of a tenant, which is gone.
    pub(crate) async fn delete_all(&self, tenant: &str) {
        self.uploads.forget(tenant);
        if let Err(error) = self.storage.delete_all(tenant).await {
            tracing::warn!(tenant, %error, "files of a user who was deleted are left, because they cannot be deleted");
        }
    }

    /// Deletes files that have expired, gives up uploads that nobody continues, and returns the number of both. Looks no more
    /// often than once an hour.
    pub async fn sweep(&self) -> u64 {
        let now_ms = self.core.env.now_ms();
        {
            let mut due = self.sweep_due.lock();
            if now_ms < *due {
                return 0;
            }
            *due = now_ms + SWEPT_EVERY;
        }
        let given_up = self.uploads.give_up(now_ms, UPLOAD_IDLE);
        match self.storage.delete_expired(now_ms).await {
            Ok(deleted) => deleted + given_up,
            Err(error) => {
                tracing::warn!(%error, "cannot delete files that have expired; tries again in an hour");
                given_up
            }
        }
    }

    /// The file at a path, unless it has expired.
    async fn found(
        &self,
        tenant: &str,
        path: &FilePath,
    ) -> Result<Option<Box<dyn FileContent>>, Fault> {
        let now_ms = self.core.env.now_ms();
        let content = self.storage.open(tenant, path).await?;
        Ok(content.filter(|content| {
            let end = content.file().expires_at_ms;
            end.is_none_or(|end_ms| now_ms < end_ms)
        }))
    }

    async fn link_to(&self, tenant: &str, path: &str) -> Result<String, Fault> {
        let path: FilePath = path.parse()?;
        let content = self.found(tenant, &path).await?;
        let content = content.ok_or_else(|| Fault::missing(&path))?;
        let end_ms = self.core.env.now_ms() + LINK_VALID;
        let expires_at_ms = content.file().expires_at_ms;
        Ok(self.link(Link {
            tenant: tenant.to_owned(),
            path,
            expires_at_ms: expires_at_ms.map_or(end_ms, |file_ends_ms| file_ends_ms.min(end_ms)),
        }))
    }

    fn link(&self, link: Link) -> String {
        format!(
            "{}/f/{}",
            self.core.config.public_url,
            self.key.token(&link)
        )
    }

    /// Begins a file within its owner's share.
    async fn begin(
        &self,
        tenant: &str,
        path: FilePath,
        expires_at_ms: Option<EpochMs>,
    ) -> Result<Draft, Fault> {
        let used = self.storage.usage(tenant).await?;
        let share = Room::share(&self.room, tenant, FILES_MAX.saturating_sub(used.files));
        let share = share.ok_or_else(|| {
            Fault::Refused(format!(
                "there are already {FILES_MAX} files, which is the limit; delete some first"
            ))
        })?;
        let writer = self.storage.begin(tenant).await?;
        Ok(Draft::new(path, expires_at_ms, writer, share))
    }

    /// Appends bytes to a file in the making, if they fit into its owner's share.
    async fn append(&self, draft: &mut Draft, tenant: &str, bytes: Bytes) -> Result<(), Fault> {
        let used = self.storage.usage(tenant).await?;
        let most = self.most().bytes;
        if draft.size_with(&bytes) > FILE_BYTES_MAX {
            let reason = format!("the file has more than {FILE_BYTES_MAX} bytes; split it");
            return Err(Fault::Refused(reason));
        }
        if !draft.fits(&bytes, most.saturating_sub(used.bytes)) {
            return Err(self.full());
        }
        draft.write(bytes).await
    }

    /// Puts a finished file at its path, and returns its size. Other nodes may have filled the owner's share meanwhile.
    async fn put(&self, draft: Draft, now_ms: EpochMs) -> Result<u64, Fault> {
        let size = draft.commit(now_ms, self.most()).await?;
        size.ok_or_else(|| self.full())
    }

    /// The files that one owner may have.
    fn most(&self) -> FileUsage {
        FileUsage {
            files: FILES_MAX,
            bytes: self.core.config.file_bytes_per_owner,
        }
    }

    fn full(&self) -> Fault {
        let FileUsage { files, bytes } = self.most();
        Fault::Refused(format!(
            "all files together would be more than {files}, or have more than {bytes} bytes; delete some first, or have \
             the operator raise --files-per-owner-gb"
        ))
    }
}

/// The date in UTC.
fn day(now_ms: EpochMs) -> String {
    let now = i64::try_from(now_ms.0)
        .ok()
        .and_then(DateTime::from_timestamp_millis);
    now.unwrap_or_default().date_naive().to_string()
}

/// The last segment of a name, cut to a bound; `file` if there is none.
fn event_name(name: &str) -> String {
    let name = name.replace('\0', "").replace('\\', "/");
    let name = name.parse::<FilePath>();
    let name = name.as_ref().map_or("file", FilePath::name);
    let end = name.floor_char_boundary(EVENT_NAME_BYTES.min(name.len()));
    name[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_events_stay_in_their_folder() {
        for (name, kept) in [
            ("invoice.pdf", "invoice.pdf"),
            ("/etc/passwd", "passwd"),
            (r"C:\Users\me\a.txt", "a.txt"),
            ("..", "file"),
            ("", "file"),
            ("a\0b", "ab"),
        ] {
            assert_eq!(event_name(name), kept, "{name}");
        }
        let long = "ü".repeat(2_000);
        assert_eq!(
            event_name(&long),
            "file",
            "a path that is too long has no name to keep"
        );
        let long = format!("x{}", "ü".repeat(300));
        assert_eq!(event_name(&long).len(), EVENT_NAME_BYTES - 1);
    }

    #[test]
    fn a_day_is_one_of_utc() {
        assert_eq!(day(EpochMs(1_700_000_000_000)), "2023-11-14");
    }
}
