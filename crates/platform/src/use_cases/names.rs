//! The names of things that lists mention.

use std::collections::HashMap;

use headwater_model::{
    component::Description,
    id::{ComponentId, EmitterId, ListenerId},
};
use headwater_store::{NAMES_READ_MAX, Owner};

use crate::{caller::Caller, error::PlatformError, platform::Platform};

/// Names by ids: of the things that are there, and that the caller may see.
#[derive(Debug, Clone, Default)]
pub struct KnownNames(HashMap<ListenerId, String>);

impl KnownNames {
    /// The name of a thing, if it is known.
    pub fn of(&self, id: &ListenerId) -> Option<&str> {
        self.0.get(id).map(String::as_str)
    }

    /// The name of an emitter, if it is known.
    pub fn of_emitter(&self, id: &EmitterId) -> Option<&str> {
        self.of(&id.clone().into())
    }
}

impl Platform {
    /// The names of emitters and of listeners, each read once; of a page's many things, one read.
    pub async fn names(
        &self,
        caller: &Caller,
        emitters: impl IntoIterator<Item = EmitterId>,
        listeners: impl IntoIterator<Item = ListenerId>,
    ) -> Result<KnownNames, PlatformError> {
        let emitters = emitters.into_iter().map(ListenerId::from);
        let ids = emitters.chain(listeners).collect();
        self.known_names(caller, ids, |_| true).await
    }

    /// The names of those emitters whose owner is wanted.
    pub(super) async fn names_of(
        &self,
        caller: &Caller,
        emitters: impl IntoIterator<Item = EmitterId>,
        is_wanted: impl Fn(&Owner) -> bool,
    ) -> Result<KnownNames, PlatformError> {
        let ids = emitters.into_iter().map(ListenerId::from).collect();
        self.known_names(caller, ids, is_wanted).await
    }

    /// The descriptions of components by their ids, those of a page in one read: of those that are there, and that the
    /// caller may use.
    pub async fn component_descriptions(
        &self,
        caller: &Caller,
        ids: impl IntoIterator<Item = ComponentId>,
    ) -> Result<HashMap<ComponentId, Description>, PlatformError> {
        let mut ids: Vec<_> = ids.into_iter().collect();
        ids.sort();
        ids.dedup();
        let mut known = HashMap::new();
        for part in ids.chunks(NAMES_READ_MAX) {
            let found = self.core.store.named_components(part).await?.into_iter();
            let usable = found.filter(|one| one.is_published || caller.may_see(&one.owner));
            known.extend(usable.map(|one| (one.id, one.description)));
        }
        Ok(known)
    }

    async fn known_names(
        &self,
        caller: &Caller,
        mut ids: Vec<ListenerId>,
        is_wanted: impl Fn(&Owner) -> bool,
    ) -> Result<KnownNames, PlatformError> {
        ids.sort();
        ids.dedup();
        let mut known = HashMap::new();
        for part in ids.chunks(NAMES_READ_MAX) {
            let found = self.core.store.names(part).await?.into_iter();
            let seen =
                found.filter(|named| caller.may_see(&named.owner) && is_wanted(&named.owner));
            known.extend(seen.map(|named| (named.id, named.name)));
        }
        Ok(KnownNames(known))
    }
}
