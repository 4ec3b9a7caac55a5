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

    /// The request for the page behind the items that this one read; `None` if they are the last, being fewer than it asked
    /// for.
    #[must_use]
    pub fn behind<T>(&self, items: &[T], cursor: impl Fn(&T) -> C) -> Option<Self> {
        let last = items.last().filter(|_| items.len() >= self.limit as usize);
        last.map(|last| Self {
            limit: self.limit,
            position: Position::After(cursor(last)),
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_page_has_one_behind_it_and_a_shorter_one_has_none() {
        let request = PageRequest::first(2);
        let next = request.behind(&[1, 7], |item| *item);
        let expected = PageRequest {
            limit: 2,
            position: Position::After(7),
        };
        assert_eq!(next, Some(expected));
        assert_eq!(request.behind(&[1], |item| *item), None);
        assert_eq!(request.behind(&[], |item: &i32| *item), None);
    }
}
