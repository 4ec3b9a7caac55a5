//! Requests of steps for files, and their answers.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use headwater_engine::{ServiceRequest, StoreReply};
use headwater_model::time::EpochMs;
use headwater_store::{FilePath, FolderEntry, FolderRange, Owner, StoredFile};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::{Files, fault::Fault, uploads};

/// Bytes of a piece of a file at most, as text or not.
const PIECE_BYTES_MAX: usize = 1024 * 1024;
/// Entries of a folder in one answer.
const ENTRIES_PER_PAGE: usize = 1_000;

#[derive(Deserialize)]
struct AtPath {
    path: String,
}

#[derive(Deserialize)]
struct Read {
    path: String,
    offset: u64,
    length: usize,
    /// The content that earlier pieces were of.
    #[serde(default)]
    hash: Option<String>,
}

#[derive(Deserialize)]
struct Write {
    upload: String,
    data: String,
}

#[derive(Deserialize)]
struct OfUpload {
    upload: String,
}

#[derive(Deserialize)]
struct List {
    path: String,
    #[serde(default)]
    after: Option<String>,
}

#[derive(Serialize)]
struct Stat {
    size: u64,
    modified_at_ms: EpochMs,
}

#[derive(Serialize)]
struct Piece<'a> {
    data: String,
    is_end: bool,
    hash: &'a str,
}

#[derive(Serialize)]
struct Begun {
    upload: String,
}

#[derive(Serialize)]
struct Committed {
    size: u64,
}

#[derive(Serialize)]
struct Url {
    url: String,
}

#[derive(Serialize)]
struct Listing {
    entries: Vec<Entry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

#[derive(Serialize)]
struct Entry {
    path: String,
    is_directory: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified_at_ms: Option<EpochMs>,
}

impl From<FolderEntry> for Entry {
    fn from(entry: FolderEntry) -> Self {
        match entry {
            FolderEntry::File {
                path,
                size,
                modified_at_ms,
            } => Self {
                path,
                is_directory: false,
                size: Some(size),
                modified_at_ms: Some(modified_at_ms),
            },
            FolderEntry::Folder { path } => Self {
                path,
                is_directory: true,
                size: None,
                modified_at_ms: None,
            },
        }
    }
}

type Answer = Result<Box<RawValue>, Fault>;

impl Files {
    /// Answers a request of a step whose workflow has this owner.
    pub async fn serve(&self, owner: &Owner, request: ServiceRequest) {
        let ServiceRequest {
            operation,
            arguments,
            mut reply,
            ..
        } = request;
        reply.room().await;
        let answer = self
            .answer(owner.tenant(), &operation, arguments.get())
            .await;
        let answer: StoreReply = answer.map(Some).map_err(Fault::told);
        reply.answer(answer);
    }

    async fn answer(&self, tenant: &str, operation: &str, arguments: &str) -> Answer {
        match operation {
            "stat" => self.stat(tenant, parsed(arguments)?).await,
            "read" => self.read(tenant, parsed(arguments)?).await,
            "begin" => self.begin_upload(tenant, parsed(arguments)?).await,
            "write" => self.write(tenant, arguments).await,
            "commit" => self.commit(tenant, parsed(arguments)?).await,
            "abort" => {
                let OfUpload { upload } = parsed(arguments)?;
                self.uploads.remove(&upload, tenant);
                json(&())
            }
            "delete" => self.delete(tenant, parsed(arguments)?).await,
            "list" => self.list(tenant, parsed(arguments)?).await,
            "url" => {
                let AtPath { path } = parsed(arguments)?;
                let url = self.link_to(tenant, &path).await?;
                json(&Url { url })
            }
            other => Err(Fault::Refused(format!(
                "there is no operation `{other}` of files"
            ))),
        }
    }

    async fn stat(&self, tenant: &str, AtPath { path }: AtPath) -> Answer {
        let found = self.found(tenant, &path.parse()?).await?;
        json(&found.map(|content| Stat {
            size: content.file().size,
            modified_at_ms: content.file().modified_at_ms,
        }))
    }

