//! The order of the search, with scripts in Deno's place.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use super::{DenoSearch, VERSION, locate};

fn script(folder: &Path, name: &str, body: &str) -> PathBuf {
    fs::create_dir_all(folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn search(root: &Path, folders: &[&Path]) -> DenoSearch {
    DenoSearch {
        override_path: None,
        path_var: Some(std::env::join_paths(folders).unwrap()),
        cache_dir: root.join("cache"),
        client_env: Vec::new(),
    }
}

#[tokio::test]
async fn the_users_choice_is_taken_or_refused_but_never_passed_over() {
    let root = tempfile::tempdir().unwrap();
    let good = script(root.path(), "good", &format!("echo deno {VERSION}"));
    let old = script(root.path(), "old", "echo deno 1.0.0");
    let found = |path: &Path| {
        let override_path = Some(path.to_owned());
        DenoSearch {
            override_path,
            ..search(root.path(), &[])
        }
    };
    assert_eq!(
        locate(&found(&good), &|_| {}).await.unwrap().version,
        VERSION
    );
    let refused = locate(&found(&old), &|_| {}).await.unwrap_err().to_string();
    assert!(refused.contains("is 1.0.0"), "{refused}");
    let missing = locate(&found(&root.path().join("none")), &|_| {})
        .await
        .unwrap_err()
        .to_string();
    assert!(missing.contains("does not run"), "{missing}");
}

#[tokio::test]
async fn the_first_deno_on_the_path_that_fits_is_taken() {
    let root = tempfile::tempdir().unwrap();
    let (old, new) = (root.path().join("a"), root.path().join("b"));
    script(&old, "deno", "echo deno 2.9.0");
    let fitting = script(&new, "deno", &format!("echo deno {VERSION}"));
    let deno = locate(&search(root.path(), &[&old, &new]), &|_| {})
        .await
        .unwrap();
    assert_eq!(deno.path, fitting);
}

#[tokio::test]
async fn without_deno_and_without_a_package_client_the_error_says_what_to_install() {
    let root = tempfile::tempdir().unwrap();
    let error = locate(&search(root.path(), &[]), &|_| {})
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(&format!("npm install --global deno@{VERSION}")),
        "{error}"
    );
}

#[tokio::test]
async fn a_failing_client_is_quoted() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("bin");
    script(&folder, "npm", "echo 'mirror unreachable' >&2; exit 1");
    let error = locate(&search(root.path(), &[&folder]), &|_| {})
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("npm failed: mirror unreachable"), "{error}");
}

#[tokio::test]
async fn a_binary_that_is_not_the_pinned_one_is_not_installed() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("bin");
    // Writes an impostor where each client would put the binary.
    let impostor = "for d in linux-x64-glibc linux-arm64-glibc darwin-x64 darwin-arm64; do
        /bin/mkdir -p \"$3/node_modules/@deno/$d\"; echo impostor > \"$3/node_modules/@deno/$d/deno\"; done";
    script(&folder, "npm", impostor);
    let search = search(root.path(), &[&folder]);
    let error = locate(&search, &|_| {}).await.unwrap_err().to_string();
    assert!(error.contains("not the pinned one"), "{error}");
    assert!(
        !search
            .cache_dir
            .join(format!("deno-{VERSION}"))
            .join("deno")
            .exists()
    );
}
