//! The envelope of every result (docs/api-design.md, "Envelopes").

use headwater_model::page::Page;
use headwater_platform::Scanned;
use serde::Serialize;
use utoipa::ToSchema;

/// One resource, or a listing that is not paginated.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Data<T> {
    pub(crate) data: T,
}

/// One page of a listing.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Paged<T> {
    page_info: PageInfo,
    data: Vec<T>,
}

/// The place of a page in its listing.
#[derive(Debug, Serialize, ToSchema)]
struct PageInfo {
    /// Items of the whole listing.
    total_count: u64,
    /// Items of this page.
    count: usize,
    /// Cursor of the first item, for `before`. Null on an empty page.
    #[schema(required)]
    start_cursor: Option<String>,
    /// Cursor of the last item, for `after`. Null on an empty page.
    #[schema(required)]
    end_cursor: Option<String>,
    /// Whether the search stopped before it had looked at everything, so that the page may be short or empty: go on with
    /// its cursor. Absent if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    is_cut: bool,
    /// Whether there are too many things to look at them all, so that others may belong to the listing. Absent if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    is_partial: bool,
}

impl<T> Paged<T> {
    /// The page with each item as it is shown and the cursor of each.
    pub(crate) fn new<I>(
        page: Page<I>,
        cursor: impl Fn(&I) -> String,
        show: impl FnMut(I) -> T,
    ) -> Self {
        let page_info = PageInfo {
            total_count: page.total_count,
            count: page.items.len(),
            start_cursor: page.items.first().map(&cursor),
            end_cursor: page.items.last().map(&cursor),
            is_cut: false,
            is_partial: false,
        };
        let data = page.items.into_iter().map(show).collect();
        Self { page_info, data }
    }

    /// The page of what was found among the first things of a kind.
    pub(crate) fn scanned<I>(
        scanned: Scanned<I>,
        cursor: impl Fn(&I) -> String,
        show: impl FnMut(I) -> T,
    ) -> Self {
        let mut paged = Self::new(scanned.page, cursor, show);
        paged.page_info.is_partial = !scanned.is_whole;
        paged
    }

    /// The page of a search that went from the newest on, or towards it, and stopped there.
    pub(crate) fn cut_at(mut self, cursor: String, is_towards_newest: bool) -> Self {
        self.page_info.is_cut = true;
        match is_towards_newest {
            true => self.page_info.start_cursor = Some(cursor),
            false => self.page_info.end_cursor = Some(cursor),
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(items: Vec<u8>) -> serde_json::Value {
        let page = Page {
            total_count: 9,
            items,
        };
        serde_json::to_value(Paged::new(page, u8::to_string, |item| item * 10)).unwrap()
    }

    #[test]
    fn a_page_of_what_was_looked_for_says_if_not_all_was_looked_at() {
        for is_whole in [true, false] {
            let page = Page {
                total_count: 1,
                items: vec![1_u8],
            };
            let scanned = Scanned { page, is_whole };
            let paged = Paged::scanned(scanned, u8::to_string, |item| item);
            let shown = serde_json::to_value(paged).unwrap();
            let partial = (!is_whole).then_some(json!(true));
            assert_eq!(shown["page_info"].get("is_partial"), partial.as_ref());
        }
    }

    #[test]
    fn a_page_that_was_cut_says_where_to_go_on() {
        let page = || Page {
            total_count: 9,
            items: vec![1, 2],
        };
        for (is_towards_newest, start, end) in [(false, "1", "7"), (true, "7", "2")] {
            let cut = Paged::new(page(), u8::to_string, |item| item);
            let cut = cut.cut_at("7".to_owned(), is_towards_newest);
            let info = json!({
                "total_count": 9, "count": 2, "start_cursor": start, "end_cursor": end, "is_cut": true,
            });
            assert_eq!(json!(cut)["page_info"], info);
        }
    }

    #[test]
    fn a_page_tells_where_it_begins_and_ends() {
        let info = json!({"total_count": 9, "count": 3, "start_cursor": "1", "end_cursor": "3"});
        assert_eq!(
            shown(vec![1, 2, 3]),
            json!({"page_info": info, "data": [10, 20, 30]})
        );
        let info = json!({"total_count": 9, "count": 0, "start_cursor": null, "end_cursor": null});
        assert_eq!(shown(vec![]), json!({"page_info": info, "data": []}));
    }
}
