//! Files in a folder: the suite of every storage, and what is the folder's own.

use std::sync::Arc;

use bytes::Bytes;
use headwater_store::{StoredFile, conformance::FilesFactory};
use tempfile::TempDir;

use super::*;

/// A folder for the storages of one test.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn files(&self) -> FolderOfFiles {
        FolderOfFiles::open(self.0.path().into()).unwrap()
    }
}

#[async_trait]
impl FilesFactory for Folder {
    async fn open(&self) -> Arc<dyn FileStorage> {
        Arc::new(self.files())
    }

    async fn reopen(&self, _: Arc<dyn FileStorage>) -> Arc<dyn FileStorage> {
        Arc::new(self.files())
    }
}

headwater_store::files_conformance_tests!(crate::serve::files::tests::Folder::new());

#[tokio::test]
async fn nothing_is_left_of_a_file_that_was_not_finished() {
    let folder = Folder::new();
    let uploads = || names(&folder.0.path().join("uploads")).unwrap();
    let files = folder.files();
    drop(files.begin("u_1").await.unwrap());
    assert!(uploads().is_empty());
    let unfinished = files.begin("u_1").await.unwrap();
    assert_eq!(uploads().len(), 1);
    let _restarted = folder.files();
    assert!(uploads().is_empty());
    drop(unfinished);
}

#[tokio::test]
async fn a_damaged_file_is_left_alone() {
    let folder = Folder::new();
    let mut writer = folder.files().begin("u_1").await.unwrap();
    writer.write(Bytes::from_static(b"12")).await.unwrap();
    let whole = StoredFile {
        path: "whole".parse().unwrap(),
        size: 2,
        modified_at_ms: EpochMs(1),
        hash: "5891".to_owned(),
        expires_at_ms: None,
    };
    let most = FileUsage { files: 1, bytes: 2 };
    assert!(writer.commit(whole, most).await.unwrap());
    let kept = folder.0.path().join("tenants/u_1/kept");
    fs::write(kept.join("damaged"), "no description").unwrap();
    assert_eq!(folder.files().usage("u_1").await.unwrap().files, 1);
    assert!(kept.join("damaged").exists());
}

#[tokio::test]
async fn a_tenant_is_never_a_path() {
    let files = Folder::new().files();
    for tenant in ["", "..", "u/1", "u\0"] {
        assert!(files.usage(tenant).await.is_err(), "{tenant:?}");
    }
}
