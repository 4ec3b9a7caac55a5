//! Registries that do not answer as wished, or not everybody, and packages made to do harm.

use axum::http::StatusCode;
use headwater_engine::{
    Build, BuildRequest, BuildStage, ComponentCode, EngineError, Rejection, network::NetworkPolicy,
};
use serde_json::json;

use crate::{
    registry::{Registry, SCOPE},
    support::{builder_of, builder_with, files, registry_env},
};

async fn build(registry: &Registry, name: &str) -> Result<Result<Build, Rejection>, EngineError> {
    let code = importing(name);
    let builder = builder_with(
        NetworkPolicy::PublicOnly,
        registry.client_env(registry_env()),
    )
    .await;
    builder.build(ComponentCode::Text(code)).await
}

fn importing(name: &str) -> String {
    format!(
        "import thing from \"{SCOPE}/{name}@1\"; export default {{ name: \"a\", version: \"1\", run() {{ return thing; }} }};"
    )
}

async fn refused(registry: &Registry, name: &str) -> String {
    let rejection = build(registry, name)
        .await
        .expect("a working host")
        .map(|build| build.description)
        .expect_err("a rejection");
    assert_eq!(rejection.stage, BuildStage::Resolve);
    rejection.error.message
}

#[tokio::test]
async fn a_registry_that_is_down_is_the_hosts_failure_and_names_the_import() {
    let error = build(&Registry::that_is_down(), "any")
        .await
        .expect_err("a failure of the host");
    let told = error.to_string();
    for part in [&*format!("`{SCOPE}/any@1`"), "onnection refused", ".npmrc"] {
        assert!(told.contains(part), "{part} is missing: {told}");
    }
}

#[tokio::test]
async fn a_package_that_may_not_be_read_is_refused_with_where_a_token_goes() {
    let registry = Registry::start().await;
    registry.refuse("private", StatusCode::UNAUTHORIZED);
    let told = refused(&registry, "private").await;
    for part in [&*format!("`{SCOPE}/private@1`"), "401", "token", ".npmrc"] {
        assert!(told.contains(part), "{part} is missing: {told}");
    }
}

#[tokio::test]
async fn a_registry_that_fails_is_the_hosts_failure() {
    let registry = Registry::start().await;
    registry.refuse("broken", StatusCode::INTERNAL_SERVER_ERROR);
    let error = build(&registry, "broken")
        .await
        .expect_err("a failure of the host");
    assert!(error.to_string().contains("500"), "{error}");
}

#[tokio::test]
async fn a_package_that_needs_a_missing_one_is_refused_with_its_name() {
    let registry = Registry::start().await;
    let needed = format!("{SCOPE}/missing");
    registry.publish(
        "needy",
        &json!({"dependencies": {needed: "1"}}),
        &[("index.js", "")],
    );
    let told = refused(&registry, "needy").await;
    assert!(
        told.contains(&format!(
            "`{SCOPE}/missing`, which an imported package needs"
        )),
        "{told}"
    );
}

#[tokio::test]
async fn bytes_that_were_not_published_are_refused() {
    let registry = Registry::start().await;
    registry.publish(
        "tampered",
        &json!({}),
        &[("index.js", "module.exports = 1;")],
    );
    registry.tamper("tampered");
    let told = refused(&registry, "tampered").await;
    assert!(
        told.contains(&format!("`{SCOPE}/tampered@1`")) && told.contains("checksum"),
        "{told}"
    );
}

#[tokio::test]
async fn a_package_cannot_unpack_files_elsewhere() {
    let registry = Registry::start().await;
    registry.publish(
        "escaping",
        &json!({}),
        &[("../../../escaped.js", "1"), ("index.js", "")],
    );
    let told = refused(&registry, "escaping").await;
    assert!(told.contains("not in output directory"), "{told}");
}

#[tokio::test]
async fn install_scripts_never_run_in_either_form() {
    let registry = Registry::start().await;
    let folder = tempfile::tempdir().unwrap();
    let witness = folder.path().join("ran");
    let script = format!("touch '{}'", witness.display());
    let scripts =
        json!({"preinstall": script, "install": script, "postinstall": script, "prepare": script});
    for (name, code) in [
        ("whole", "module.exports = 1;"),
        (
            "beside",
            "module.exports = require('fs').readFileSync(__dirname + '/index.js', 'utf8').length;",
        ),
    ] {
        registry.publish(name, &json!({"scripts": scripts}), &[("index.js", code)]);
        let built = build(&registry, name).await.unwrap().unwrap();
        assert_eq!(files(&built).contains_key("package.json"), name == "beside");
        assert!(built.lock.contains("\"scripts\": true"), "{}", built.lock);
    }
    assert!(!witness.exists());
}

