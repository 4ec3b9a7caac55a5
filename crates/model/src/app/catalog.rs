//! The apps that a node knows, by name slug.

use std::{collections::BTreeMap, sync::Arc};

use super::{AppDefinition, AuthType};
use crate::{
    page::{Page, PageRequest, Position},
    prop::PropDefinition,
};

/// Apps by slug. Accounts of other apps are possible; nothing is known of them.
#[derive(Debug, Clone, Default)]
pub struct AppCatalog {
    apps: BTreeMap<String, Arc<AppDefinition>>,
}

impl AppCatalog {
    /// A catalog of these apps; the last of a slug counts.
    pub fn new(apps: impl IntoIterator<Item = AppDefinition>) -> Self {
        let apps = apps.into_iter();
        Self {
            apps: apps.map(|app| (app.slug.clone(), Arc::new(app))).collect(),
        }
    }

    /// The app of that slug.
    pub fn get(&self, slug: &str) -> Option<&Arc<AppDefinition>> {
        self.apps.get(slug)
    }

    /// Turns app props optional whose app needs no credentials: they need no account.
    pub fn free(&self, props: &mut [PropDefinition]) {
        let asks_nobody = |slug: &str| {
            let app = self.get(slug);
            app.is_some_and(|app| app.auth == AuthType::None)
        };
        for prop in props {
            if prop.app().is_some_and(asks_nobody) {
                prop.make_optional();
            }
        }
    }

    /// A page of the apps whose slug or name has `query` in it, in the order of their slugs.
    pub fn search(&self, query: &str, page: &PageRequest<String>) -> Page<Arc<AppDefinition>> {
        let query = query.trim().to_lowercase();
        let found: Vec<&Arc<AppDefinition>> = self
            .apps
            .values()
            .filter(|app| app.slug.contains(&query) || app.name.to_lowercase().contains(&query))
            .collect();
        let at = |slug: &String| found.partition_point(|app| app.slug < *slug);
        let limit = page.limit as usize;
        let (from, to) = match &page.position {
            Position::First => (0, limit),
            Position::After(slug) => {
                let at = at(slug);
                let is_there = found.get(at).is_some_and(|app| app.slug == *slug);
                let from = at + usize::from(is_there);
                (from, from + limit)
            }
            Position::Before(slug) => {
                let to = at(slug);
                (to.saturating_sub(limit), to)
            }
        };
        let items = found.get(from..to.min(found.len())).unwrap_or_default();
        Page {
            total_count: found.len() as u64,
            items: items.iter().map(|app| Arc::clone(app)).collect(),
        }
    }
}
