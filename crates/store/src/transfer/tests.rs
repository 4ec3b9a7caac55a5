//! Copies between stores in memory, which may be wrong in one way each.

use std::collections::BTreeMap;

use async_trait::async_trait;
use parking_lot::Mutex;

use super::*;

#[derive(Default)]
struct Memory {
    tables: Vec<Table>,
    rows: Mutex<BTreeMap<String, Vec<Row>>>,
    numbers: Mutex<Numbers>,
    loses: Option<Row>,
    in_use: bool,
}

struct Left(Option<Vec<Row>>);

#[async_trait]
impl Rows for Left {
    async fn next(&mut self) -> Result<Option<Vec<Row>>, StoreError> {
        Ok(self.0.take())
    }
}

#[async_trait]
impl Tables for Memory {
    async fn tables(&self) -> Result<Vec<Table>, StoreError> {
        Ok(self.tables.clone())
    }

    async fn rows<'a>(&'a self, table: &Table) -> Result<Box<dyn Rows + 'a>, StoreError> {
        let rows = self.rows.lock().get(&table.name).cloned();
        Ok(Box::new(Left(rows)))
    }

    async fn numbers(&self) -> Result<Numbers, StoreError> {
        Ok(self.numbers.lock().clone())
    }

    async fn in_use(&self) -> Result<Option<String>, StoreError> {
        Ok(self.in_use.then(|| "a node runs on it".to_owned()))
    }
}

#[async_trait]
impl EmptyTables for Memory {
    async fn fill(&self, table: &Table, rows: &mut dyn Rows) -> Result<(), StoreError> {
        while let Some(mut batch) = rows.next().await? {
            batch.reverse();
            batch.retain(|row| Some(row) != self.loses.as_ref());
            let mut rows = self.rows.lock();
            rows.entry(table.name.clone()).or_default().extend(batch);
        }
        Ok(())
    }

    async fn set_numbers(&self, numbers: &Numbers) -> Result<(), StoreError> {
        *self.numbers.lock() = numbers.clone();
        Ok(())
    }

    async fn finish(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

fn row(name: &str) -> Row {
    vec![Cell::Integer(1), Cell::Text(name.to_owned())]
}

fn memory(rows: &[&str]) -> Memory {
    let columns = [("id", Kind::Integer), ("name", Kind::Text)];
    let table = Table {
        name: "users".to_owned(),
        columns: columns
            .map(|(name, kind)| (name.to_owned(), kind))
            .into_iter()
            .collect(),
        refers_to: Vec::new(),
    };
    let rows = rows.iter().map(|name| row(name)).collect();
    Memory {
        tables: vec![table],
        rows: Mutex::new(BTreeMap::from([("users".to_owned(), rows)])),
        ..Memory::default()
    }
}

async fn copied(from: &Memory, to: &Memory) -> Result<Vec<CopiedTable>, String> {
    let copied = copy(from, to, &|_, _, _| {}).await;
    copied.map_err(|error| error.to_string())
}

#[tokio::test]
async fn rows_are_the_same_whatever_their_order() {
    let (from, to) = (memory(&["ada", "grace"]), memory(&[]));
    from.numbers.lock().epochs = 7;
    let copied = copied(&from, &to).await.unwrap();
    let table = CopiedTable {
        name: "users".to_owned(),
        rows: 2,
    };
    assert_eq!(copied, [table]);
    let refused = refuse_rows(&copied).unwrap_err().to_string();
    assert!(refused.contains("rows in users (2)"), "{refused}");
    assert_eq!(to.rows.lock()["users"], [row("grace"), row("ada")]);
    assert_eq!(to.numbers.lock().epochs, 7);
}

#[tokio::test]
async fn a_copy_that_is_not_the_same_is_refused() {
    let from = memory(&["ada", "grace"]);
    let lost = Memory {
        loses: Some(row("ada")),
        ..memory(&[])
    };
    let further = memory(&["eve"]);
    for to in [lost, further] {
        let refused = copied(&from, &to).await.unwrap_err();
        assert!(
            refused.starts_with("table users is not the same"),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn tables_that_only_one_has_are_named() {
    let (from, mut to) = (memory(&[]), memory(&[]));
    to.tables.push(Table {
        name: "forgotten".to_owned(),
        columns: BTreeMap::new(),
        refers_to: Vec::new(),
    });
    let refused = copied(&from, &to).await.unwrap_err();
    assert!(
        refused.starts_with("the two schemas differ in forgotten;"),
        "{refused}"
    );
    to.tables.pop();
    to.tables[0].columns.remove("name");
    let refused = copied(&to, &from).await.unwrap_err();
    assert!(
        refused.starts_with("the two schemas differ in users;"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_store_in_use_is_left_alone() {
    let used = Memory {
        in_use: true,
        ..memory(&["ada"])
    };
    let refused = copied(&used, &memory(&[])).await.unwrap_err();
    assert!(refused.contains("store to copy is in use"), "{refused}");
    let refused = copied(&memory(&["ada"]), &used).await.unwrap_err();
    assert!(refused.contains("destination is in use"), "{refused}");
    assert_eq!(used.rows.lock()["users"].len(), 1);
}
