//! The condition of a filter of sources or workflows, as SQL.

use headwater_store::{RunnableFilter, RunnableScope, SourceTrigger, Standing};

use crate::page::{Listing, Parameter};

/// A condition, and the words in it in lower case.
pub(crate) struct Condition<'a> {
    filter: &'a RunnableFilter,
    words: Vec<String>,
    /// The app as the index of components has it.
    app: Option<String>,
}

impl<'a> Condition<'a> {
    pub(crate) fn new(filter: &'a RunnableFilter) -> Self {
        let words = filter.wanted.words.iter().map(|word| word.to_lowercase());
        let words = words.collect();
        let app = filter.wanted.app.as_ref().map(|app| format!(" {app} "));
        Self { filter, words, app }
    }

    /// The rows of `table` that are wanted, but for those in one of the `hidden` states (quoted, with commas).
    pub(crate) fn listing(&self, table: &'static str, hidden: &str) -> Listing<'_> {
        let (owner, id) = match &self.filter.scope {
            RunnableScope::User(id) => ("user_id", id.as_str()),
            RunnableScope::Workspace(id) => ("workspace_id", id.as_str()),
        };
        let mut filter = format!("{owner} = $1 AND state NOT IN ({hidden})");
        let mut parameters: Vec<Parameter<'_>> = vec![Box::new(id)];
        let newest = |failed: bool| {
            format!(
                "coalesce((SELECT max(runs.id) FROM runs WHERE runnable_id = {table}.id AND failed = {failed}), '')"
            )
        };
        match self.filter.wanted.standing {
            None => {}
            Some(Standing::Active) => filter.push_str(" AND state = 'active'"),
            Some(Standing::Paused) => filter.push_str(" AND state = 'inactive'"),
            Some(Standing::Failing) => {
                filter.push_str(&format!(" AND {} > {}", newest(true), newest(false)));
            }
            Some(Standing::Ok) => {
                let is_fine = format!("{} <= {}", newest(true), newest(false));
                filter.push_str(&format!(" AND state = 'active' AND {is_fine}"));
            }
        }
        let wanted = &self.filter.wanted;
        if table != "sources" && wanted.is_of_sources() {
            filter.push_str(" AND 1 = 0");
            return Listing {
                table,
                filter,
                parameters,
            };
        }
        if let Some(trigger) = wanted.trigger {
            filter.push_str(of_trigger(trigger));
        }
        if !self.filter.wanted.words.is_empty() {
            filter.push_str(
                " AND NOT EXISTS (SELECT 1 FROM unnest($2::text[]) AS word WHERE strpos(lower_case(name), word) = 0)",
            );
            parameters.push(Box::new(&self.words));
        }
        if let Some(app) = &self.app {
            parameters.push(Box::new(app));
            let condition = format!("strpos(apps, ${}) > 0", parameters.len());
            filter.push_str(&of_component(&condition));
        }
        if let Some(key) = &self.filter.wanted.component {
            parameters.push(Box::new(key));
            let condition = format!("key = ${}", parameters.len());
            filter.push_str(&of_component(&condition));
        }
        Listing {
            table,
            filter,
            parameters,
        }
    }
}

/// The condition of a trigger.
fn of_trigger(trigger: SourceTrigger) -> &'static str {
    match trigger {
        SourceTrigger::Timer => {
            " AND EXISTS (SELECT 1 FROM timers WHERE timers.runnable_id = sources.id)"
        }
        SourceTrigger::Http => {
            " AND EXISTS (SELECT 1 FROM endpoints WHERE endpoints.source_id = sources.id)"
        }
        SourceTrigger::Neither => {
            " AND NOT EXISTS (SELECT 1 FROM timers WHERE timers.runnable_id = sources.id)
              AND NOT EXISTS (SELECT 1 FROM endpoints WHERE endpoints.source_id = sources.id)"
        }
    }
}

/// A condition on the component of a source.
fn of_component(condition: &str) -> String {
    format!(
        " AND EXISTS (SELECT 1 FROM component_search AS component WHERE component.id = component_id AND {condition})"
    )
}
