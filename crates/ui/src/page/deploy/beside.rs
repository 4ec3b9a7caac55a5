//! The code beside the form of its props: written there, and saved with whatever the form is sent for.

use axum::response::IntoResponse as _;
use headwater_model::id::{ComponentId, SourceId};
use headwater_platform::PlatformError;
use maud::{Markup, html};

use super::{
    card::address,
    code,
    component::check_type,
    event::Sent,
    failure::{NOT_SAVED, NOT_TRIED},
    findings::unless_ours,
    wizard::Wizard,
};
use crate::{
    address::Address as _,
    form::Entered,
    part::icon::{Icon, icon},
    problem::Problem,
    reply::FormReply,
    state::Ui,
    visit::Visitor,
};

impl Wizard {
    /// The address of a form that has its code beside it.
    pub(crate) fn with_code(
        visitor: &Visitor,
        source: Option<&SourceId>,
        component: &ComponentId,
    ) -> String {
        match source {
            Some(id) => format!("{}/edit?component={component}&with=code", id.address()),
            None => {
                let address = visitor.to(&address(component.as_str()));
                let mark = if address.contains('?') { '&' } else { '?' };
                format!("{address}{mark}with=code")
            }
        }
    }

    /// Builds and saves the code that was sent with the form, if it is another one; then the form is that of the new
    /// component. Tells why it was not saved.
    pub(super) async fn take_code(
        &mut self,
        ui: &Ui,
        visitor: &Visitor,
        entered: &Entered,
    ) -> Result<Option<Markup>, Problem> {
        let Some(written) = entered.text("code") else {
            return Ok(None);
        };
        self.code = Some(written.to_owned());
        if written == self.component.code.replace("\r\n", "\n") {
            return Ok(None);
        }
        let input = code::input(written);
        let saved = ui
            .platform
            .save_component(visitor.caller(), &input, self.workspace.clone());
        match saved.await {
            Ok(kept) => {
                check_type(&kept.component)?;
                let source = self.source.as_ref().map(|view| &view.source.id);
                self.action = Self::with_code(visitor, source, &kept.component.id);
                self.component = kept.component;
                Ok(None)
            }
            Err(error) => code::failed(error, NOT_SAVED, written).map(Some),
        }
    }

    /// The form after a trial that its values did not allow.
    pub(crate) async fn untried(
        &self,
        ui: &Ui,
        visitor: &Visitor,
        event: &Sent,
        error: PlatformError,
    ) -> FormReply {
        let mut entered = self.stored();
        event.keep(&mut entered);
        let findings = unless_ours(&self.props(&entered), &entered, error, NOT_TRIED)?;
        let page = self.page(ui, visitor, &entered, &findings).await?;
        Ok(page.into_response())
    }

    /// The code, which every button of the form saves first.
    pub(super) fn beside(&self, written: &str) -> Markup {
        let is_saved = written == self.component.code.replace("\r\n", "\n");
        html! {
            div {
                (code::editor(written, is_saved))
                div.actions { button name="action" value="show" data-saves { (icon(Icon::Ok)) "Save the code" } }
                p.note { "Saving builds the code and shows the fields of its props. Trying it and deploying it save it, too." }
            }
        }
    }
}
