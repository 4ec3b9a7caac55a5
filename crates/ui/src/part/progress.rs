//! The parts of a deployment that have begun: the last one goes on, those before it are done.

use headwater_platform::{BuildPart, DeployPart, Hook};
use maud::{Markup, html};

use super::icon::{Icon, icon};

/// The parts as a list.
pub(crate) fn progress(parts: &[DeployPart]) -> Markup {
    html! {
        ol.progress {
            @for (at, part) in parts.iter().enumerate() {
                @match at + 1 == parts.len() {
                    true => li aria-current="step" { (icon(Icon::Clock)) (told(*part)) "…" },
                    false => li { (icon(Icon::Ok)) (told(*part)) },
                }
            }
        }
    }
}

/// A part in words.
pub(crate) fn told(part: DeployPart) -> &'static str {
    match part {
        DeployPart::Build(BuildPart::Queue) => "Waiting for its turn",
        DeployPart::Build(BuildPart::Modules) => "Gathering its modules",
        DeployPart::Build(BuildPart::Packages) => "Resolving and downloading packages",
        DeployPart::Build(BuildPart::Bundle) => "Bundling",
        DeployPart::Build(BuildPart::Describe) => "Asking the component for its props",
        DeployPart::Load => "Loading its values",
        DeployPart::Hook(Hook::Deploy) => "Running its hook deploy",
        DeployPart::Hook(Hook::Activate) => "Running its hook activate",
        DeployPart::Hook(Hook::Deactivate) => "Running its hook deactivate",
    }
}