    async fn read(&self, tenant: &str, read: Read) -> Answer {
        let path: FilePath = read.path.parse()?;
        let found = self.found(tenant, &path).await?;
        let content = found.ok_or_else(|| Fault::missing(&path))?;
        let StoredFile { size, hash, .. } = content.file();
        if read.hash.is_some_and(|earlier| earlier != *hash) {
            let reason = format!("`{path}` was replaced while it was read; read it again");
            return Err(Fault::Refused(reason));
        }
        let _in_memory = self.pieces.acquire().await;
        let bytes = content
            .read(read.offset, read.length.min(PIECE_BYTES_MAX))
            .await?;
        let end = read.offset.saturating_add(bytes.len() as u64);
        json(&Piece {
            data: STANDARD.encode(&bytes),
            is_end: end >= *size,
            hash,
        })
    }

    async fn begin_upload(&self, tenant: &str, AtPath { path }: AtPath) -> Answer {
        let draft = self.begin(tenant, path.parse()?, None).await?;
        let env = &self.core.env;
        let upload = env.token();
        self.uploads
            .add(upload.clone(), tenant, draft, env.now_ms())?;
        json(&Begun { upload })
    }

    async fn write(&self, tenant: &str, arguments: &str) -> Answer {
        let _in_memory = self.pieces.acquire().await;
        let Write { upload: name, data } = parsed(arguments)?;
        if data.len() > PIECE_BYTES_MAX {
            let reason = format!(
                "a piece has more than {PIECE_BYTES_MAX} bytes of base64; send smaller ones"
            );
            return Err(Fault::Refused(reason));
        }
        let bytes = STANDARD.decode(data);
        let bytes =
            bytes.map_err(|error| Fault::Refused(format!("`data` is not base64: {error}")))?;
        let upload = self.uploads.get(&name, tenant, self.core.env.now_ms())?;
        let mut draft = upload.lock().await;
        let Some(open) = draft.as_mut() else {
            return Err(uploads::gone());
        };
        let appended = self.append(open, tenant, Bytes::from(bytes)).await;
        if appended.is_err() {
            // A file with a hole is worth nothing.
            *draft = None;
            self.uploads.remove(&name, tenant);
        }
        appended?;
        json(&())
    }

    async fn commit(&self, tenant: &str, OfUpload { upload: name }: OfUpload) -> Answer {
        let upload = self
            .uploads
            .remove(&name, tenant)
            .ok_or_else(uploads::gone)?;
        let draft = upload.lock().await.take().ok_or_else(uploads::gone)?;
        let size = self.put(draft, self.core.env.now_ms()).await?;
        json(&Committed { size })
    }

    async fn delete(&self, tenant: &str, AtPath { path }: AtPath) -> Answer {
        let path: FilePath = path.parse()?;
        if !self.storage.delete(tenant, &path).await? {
            let within = FolderRange {
                folder: Some(path.clone()),
                after: None,
                limit: 1,
            };
            if !self.storage.list(tenant, within).await?.is_empty() {
                let reason = format!("`{path}` is a folder; delete the files in it one by one");
                return Err(Fault::Refused(reason));
            }
        }
        json(&())
    }

    async fn list(&self, tenant: &str, List { path, after }: List) -> Answer {
        let range = FolderRange {
            folder: FilePath::folder(&path)?,
            after,
            limit: ENTRIES_PER_PAGE,
        };
        let entries = self.storage.list(tenant, range).await?;
        let is_whole = entries.len() < ENTRIES_PER_PAGE;
        let next = entries.last().filter(|_| !is_whole).map(FolderEntry::key);
        let entries = entries.into_iter().map(Entry::from).collect();
        json(&Listing { entries, next })
    }
}

fn parsed<'a, T: Deserialize<'a>>(arguments: &'a str) -> Result<T, Fault> {
    serde_json::from_str(arguments)
        .map_err(|error| Fault::Refused(format!("the arguments are malformed: {error}")))
}

fn json(value: &impl Serialize) -> Answer {
    to_raw_value(value).map_err(|error| Fault::Refused(error.to_string()))
}
