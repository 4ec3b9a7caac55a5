//! The condition of a filter of sources or workflows, as SQL.

use headwater_store::{RunnableFilter, RunnableScope, Standing};

use crate::page::{Listing, Parameter};

/// A condition, and the words in it in lower case.
pub(crate) struct Condition<'a> {
    filter: &'a RunnableFilter,
    words: Vec<String>,
}

impl<'a> Condition<'a> {
    pub(crate) fn new(filter: &'a RunnableFilter) -> Self {
        let words = filter.wanted.words.iter().map(|word| word.to_lowercase());
        let words = words.collect();
        Self { filter, words }
    }

    /// The rows of `table` that are wanted, but for those in one of the `hidden` states (quoted, with commas).
    pub(crate) fn listing(&self, table: &'static str, hidden: &str) -> Listing<'_> {
        let (owner, id) = match &self.filter.scope {
            RunnableScope::User(id) => ("user_id", id.as_str()),
            RunnableScope::Workspace(id) => ("workspace_id", id.as_str()),
        };
        let mut filter = format!("{owner} = $1 AND state NOT IN ({hidden})");
        let mut parameters: Vec<Parameter<'_>> = vec![Box::new(id)];
        match self.filter.wanted.standing {
            None => {}
            Some(Standing::Active) => filter.push_str(" AND state = 'active'"),
            Some(Standing::Paused) => filter.push_str(" AND state = 'inactive'"),
            Some(Standing::Failing) => {
                let newest = |failed: bool| {
                    format!(
                        "coalesce((SELECT max(runs.id) FROM runs WHERE runnable_id = {table}.id AND failed = {failed}), '')"
                    )
                };
                filter.push_str(&format!(" AND {} > {}", newest(true), newest(false)));
            }
        }
        if !self.filter.wanted.words.is_empty() {
            filter.push_str(
                " AND NOT EXISTS (SELECT 1 FROM unnest($2::text[]) AS word WHERE strpos(lower_case(name), word) = 0)",
            );
            parameters.push(Box::new(&self.words));
        }
        Listing {
            table,
            filter,
            parameters,
        }
    }
}
