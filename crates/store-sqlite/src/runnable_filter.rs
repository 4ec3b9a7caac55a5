//! The condition of a filter of sources or workflows, as SQL.

use headwater_store::{RunnableFilter, RunnableScope, Standing, StoreError};

use crate::{page::Listing, row::to_json};

/// A condition, and the words in it as a JSON list.
pub(crate) struct Condition<'a> {
    filter: &'a RunnableFilter,
    words: String,
}

impl<'a> Condition<'a> {
    pub(crate) fn new(filter: &'a RunnableFilter) -> Result<Self, StoreError> {
        let words = filter.wanted.words.iter().map(|word| word.to_lowercase());
        let words = to_json(&words.collect::<Vec<_>>())?;
        Ok(Self { filter, words })
    }

    /// The rows of `table` that are wanted, but for those in one of the `hidden` states (quoted, with commas).
    pub(crate) fn listing(&self, table: &'static str, hidden: &str) -> Listing<'_> {
        let (owner, id) = match &self.filter.scope {
            RunnableScope::User(id) => ("user_id", id.as_str()),
            RunnableScope::Workspace(id) => ("workspace_id", id.as_str()),
        };
        let mut filter = format!("{owner} = ?1 AND state NOT IN ({hidden})");
        let mut parameters = vec![id];
        match self.filter.wanted.standing {
            None => {}
            Some(Standing::Active) => filter.push_str(" AND state = 'active'"),
            Some(Standing::Paused) => filter.push_str(" AND state = 'inactive'"),
            Some(Standing::Failing) => {
                let newest = |failed: u8| {
                    format!(
                        "coalesce((SELECT max(runs.id) FROM runs WHERE runnable_id = {table}.id AND failed = {failed}), '')"
                    )
                };
                filter.push_str(&format!(" AND {} > {}", newest(1), newest(0)));
            }
        }
        if !self.filter.wanted.words.is_empty() {
            filter.push_str(
                " AND NOT EXISTS (SELECT 1 FROM json_each(?2) WHERE instr(lower_case(name), value) = 0)",
            );
            parameters.push(&self.words);
        }
        Listing {
            table,
            filter,
            parameters,
        }
    }
}
