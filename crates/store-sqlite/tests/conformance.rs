//! The conformance suite of the contract, on files.

use std::{
    path::PathBuf,
    sync::{Arc, Weak},
};

use async_trait::async_trait;
use headwater_store::{Store, conformance::Factory};
use headwater_store_sqlite::SqliteStore;
use parking_lot::Mutex;
use tempfile::TempDir;

/// Makes stores in files of one folder, which goes with it.
struct Files {
    folder: TempDir,
    opened: Mutex<Vec<(Weak<dyn Store>, PathBuf)>>,
}

impl Files {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder for the test"),
            opened: Mutex::default(),
        }
    }

    fn open_file(&self, path: PathBuf) -> Arc<dyn Store> {
        let store: Arc<dyn Store> =
            Arc::new(SqliteStore::open(&path).expect("a store that nobody has open"));
        let mut opened = self.opened.lock();
        opened.push((Arc::downgrade(&store), path));
        store
    }
}

#[async_trait]
impl Factory for Files {
    async fn open(&self) -> Arc<dyn Store> {
        let number = self.opened.lock().len();
        self.open_file(self.folder.path().join(format!("{number}.db")))
    }

    async fn also_open(&self, store: &Arc<dyn Store>) -> Arc<dyn Store> {
        // The file admits one process, whose nodes share its only handle.
        Arc::clone(store)
    }

    async fn reopen(&self, old: Arc<dyn Store>) -> Arc<dyn Store> {
        assert_eq!(Arc::strong_count(&old), 1, "somebody else still uses it");
        let path = {
            let opened = self.opened.lock();
            let is_old =
                |store: &Weak<dyn Store>| std::ptr::addr_eq(store.as_ptr(), Arc::as_ptr(&old));
            let found = opened.iter().rfind(|(store, _)| is_old(store));
            found.expect("a store of this factory").1.clone()
        };
        drop(old);
        self.open_file(path)
    }
}

headwater_store::conformance_tests!(crate::Files::new());
