//! The list of what a package publishes: its sources and actions, with the version it resolved to.

use headwater_engine::{BuildStage, network::NetworkPolicy};

use crate::support::builder;

#[tokio::test]
async fn a_packages_sources_and_actions_are_listed() {
    let builder = builder(NetworkPolicy::PublicOnly).await;
    let package = "npm:@pipedream/pipedream@^0.4".parse().unwrap();
    let listed = builder
        .package_modules(&package, "")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(listed.package.name, "@pipedream/pipedream");
    assert!(listed.package.is_pinned(), "{}", listed.package);
    assert_eq!(
        listed.modules,
        [
            "actions/create-subscription/create-subscription.mjs",
            "actions/delete-subscription/delete-subscription.mjs",
            "actions/generate-component-code/generate-component-code.mjs",
            "actions/get-component/get-component.mjs",
            "sources/new-scheduled-tasks/new-scheduled-tasks.mjs",
        ]
    );
}

#[tokio::test]
async fn a_package_without_components_has_no_modules() {
    let builder = builder(NetworkPolicy::PublicOnly).await;
    let package = "npm:ms@2.1.3/index.js".parse().unwrap();
    let listed = builder
        .package_modules(&package, "")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(listed.package.to_string(), "npm:ms@2.1.3");
    assert!(listed.modules.is_empty());
}

#[tokio::test]
async fn a_package_or_version_that_does_not_exist_is_named() {
    let builder = builder(NetworkPolicy::PublicOnly).await;
    for text in ["npm:@headwater-none/none", "npm:ms@99999"] {
        let package = text.parse().unwrap();
        let rejection = builder
            .package_modules(&package, "")
            .await
            .unwrap()
            .unwrap_err();
        assert_eq!(rejection.stage, BuildStage::Resolve);
        assert!(
            rejection.error.message.contains(text),
            "{}",
            rejection.error.message
        );
    }
}
