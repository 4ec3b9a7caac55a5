//! Files in memory, as a storage that the platform can be given, and the platform's rules about files on it.

use std::{collections::BTreeMap, io, sync::Arc};

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use headwater_model::time::EpochMs;
use headwater_platform::{FileLink, PlatformError};
use headwater_store::{
    FileContent, FilePath, FileStorage, FileUsage, FileWriter, FolderEntry, FolderRange, Owner,
    StoredFile,
};
use parking_lot::Mutex;

use crate::world::World;

type ByPath = BTreeMap<(String, String), (StoredFile, Bytes)>;

#[derive(Default)]
pub(crate) struct MemoryFiles {
    files: Arc<Mutex<ByPath>>,
}

struct Opened(StoredFile, Bytes);

struct Writing {
    files: Arc<Mutex<ByPath>>,
    tenant: String,
    bytes: BytesMut,
}

#[async_trait]
impl FileContent for Opened {
    fn file(&self) -> &StoredFile {
        &self.0
    }

    async fn read(&self, offset: u64, length: usize) -> io::Result<Bytes> {
        let from = self.1.len().min(offset as usize);
        let to = self.1.len().min(from + length);
        Ok(self.1.slice(from..to))
    }
}

#[async_trait]
impl FileWriter for Writing {
    async fn write(&mut self, bytes: Bytes) -> io::Result<()> {
        self.bytes.extend_from_slice(&bytes);
        Ok(())
    }

    async fn commit(self: Box<Self>, file: StoredFile, most: FileUsage) -> io::Result<bool> {
        let mut files = self.files.lock();
        let key = (self.tenant, file.path.to_string());
        let replaced = files.get(&key).map(|(file, _)| file.size);
        let has_room = usage(&files, &key.0).with(file.size, replaced).fits(most);
        if has_room {
            files.insert(key, (file, self.bytes.freeze()));
        }
        Ok(has_room)
    }
}

fn usage(files: &ByPath, tenant: &str) -> FileUsage {
    let theirs = files.iter().filter(|((of, _), _)| of == tenant);
    theirs.fold(FileUsage::default(), |usage, (_, (file, _))| {
        usage.with(file.size, None)
    })
}

#[async_trait]
impl FileStorage for MemoryFiles {
    async fn open(
        &self,
        tenant: &str,
        path: &FilePath,
    ) -> io::Result<Option<Box<dyn FileContent>>> {
        let files = self.files.lock();
        let found = files.get(&(tenant.to_owned(), path.to_string())).cloned();
        Ok(found.map(|(file, bytes)| Box::new(Opened(file, bytes)) as Box<dyn FileContent>))
    }

    async fn list(&self, tenant: &str, range: FolderRange) -> io::Result<Vec<FolderEntry>> {
        let prefix = range.prefix();
        let mut entries = BTreeMap::new();
        for ((of, path), (file, _)) in &*self.files.lock() {
            let Some(below) = path.strip_prefix(&prefix).filter(|_| of == tenant) else {
                continue;
            };
            let entry = match below.split_once('/') {
                Some((name, _)) => FolderEntry::Folder {
                    path: format!("{prefix}{name}"),
                },
                None => FolderEntry::File {
                    path: path.clone(),
                    size: file.size,
                    modified_at_ms: file.modified_at_ms,
                },
            };
            entries.insert(entry.key(), entry);
        }
        let behind = |key: &String| range.after.as_ref().is_none_or(|after| key > after);
        let entries = entries.into_iter().filter(|(key, _)| behind(key));
        Ok(entries.map(|(_, entry)| entry).take(range.limit).collect())
    }

    async fn usage(&self, tenant: &str) -> io::Result<FileUsage> {
        Ok(usage(&self.files.lock(), tenant))
    }

    async fn begin(&self, tenant: &str) -> io::Result<Box<dyn FileWriter>> {
        Ok(Box::new(Writing {
            files: Arc::clone(&self.files),
            tenant: tenant.to_owned(),
            bytes: BytesMut::new(),
        }))
    }

    async fn delete(&self, tenant: &str, path: &FilePath) -> io::Result<bool> {
        let key = (tenant.to_owned(), path.to_string());
        Ok(self.files.lock().remove(&key).is_some())
    }

    async fn delete_all(&self, tenant: &str) -> io::Result<()> {
        self.files.lock().retain(|(of, _), _| of != tenant);
        Ok(())
    }

    async fn delete_expired(&self, now_ms: EpochMs) -> io::Result<u64> {
        let mut files = self.files.lock();
        let before = files.len();
        files.retain(|_, (file, _)| file.expires_at_ms.is_none_or(|end_ms| now_ms < end_ms));
        Ok((before - files.len()) as u64)
    }

    async fn tenants(&self) -> io::Result<Vec<String>> {
        let files = self.files.lock();
        let mut tenants: Vec<_> = files.keys().map(|(tenant, _)| tenant.clone()).collect();
        tenants.dedup();
        Ok(tenants)
    }
}

fn owner(world: &World) -> Owner {
    Owner {
        user_id: world.caller.user_id().clone(),
        workspace_id: None,
    }
}

#[tokio::test]
async fn the_url_of_a_file_of_an_event_leads_to_it_for_thirty_days() {
    let world = World::new().await;
    let (files, owner) = (world.platform.files(), owner(&world));
    let bytes = Bytes::from_static(b"of an event");
    let url = files.put_for_event(&owner, "../a b.txt", bytes).await;
    let url = url.unwrap();
    let (site, token) = url.rsplit_once("/f/").unwrap();
    assert_eq!(site, world.platform.config().public_url);
    let FileLink::Found(content) = files.open(token).await.unwrap() else {
        panic!("it is over at once");
    };
    assert_eq!(content.file().path.name(), "a b.txt");
    assert_eq!(content.read(3, 2).await.unwrap(), "an");
    let elsewhere = files.open(&format!("{token}x")).await;
    assert!(matches!(elsewhere, Err(PlatformError::NotFound { .. })));
    world.clock.advance(30 * 24 * 60 * 60 * 1000);
    assert!(matches!(files.open(token).await, Ok(FileLink::Expired)));
    assert_eq!(files.sweep().await, 1);
    assert_eq!(files.sweep().await, 0, "looks once an hour");
}

#[tokio::test]
async fn the_files_of_an_owner_have_a_bound() {
    let world = World::new().await;
    let (files, owner) = (world.platform.files(), owner(&world));
    let half = || Bytes::from(vec![0; 500_000]);
    files.put_for_event(&owner, "1", half()).await.unwrap();
    files.put_for_event(&owner, "2", half()).await.unwrap();
    let third = files.put_for_event(&owner, "3", Bytes::from_static(b"1"));
    let message = third.await.unwrap_err().to_string();
    assert!(message.contains("--files-per-owner-gb"), "{message}");
}