#[tokio::test]
async fn an_optional_dependency_that_does_not_load_is_not_in_the_way() {
    let registry = Registry::start().await;
    let native = json!({"gypfile": true, "scripts": {"install": "node-gyp rebuild"}});
    let load = "module.exports = require('./build/Release/fast.node');";
    registry.publish(
        "fast",
        &native,
        &[("index.js", load), ("binding.gyp", "{}")],
    );
    let fast = format!("{SCOPE}/fast");
    let code = format!(
        "let fast; try {{ fast = require('{fast}'); }} catch {{ fast = 'slow'; }} module.exports = fast;"
    );
    registry.publish(
        "able",
        &json!({"optionalDependencies": {&fast: "1"}}),
        &[("index.js", &code)],
    );
    assert!(build(&registry, "able").await.unwrap().is_ok());
    registry.publish(
        "unable",
        &json!({"dependencies": {&fast: "1"}}),
        &[("index.js", &format!("module.exports = require('{fast}');"))],
    );
    let told = refused_when_evaluated(&registry, "unable").await;
    assert!(
        told.contains(&format!(
            "`{fast}@1.0.0`, which came with `{SCOPE}/unable`, needs native code"
        )),
        "{told}"
    );
}

async fn refused_when_evaluated(registry: &Registry, name: &str) -> String {
    let built = build(registry, name).await.expect("a working host");
    let rejection = built
        .map(|build| build.description)
        .expect_err("a rejection");
    assert_eq!(rejection.stage, BuildStage::Evaluate);
    rejection.error.message
}

#[tokio::test]
async fn code_of_a_package_that_runs_at_saving_reaches_nothing() {
    let registry = Registry::start().await;
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "hush").unwrap();
    let code = format!(
        "const fs = require('fs'); const told = [];
         for (const attempt of [() => fs.readFileSync('{0}', 'utf8'), () => fs.writeFileSync('{0}', 'x'),
             () => fs.readFileSync('/etc/passwd', 'utf8'), () => require('child_process').execSync('id'),
             () => new Deno.Command('/bin/true').outputSync(), () => Deno.dlopen('libc.so.6', {{}}) ]) {{
           try {{ attempt(); told.push('got it'); }} catch {{ told.push('refused'); }}
         }}
         throw new Error(told.join());",
        secret.display()
    );
    registry.publish("curious", &json!({}), &[("index.js", &code)]);
    let told = refused_when_evaluated(&registry, "curious").await;
    assert_eq!(told, ["refused"; 6].join(","));
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "hush");
}

#[tokio::test]
async fn a_package_larger_than_an_archive_may_be_is_refused() {
    let registry = Registry::start().await;
    let env = registry.client_env(registry_env());
    let builder = builder_of(NetworkPolicy::PublicOnly, env, 4 << 20).await;
    let large = "x".repeat(5 << 20);
    let code = "module.exports = require('fs').readFileSync(__dirname + '/index.js').length;";
    registry.publish(
        "large",
        &json!({}),
        &[("index.js", code), ("data.txt", &large)],
    );
    let built = builder.build(ComponentCode::Text(importing("large"))).await;
    let rejection = built
        .expect("a working host")
        .map(|build| build.description)
        .expect_err("a rejection");
    assert_eq!(rejection.error.name, "SizeError");
    assert!(
        rejection.error.message.contains("4 MiB"),
        "{}",
        rejection.error.message
    );
}

#[tokio::test]
async fn a_declared_range_of_a_private_package_is_looked_up_with_the_token() {
    let registry = Registry::start_private().await;
    registry.publish(
        "ranged",
        &json!({}),
        &[("index.js", "module.exports = 'Private';")],
    );
    let env = registry.client_env(registry_env());
    let builder = builder_with(NetworkPolicy::PublicOnly, env).await;
    let name = format!("{SCOPE}/ranged");
    for range in [">=1 <2", "1 || 2"] {
        let code = format!(
            "import name from '{name}'; export default {{name, version: '1', run() {{}}}};"
        );
        let request = BuildRequest {
            code: ComponentCode::Text(code),
            ranges: [(name.clone(), range.to_owned())].into(),
            owner: "somebody".into(),
            is_step: false,
            observer: headwater_engine::BuildObserver::default(),
        };
        let build = builder.build(request).await.unwrap().unwrap();
        assert_eq!(build.description.name, "Private", "{range}");
    }
}

#[tokio::test]
async fn settings_in_a_file_that_a_variable_names_are_no_obstacle() {
    let registry = Registry::start().await;
    registry.publish("plain", &json!({}), &[("index.js", "module.exports = 1;")]);
    for variable in [
        "NPM_CONFIG_USERCONFIG",
        "npm_config_userconfig",
        "NPM_CONFIG_GLOBALCONFIG",
        "npm_config_globalconfig",
    ] {
        let mut env = registry.client_env(registry_env());
        env.push((variable.into(), registry.npmrc().into()));
        let builder = builder_with(NetworkPolicy::PublicOnly, env).await;
        let built = builder.build(ComponentCode::Text(importing("plain"))).await;
        assert!(matches!(built, Ok(Ok(_))), "{variable}: {built:?}");
    }
}
