//! The words by which commands take the things that a text for people tells them to act on: a name where it can mean nothing
//! else, and the id everywhere else.

use headwater_model::{page::PageRequest, shell::quoted};
use headwater_store::{RunnableFilter, Source, Webhook};

use crate::platform::Platform;

/// Things among which a name is looked for. An owner of more has their ids in texts.
const LOOKED_AT_MAX: u32 = 100;

impl Platform {
    /// A webhook's name as one word of a shell, or its id.
    pub(crate) async fn webhook_called(&self, webhook: &Webhook) -> String {
        let id = webhook.id.as_str();
        // Commands find things of a workspace by name only if they are told to look there.
        let name = webhook.name.as_deref();
        let Some(name) = name.filter(|_| webhook.owner.workspace_id.is_none()) else {
            return id.to_owned();
        };
        let page = PageRequest::first(LOOKED_AT_MAX);
        let all = self.core.store.webhooks(&webhook.owner, &[], &page).await;
        match all {
            Ok(all) if all.total_count <= u64::from(LOOKED_AT_MAX) => {
                let others = all.items.iter().filter(|other| other.id != webhook.id);
                let taken = others.filter_map(|other| other.name.as_deref());
                called([name], taken, "wh_").unwrap_or_else(|| id.to_owned())
            }
            // The text is worth more than the name in it.
            Ok(_) | Err(_) => id.to_owned(),
        }
    }

    /// A source's name or name slug as one word of a shell, or its id.
    pub(crate) async fn source_called(&self, source: &Source) -> String {
        let id = source.id.as_str();
        if source.owner.workspace_id.is_some() {
            return id.to_owned();
        }
        let filter = RunnableFilter::user(source.owner.user_id.clone());
        let page = PageRequest::first(LOOKED_AT_MAX);
        match self.core.store.sources(&filter, &page).await {
            Ok(all) if all.total_count <= u64::from(LOOKED_AT_MAX) => {
                let others = all.items.iter().filter(|other| other.id != source.id);
                let taken = others.map(|other| &*other.spec.name);
                let names = [&*source.spec.name, &*source.name_slug];
                called(names, taken, "dc_").unwrap_or_else(|| id.to_owned())
            }
            Ok(_) | Err(_) => id.to_owned(),
        }
    }
}

/// The first of these names that no other thing has, as one word of a shell. Commands take what begins with the prefix of
/// ids for an id.
fn called<'a>(
    names: impl IntoIterator<Item = &'a str>,
    taken: impl Iterator<Item = &'a str> + Clone,
    prefix: &str,
) -> Option<String> {
    let is_name = |name: &&str| {
        let is_flag = name.is_empty() || name.starts_with('-');
        !is_flag && !name.starts_with(prefix) && !name.contains(char::is_control)
    };
    let mut names = names.into_iter().filter(is_name);
    let free = names.find(|name| !taken.clone().any(|other| other == *name));
    free.map(quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_others_have_or_that_is_none_gives_way() {
        for (names, taken, expected) in [
            (["orders", "orders"], "shop", Some("orders")),
            (["My orders", "my-orders"], "shop", Some("'My orders'")),
            (["orders", "orders-1"], "orders", Some("orders-1")),
            (["orders", "orders"], "orders", None),
            (["dc_1", "--all"], "shop", None),
            (["a\u{1b}[1m", ""], "shop", None),
            (["Ann's", ""], "shop", Some("'Ann'\\''s'")),
        ] {
            let found = called(names, std::iter::once(taken), "dc_");
            assert_eq!(found.as_deref(), expected, "{names:?}");
        }
    }
}
