//! The component of a source as the head of its pages tells of it: key, version and apps, and whether a newer version is
//! published.

use headwater_model::{
    component::Description, page::PageRequest, prop::PropDefinition, version::ReleaseVersion,
};
use headwater_platform::{
    ComponentFilter, ComponentRef, PlatformError, SavedComponent, SourceView,
};
use maud::{Markup, html};
use url::form_urlencoded::byte_serialize;

use crate::{
    address::Address as _,
    part::{name::named, text},
    state::Ui,
    visit::Visitor,
};

/// Components of the list that are looked at for the one with the same key.
const LOOKED_AT: u32 = 20;

/// The component of a source.
pub(crate) struct Component {
    saved: SavedComponent,
    /// The newest version that is published, if it is newer than the source's.
    newer: Option<String>,
}

impl Component {
    /// That of a source, if the visitor may see it: the pages of a source say what they can without.
    pub(super) async fn of(
        ui: &Ui,
        visitor: &Visitor,
        view: &SourceView,
    ) -> Result<Option<Self>, PlatformError> {
        let source = &view.source;
        let reference = ComponentRef::Id(source.spec.component_id.clone());
        let workspace = source.owner.workspace_id.clone();
        let component = ui
            .platform
            .component(visitor.caller(), &reference, workspace);
        let Ok(saved) = component.await else {
            return Ok(None);
        };
        let newer = newer(ui, visitor, &saved).await?;
        Ok(Some(Self { saved, newer }))
    }

    pub(super) fn saved(&self) -> &SavedComponent {
        &self.saved
    }

    /// The version that the source can be updated to.
    pub(super) fn newer(&self) -> Option<&str> {
        self.newer.as_deref()
    }

    /// The form that updates a source: to the newer version, if there is one.
    pub(super) fn update(&self, base: &str) -> String {
        let key = self.saved.description.key.as_deref();
        match key.zip(self.newer()) {
            Some((key, version)) => {
                let reference = format!("{key}@{version}");
                let reference: String = byte_serialize(reference.as_bytes()).collect();
                format!("{base}/edit?component={reference}")
            }
            None => format!("{base}/edit"),
        }
    }

    /// Its name with the version, which leads to its code, and the apps that it connects to.
    pub(super) fn facts(&self, ui: &Ui, view: &SourceView) -> Markup {
        let description = &self.saved.description;
        let apps = apps(ui, &description.props);
        html! {
            dt { "Component" }
            dd {
                (link(view, description))
                @if let Some(newer) = self.newer() { " " span.note { "version " (text::line(newer)) " is published" } }
            }
            @if !apps.is_empty() {
                dt { "App" }
                dd { (text::line(&apps)) }
            }
        }
    }
}

/// The component of a source by its name with the version, which leads to its code.
pub(super) fn link(view: &SourceView, description: &Description) -> Markup {
    let source = &view.source;
    let id = source.spec.component_id.as_str();
    let name = description.key.as_deref().unwrap_or(&description.name);
    html! {
        a href={ (source.id.address()) "/code" } title=(id) {
            (named(Some(name), id))
            @if let Some(version) = &description.version { @if description.key.is_some() { "@" } @else { " " } (text::line(version)) }
        }
    }
}

/// The names of the apps that props are of, each once.
pub(super) fn apps<'a>(ui: &Ui, props: impl IntoIterator<Item = &'a PropDefinition>) -> String {
    let mut names = Vec::new();
    for app in props.into_iter().filter_map(PropDefinition::app) {
        let name = ui.app_name(app);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// The version of the same key that the registry lists, if it is newer.
async fn newer(
    ui: &Ui,
    visitor: &Visitor,
    saved: &SavedComponent,
) -> Result<Option<String>, PlatformError> {
    let description = &saved.description;
    let Some(key) = &description.key else {
        return Ok(None);
    };
    let filter = ComponentFilter {
        words: vec![key.clone()],
        ..ComponentFilter::default()
    };
    let page = PageRequest::first(LOOKED_AT);
    let found = ui
        .platform
        .components(visitor.caller(), &filter, None, &page)
        .await?;
    let mut listed = found.items.iter();
    let published =
        listed.find(|one| one.is_published && one.description.key.as_ref() == Some(key));
    let published = published.and_then(|one| one.description.version.clone());
    Ok(published.filter(|version| is_newer(version, description.version.as_deref())))
}

/// Whether a published version wins over that of a source, which may have none.
fn is_newer(published: &str, own: Option<&str>) -> bool {
    let rank = |text: &str| {
        text.parse::<ReleaseVersion>()
            .ok()
            .map(|version| version.rank())
    };
    match (rank(published), own.and_then(rank)) {
        (Some(published), Some(own)) => published > own,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_versions() {
        for (published, own, expected) in [
            ("1.10.0", Some("1.9.0"), true),
            ("1.0.0", Some("1.0.0"), false),
            ("1.0.0", Some("1.0.1"), false),
            ("1.0.0", Some("1.0.0-beta.1"), true),
            ("1.0.0", Some("draft"), false),
            ("1.0.0", None, false),
        ] {
            assert_eq!(is_newer(published, own), expected, "{published} {own:?}");
        }
    }
}
