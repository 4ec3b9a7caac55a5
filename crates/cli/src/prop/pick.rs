//! Picking a prop's value from a list that can be searched: the options that the definition lists, or
//! those that a method of the component gives, page by page. A value can be entered by hand instead.

use std::fmt;

use anyhow::Result;
use inquire::list_option::ListOption;
use inquire::validator::Validation;
use inquire::{MultiSelect, Select, Text};
use serde_json::Value;

use super::definition::{PropDefinition, PropOption};
use super::form::{Form, OptionsQuery};
use super::prompt;
use crate::client::ClientError;
use crate::output;

/// The number of lines that a list takes on the terminal.
const LINES: usize = 12;

/// A line of the list.
#[derive(Debug, Clone)]
enum Choice {
    Option(PropOption),
    More,
    Search,
    ByHand,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // A line per option, whatever the component put into its label.
            Self::Option(option) => {
                let words: Vec<_> = option.label.split_whitespace().collect();
                f.write_str(&words.join(" "))
            }
            Self::More => f.write_str("… show more"),
            Self::Search => f.write_str("… search for something else"),
            Self::ByHand => f.write_str("… enter a value by hand"),
        }
    }
}

/// The person's choice.
enum Answer {
    /// These options of the list, by index.
    Picked(Vec<usize>),
    /// Something that is not an option; with the options ticked so far.
    Instead(Choice, Vec<usize>),
}

/// Picks from the options that a definition lists.
pub(super) fn listed(definition: &PropDefinition, options: Vec<PropOption>) -> Result<Value> {
    let mut list = List::new(definition);
    list.options = options;
    let picked = match list.prompt(&[])? {
        Answer::Picked(picked) | Answer::Instead(_, picked) => picked,
    };
    Ok(list.value(&picked, Vec::new()))
}

/// Picks from the options that a method of the component gives.
pub(super) async fn computed(form: &Form<'_>, definition: &PropDefinition) -> Result<Value> {
    let mut list = List::new(definition);
    if definition.is_searched() {
        list.search(&[])?;
    }
    let mut ticked = Vec::new();
    loop {
        if list.wants_page
            && let Err(error) = list.load(form).await
        {
            // A value that the component cannot list may still be known to the person.
            match error.downcast_ref::<ClientError>() {
                Some(refused) if !refused.is_transient() => {}
                _ => return Err(error),
            }
            output::tell(&format!("{error:#}"));
            output::tell("enter the value by hand, or press Esc to cancel");
            return prompt::ask_text(definition);
        }
        if list.options.is_empty() && !definition.is_searched() {
            output::tell("there are no options; enter the value by hand");
            return prompt::ask_text(definition);
        }
        match list.prompt(&ticked)? {
            Answer::Picked(picked) => return Ok(list.value(&picked, Vec::new())),
            Answer::Instead(Choice::ByHand, picked) => {
                return by_hand(definition, &list, &picked);
            }
            Answer::Instead(Choice::Search, picked) => {
                list.search(&picked)?;
                ticked = (0..picked.len()).collect();
            }
            Answer::Instead(_, picked) => {
                list.wants_page = true;
                ticked = picked;
            }
        }
    }
}

/// The typed value, besides the ticked ones if the prop takes several.
fn by_hand(definition: &PropDefinition, list: &List<'_>, picked: &[usize]) -> Result<Value> {
    match prompt::ask_text(definition)? {
        Value::Array(typed) => Ok(list.value(picked, typed)),
        typed @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Object(_)) => Ok(typed),
    }
}

/// The options of a prop as far as they are loaded.
struct List<'a> {
    definition: &'a PropDefinition,
    options: Vec<PropOption>,
    next: OptionsQuery,
    /// Whether a further page is to be loaded.
    wants_page: bool,
    /// Whether there may be a further page.
    has_more: bool,
    is_computed: bool,
}

impl<'a> List<'a> {
    fn new(definition: &'a PropDefinition) -> Self {
        Self {
            definition,
            options: Vec::new(),
            next: OptionsQuery::default(),
            wants_page: true,
            has_more: false,
            is_computed: false,
        }
    }

    /// Asks for the text to search for; of the present options, only ticked ones stay.
    fn search(&mut self, ticked: &[usize]) -> Result<()> {
        let message = format!("{}, search for:", self.definition.title());
        let typed = Text::new(&message)
            .with_help_message("empty lists everything")
            .prompt();
        let typed = typed.map_err(|error| prompt::failed(self.definition, error))?;
        self.options = self.at(ticked).cloned().collect();
        self.next = OptionsQuery {
            query: Some(typed.trim().to_owned()).filter(|query| !query.is_empty()),
            ..OptionsQuery::default()
        };
        self.wants_page = true;
        Ok(())
    }

