//! The people who connected accounts: oneself, and the members of a workspace.

use std::collections::HashMap;

use headwater_model::{
    id::{UserId, WorkspaceId},
    page::PageRequest,
};
use headwater_platform::PlatformError;
use maud::{Markup, html};

use crate::{part::text, state::Ui, visit::Visitor};

/// Members of a workspace whose names are read.
const MEMBERS: u32 = 100;

/// The names of users by their ids.
pub(crate) struct Creators {
    own: UserId,
    names: HashMap<UserId, String>,
}

impl Creators {
    /// Those of a workspace, or of oneself.
    pub(crate) async fn of(
        ui: &Ui,
        visitor: &Visitor,
        workspace: Option<&WorkspaceId>,
    ) -> Result<Self, PlatformError> {
        let caller = visitor.caller();
        let members = match workspace {
            Some(id) => {
                let first = PageRequest::first(MEMBERS);
                ui.platform.members(caller, id, &first).await?.items
            }
            None => Vec::new(),
        };
        let names = members.into_iter().map(|user| (user.id, user.username));
        Ok(Self {
            own: caller.user_id().clone(),
            names: names.collect(),
        })
    }

    /// The name of a user; the id of one who is no member any more.
    pub(crate) fn name(&self, id: &UserId) -> Markup {
        html! {
            @match self.names.get(id) {
                _ if *id == self.own => { "you" }
                Some(name) => { (text::line(name)) }
                None => { code { (id) } }
            }
        }
    }
}
