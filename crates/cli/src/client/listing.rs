//! Lists read on over several pages.

use anyhow::Result;
use serde_json::Value;

use super::Client;
use super::page::Page;

/// The most the API gives at once.
const PAGE_LIMIT: usize = 100;

/// The parameters of a filter, without those that were not given.
pub(crate) fn given<'a>(
    filter: impl IntoIterator<Item = (&'a str, Option<String>)>,
) -> Vec<(&'a str, String)> {
    let filter = filter.into_iter();
    let given = filter.filter_map(|(field, value)| Some((field, value?)));
    given.collect()
}

impl Client {
    /// Every item of a list, in listed order.
    pub(crate) async fn list(&self, path: &[&str]) -> Result<Vec<Value>> {
        Ok(self.first(path, usize::MAX, &[]).await?.data)
    }

    /// The first `count` items of a list, in listed order, read over as many pages as it takes
    /// and handed out as one.
    pub(crate) async fn first(
        &self,
        path: &[&str],
        count: usize,
        filter: &[(&str, String)],
    ) -> Result<Page> {
        self.first_while(path, count, filter, |_| true).await
    }

    /// The same up to the first item that is not wanted.
    pub(crate) async fn first_while(
        &self,
        path: &[&str],
        count: usize,
        filter: &[(&str, String)],
        is_wanted: impl Fn(&Value) -> bool,
    ) -> Result<Page> {
        let mut whole = Page::default();
        while whole.data.len() < count {
            let limit = PAGE_LIMIT.min(count - whole.data.len());
            let mut query = filter.to_vec();
            query.push(("limit", limit.to_string()));
            let after = whole.page_info.end_cursor.clone();
            query.extend(after.clone().map(|cursor| ("after", cursor)));
            let page = self.page(path, &query).await?;
            if whole.data.is_empty() {
                whole.page_info.start_cursor = page.page_info.start_cursor;
            }
            whole.page_info.is_partial |= page.page_info.is_partial;
            let full = page.data.len() >= limit || page.page_info.is_cut;
            let unwanted = page.data.iter().position(|item| !is_wanted(item));
            let wanted = unwanted.unwrap_or(page.data.len());
            whole.data.extend(page.data.into_iter().take(wanted));
            let next = page.page_info.end_cursor;
            // A cursor that stays where it was would page for ever.
            if unwanted.is_some() || !full || next.is_none() || next == after {
                break;
            }
            whole.page_info.end_cursor = next;
        }
        Ok(whole)
    }
}
