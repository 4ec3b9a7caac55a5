//! Files outside, read while a component is built and described.

use headwater_engine::{
    ComponentCode,
    build::{Builder, CODE_BYTES_MAX},
    confine::Confinement,
    network::NetworkPolicy,
};

use crate::support::{self, builder};

/// A text that no build may carry away.
const SECRET: &str = "0badc0de-the-secret-of-the-node";

/// Files that a build has no business with: the node's own, another build's, and the machine's. Each with what it
/// holds.
fn loot() -> (tempfile::TempDir, Vec<(String, String)>) {
    // Where the node's own secrets are: beside the cache.
    let beside = tempfile::Builder::new()
        .prefix("node-")
        .tempdir_in(support::cache_dir())
        .unwrap();
    let elsewhere = beside.path().join("builds");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut loot = Vec::new();
    for path in [beside.path().join("api-key"), elsewhere.join("secret-key")] {
        std::fs::write(&path, SECRET).unwrap();
        loot.push((path.display().to_string(), SECRET.to_owned()));
    }
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap();
    let root = passwd.lines().next().unwrap().to_owned();
    loot.push(("/etc/passwd".into(), root));
    loot.push(("/proc/self/root/etc/passwd".into(), loot[2].1.clone()));
    for (path, holds) in [
        ("/proc/self/environ", "DENO_DIR="),
        ("/proc/self/cmdline", "--sourcemap"),
        ("/proc/self/mountinfo", "tmpfs"),
    ] {
        loot.push((path.into(), holds.into()));
    }
    let init = std::fs::read("/proc/1/cmdline").unwrap();
    let program = init.split(|&byte| byte == 0).next().unwrap();
    let program = String::from_utf8_lossy(program).into_owned();
    loot.push(("/proc/1/cmdline".into(), program));
    (beside, loot)
}

/// The ways in which a module can ask for a file.
fn doors(path: &str, kinds: &[&str]) -> Vec<String> {
    let up = "../".repeat(12);
    let path = path.trim_start_matches('/');
    let (folder, name) = path.rsplit_once('/').unwrap();
    let mut doors = Vec::new();
    for kind in kinds {
        let by = |specifier: &str| {
            format!(
                "import y from '{specifier}' with {{ type: '{kind}' }};\nexport default {{ name: 'X', version: '1', description: String(y) + new TextDecoder().decode(y), run() {{}} }};"
            )
        };
        doors.extend([
            by(&format!("/{path}")),
            by(&format!("file:///{path}")),
            by(&format!("./{up}{path}")),
            by(&format!("npm:ms@2.1.3/{up}{path}")),
        ]);
        let later = |argument: &str| {
            format!(
                "const y = (await import({argument}, {{ with: {{ type: '{kind}' }} }})).default;\nexport default {{ name: 'X', version: '1', description: String(y) + new TextDecoder().decode(y), run() {{}} }};"
            )
        };
        doors.extend([
            later(&format!("'/' + '{path}'")),
            later(&format!("'{up}' + '{path}'")),
            later(&format!("`/{folder}/${{'{name}'}}`")),
        ]);
    }
    let run = |expression: &str| {
        format!(
            "import fs from 'node:fs';\nlet y; try {{ y = {expression}; }} catch (error) {{ y = error.message; }}\nexport default {{ name: 'X', version: '1', description: String(y), run() {{}} }};"
        )
    };
    doors.extend([
        run(&format!("fs.readFileSync('/{path}', 'utf8')")),
        run(&format!("Deno.readTextFileSync('/{path}')")),
    ]);
    doors
}

#[tokio::test(flavor = "multi_thread")]
async fn no_file_outside_is_read_by_whatever_door() {
    nothing_is_read(&builder(NetworkPolicy::PublicOnly).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_file_outside_is_read_where_only_landlock_confines() {
    if !has_landlock().await {
        return;
    }
    let confinement = support::confinement_without("Namespaces");
    let network = NetworkPolicy::PublicOnly;
    let builder = support::builder_confined(
        network,
        support::registry_env(),
        CODE_BYTES_MAX,
        &confinement,
    )
    .await;
    nothing_is_read(&builder).await;
}

/// Tells whether this kernel has Landlock: where it has not, there is nothing to try.
pub(super) async fn has_landlock() -> bool {
    let deno = support::deno().await;
    let ways = support::confinement_without("Namespaces");
    Confinement::start(&ways, &deno).is_ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_cannot_confine_is_refused_unless_that_is_allowed() {
    let deno = support::deno().await;
    let mut ways = support::confinement_without("Namespaces,Landlock");
    let refused = Confinement::start(&ways, &deno).unwrap_err().to_string();
    assert!(
        refused.contains("--allow-unconfined") && refused.contains("no Namespaces here"),
        "{refused}"
    );
    ways.allow_unconfined = true;
    Confinement::start(&ways, &deno).unwrap();
}

async fn nothing_is_read(builder: &Builder) {
    let (_kept, loot) = loot();
    for (path, holds) in loot {
        let kinds: &[_] = match holds == SECRET {
            true => &["bytes", "text", "json"],
            false => &["bytes"],
        };
        for code in doors(&path, kinds) {
            let built = builder.build(ComponentCode::Text(code.clone())).await;
            // A rejection is as good as a component without it; the host is never at fault.
            let said = match built.expect("a working host") {
                Ok(build) => build.description.description.unwrap_or_default(),
                Err(rejection) => format!("{rejection:?}"),
            };
            // The component's own text may stand in a complaint.
            let said = said.replace(&path, "");
            assert!(!said.contains(&holds), "{code}\n=> {said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn endless_files_take_no_memory() {
    let builder = builder(NetworkPolicy::PublicOnly).await;
    for device in ["zero", "urandom", "random", "full"] {
        let code = format!(
            "const y = (await import('/dev/' + '{device}', {{ with: {{ type: 'bytes' }} }})).default;\nexport default {{ name: String(y.length), version: '1', run() {{}} }};"
        );
        let built = builder.build(ComponentCode::Text(code)).await;
        assert!(built.expect("a working host").is_err(), "{device}");
    }
}
