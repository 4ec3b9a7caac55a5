//! Sums by which the rows of a table are compared, whatever order they come in.

use async_trait::async_trait;
use sha2::{Digest as _, Sha256};

use super::{cell::Row, contract::Rows};
use crate::StoreError;

/// The number of rows, and the sum of their hashes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) rows: u64,
    hashes: u128,
}

impl Sum {
    fn add(&mut self, row: &Row) {
        let mut hash = Sha256::new();
        for cell in row {
            cell.feed(|bytes| hash.update(bytes));
        }
        let hash: [u8; 32] = hash.finalize().into();
        let [first, second] = [&hash[..16], &hash[16..]].map(|half| {
            let half = half.try_into().expect("a hash has two halves of 16 bytes");
            u128::from_le_bytes(half)
        });
        self.rows += 1;
        self.hashes = self.hashes.wrapping_add(first ^ second);
    }
}

/// Rows that are added up as they pass.
pub(super) struct Summed<'a, H> {
    rows: Box<dyn Rows + 'a>,
    sum: Sum,
    heard: H,
}

impl<'a, H> Summed<'a, H> {
    pub(super) fn new(rows: Box<dyn Rows + 'a>, heard: H) -> Self {
        Self {
            rows,
            sum: Sum::default(),
            heard,
        }
    }

    /// The sum of those that have passed.
    pub(super) fn sum(&self) -> Sum {
        self.sum
    }
}

#[async_trait]
impl<H: Fn(u64) + Send> Rows for Summed<'_, H> {
    async fn next(&mut self) -> Result<Option<Vec<Row>>, StoreError> {
        let rows = self.rows.next().await?;
        for row in rows.iter().flatten() {
            self.sum.add(row);
        }
        (self.heard)(self.sum.rows);
        Ok(rows)
    }
}
