//! Pages of a listing (docs/api-design.md, "Pages").

/// The beginning of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Position<C> {
    /// At the first item of the listed order.
    First,
    /// Just behind the item with this cursor, further in the listed order.
    After(C),
    /// The page that ends just before the item with this cursor, still in listed order.
    Before(C),
}

/// A page of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest<C> {
    /// 1 to [`crate::limits::PAGE_LIMIT_MAX`].
    pub limit: u32,
    /// Its beginning.
    pub position: Position<C>,
}

impl<C> PageRequest<C> {
    /// The first page.
    pub fn first(limit: u32) -> Self {
        Self {
            limit,
            position: Position::First,
        }
    }
}

/// One page in listed order.
#[derive(Debug, Clone)]
pub struct Page<T> {
    /// All items of the filter, not only those of this page.
    pub total_count: u64,
    /// At most `limit` items.
    pub items: Vec<T>,
}
