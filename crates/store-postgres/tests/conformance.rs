//! The conformance suite of the contract, on a real server.

#[path = "harness/server.rs"]
mod server;

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use headwater_store::{Store, conformance::Factory};
use headwater_store_postgres::PostgresStore;
use parking_lot::Mutex;
use server::Database;

/// A store with its database.
type Opened = (Weak<dyn Store>, Arc<Database>);

/// Makes stores in databases of their own, which go with it.
#[derive(Default)]
struct Databases {
    opened: Mutex<Vec<Opened>>,
}

impl Databases {
    async fn open_database(&self, database: Arc<Database>) -> Arc<dyn Store> {
        let opened = PostgresStore::open(&database.url()).await;
        let store: Arc<dyn Store> = Arc::new(opened.expect("a database of the test"));
        let mut opened = self.opened.lock();
        opened.push((Arc::downgrade(&store), database));
        store
    }

    fn database_of(&self, store: &Arc<dyn Store>) -> Arc<Database> {
        let opened = self.opened.lock();
        let is_it =
            |opened: &Weak<dyn Store>| std::ptr::addr_eq(opened.as_ptr(), Arc::as_ptr(store));
        let found = opened.iter().rfind(|(opened, _)| is_it(opened));
        Arc::clone(&found.expect("a store of this factory").1)
    }
}

#[async_trait]
impl Factory for Databases {
    async fn open(&self) -> Arc<dyn Store> {
        self.open_database(Arc::new(Database::create().await)).await
    }

    async fn also_open(&self, store: &Arc<dyn Store>) -> Arc<dyn Store> {
        self.open_database(self.database_of(store)).await
    }

    async fn reopen(&self, old: Arc<dyn Store>) -> Arc<dyn Store> {
        assert_eq!(Arc::strong_count(&old), 1, "somebody else still uses it");
        let database = self.database_of(&old);
        drop(old);
        self.open_database(database).await
    }
}

headwater_store::conformance_tests!(crate::Databases::default());