    /// Loads a page behind the present ones. A method that knows no pages gives the same options again;
    /// those end the list, as none at all do.
    async fn load(&mut self, form: &Form<'_>) -> Result<()> {
        self.is_computed = true;
        let page = form.options(self.definition.name(), &self.next).await?;
        let before = self.options.len();
        for option in page.options {
            if !self.options.iter().any(|known| known.value == option.value) {
                self.options.push(option);
            }
        }
        self.has_more = self.options.len() > before;
        if !self.has_more && self.next.page > 0 {
            output::tell("there are no more");
        }
        self.next.page += 1;
        self.next.prev_context = page.context;
        self.wants_page = false;
        Ok(())
    }

    fn prompt(&self, ticked: &[usize]) -> Result<Answer> {
        let answer = match self.definition.is_array() {
            true => self.pick_several(ticked),
            false => self.pick_one(),
        };
        answer.map_err(|error| prompt::failed(self.definition, error))
    }

    fn pick_one(&self) -> inquire::error::InquireResult<Answer> {
        let message = format!("{}:", self.definition.title());
        let picked = Select::new(&message, self.choices())
            .with_page_size(LINES)
            .with_scorer(&score)
            .raw_prompt()?;
        Ok(match picked.value {
            Choice::Option(_) => Answer::Picked(vec![picked.index]),
            instead @ (Choice::More | Choice::Search | Choice::ByHand) => {
                Answer::Instead(instead, Vec::new())
            }
        })
    }

    fn pick_several(&self, ticked: &[usize]) -> inquire::error::InquireResult<Answer> {
        let message = format!("{}:", self.definition.title());
        let at_least_one = |picked: &[ListOption<&Choice>]| {
            Ok(match picked.is_empty() {
                true => Validation::Invalid("select at least one with the space bar".into()),
                false => Validation::Valid,
            })
        };
        let picked = MultiSelect::new(&message, self.choices())
            .with_page_size(LINES)
            .with_default(ticked)
            .with_scorer(&score)
            .with_validator(at_least_one)
            .with_keep_filter(false)
            .with_help_message("space selects, enter ends, typing filters")
            .raw_prompt()?;
        let (options, instead): (Vec<_>, Vec<_>) = picked
            .into_iter()
            .partition(|picked| matches!(picked.value, Choice::Option(_)));
        let options = options.into_iter().map(|picked| picked.index).collect();
        Ok(match instead.into_iter().next() {
            Some(instead) => Answer::Instead(instead.value, options),
            None => Answer::Picked(options),
        })
    }

    fn choices(&self) -> Vec<Choice> {
        let mut choices: Vec<_> = self.options.iter().cloned().map(Choice::Option).collect();
        if self.has_more {
            choices.push(Choice::More);
        }
        if self.definition.is_searched() {
            choices.push(Choice::Search);
        }
        if self.is_computed {
            choices.push(Choice::ByHand);
        }
        choices
    }

    /// The picked values, as the prop is configured with them, and those typed besides.
    fn value(&self, picked: &[usize], typed: Vec<Value>) -> Value {
        let mut picked = self
            .at(picked)
            .map(|option| self.definition.picked(option.clone()));
        match self.definition.is_array() {
            true => picked.chain(typed).collect(),
            false => picked.next().unwrap_or_default(),
        }
    }

    fn at<'l>(&'l self, indices: &'l [usize]) -> impl Iterator<Item = &'l PropOption> {
        indices.iter().filter_map(|index| self.options.get(*index))
    }
}

/// Options are found by the typed text; the rest stays at the end of the list.
fn score(typed: &str, choice: &Choice, shown: &str, index: usize) -> Option<i64> {
    match choice {
        Choice::Option(_) => Select::<Choice>::DEFAULT_SCORER(typed, choice, shown, index),
        Choice::More | Choice::Search | Choice::ByHand => Some(i64::MIN),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn option(label: &str) -> PropOption {
        PropOption {
            label: label.to_owned(),
            value: Value::from(label),
        }
    }

    #[test]
    fn typing_finds_options_and_never_hides_what_else_can_be_done() {
        let found = |typed: &str, choice: Choice| {
            let shown = choice.to_string();
            score(typed, &choice, &shown, 0).is_some()
        };
        assert!(found("", Choice::Option(option("Harbour"))));
        assert!(found("hrb", Choice::Option(option("Harbour"))));
        assert!(!found("xyz", Choice::Option(option("Harbour"))));
        for instead in [Choice::More, Choice::Search, Choice::ByHand] {
            assert!(found("xyz", instead));
        }
    }

    #[test]
    fn several_picks_and_what_was_typed_make_one_list() {
        let definition = json!({"name": "a", "type": "string[]", "withLabel": true});
        let definition = serde_json::from_value(definition).unwrap();
        let mut list = List::new(&definition);
        list.options = vec![option("x"), option("y"), option("z")];
        let labelled = |label: &str| json!({"__lv": {"label": label, "value": label}});
        assert_eq!(
            list.value(&[0, 2], vec![json!("w")]),
            json!([labelled("x"), labelled("z"), "w"])
        );
    }
}
