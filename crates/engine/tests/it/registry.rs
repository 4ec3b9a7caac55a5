//! A package registry on the loopback for one scope, with packages that the real one would not have.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io::Write as _,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    extract::State,
    http::{
        HeaderValue, StatusCode, Uri,
        header::{AUTHORIZATION, HOST},
    },
    response::{IntoResponse, Response},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use sha2::{Digest, Sha512};

/// The scope whose packages come from here.
pub(crate) const SCOPE: &str = "@headwater-loopback";

/// The packages that are served, by their names without the scope.
type Packages = BTreeMap<String, Published>;

/// The token that private registries want.
const TOKEN: &str = "hushhush-token";

#[derive(Clone)]
struct Published {
    manifest: Value,
    tarball: Vec<u8>,
    integrity: String,
    answer: StatusCode,
}

#[derive(Clone)]
struct Served {
    packages: Arc<Mutex<Packages>>,
    is_private: bool,
}

/// A registry and the home folder whose `.npmrc` leads to it.
pub(crate) struct Registry {
    packages: Arc<Mutex<Packages>>,
    home: tempfile::TempDir,
}

impl Registry {
    /// A registry that has nothing yet.
    pub(crate) async fn start() -> Self {
        Self::serving(false).await
    }

    /// One that answers those only who have the token, as the home folder's `.npmrc` does.
    pub(crate) async fn start_private() -> Self {
        Self::serving(true).await
    }

    async fn serving(is_private: bool) -> Self {
        let packages = Arc::<Mutex<Packages>>::default();
        let served = Served {
            packages: packages.clone(),
            is_private,
        };
        let app = Router::new().fallback(serve).with_state(served);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self {
            packages,
            home: home(&format!("http://{address}/")),
        }
    }

    /// The settings that lead here.
    pub(crate) fn npmrc(&self) -> std::path::PathBuf {
        self.home.path().join(".npmrc")
    }

    /// A registry that nobody listens for.
    pub(crate) fn that_is_down() -> Self {
        Self {
            packages: Arc::default(),
            home: home("http://127.0.0.1:9/"),
        }
    }

    /// Publishes version 1.0.0 of a package.
    pub(crate) fn publish(&self, name: &str, manifest: &Value, files: &[(&str, &str)]) {
        let mut manifest = manifest.clone();
        manifest["name"] = format!("{SCOPE}/{name}").into();
        manifest["version"] = "1.0.0".into();
        let text = manifest.to_string();
        let tarball = gzipped(&tarball(&[&[("package.json", &*text)], files].concat()));
        let integrity = format!("sha512-{}", STANDARD.encode(Sha512::digest(&tarball)));
        let published = Published {
            manifest,
            tarball,
            integrity,
            answer: StatusCode::OK,
        };
        self.packages
            .lock()
            .unwrap()
            .insert(name.to_owned(), published);
    }

    /// Answers every question about a package with this status.
    pub(crate) fn refuse(&self, name: &str, answer: StatusCode) {
        self.publish(name, &json!({}), &[]);
        self.packages.lock().unwrap().get_mut(name).unwrap().answer = answer;
    }

    /// Sends other bytes for a package than it was published with.
    pub(crate) fn tamper(&self, name: &str) {
        let mut packages = self.packages.lock().unwrap();
        packages.get_mut(name).unwrap().integrity = format!("sha512-{}", STANDARD.encode([0; 64]));
    }

    /// The variables of a package client that is led here.
    pub(crate) fn client_env(
        &self,
        mut env: Vec<(OsString, OsString)>,
    ) -> Vec<(OsString, OsString)> {
        env.retain(|(name, _)| name != "HOME");
        env.push(("HOME".into(), self.home.path().into()));
        env
    }
}

/// A home folder as the user's own, with the scope led to `url`.
fn home(url: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let own =
        std::env::home_dir().and_then(|home| std::fs::read_to_string(home.join(".npmrc")).ok());
    let host = url.trim_start_matches("http:");
    let text = format!(
        "{}\n{SCOPE}:registry={url}\n{host}:_authToken={TOKEN}\n",
        own.unwrap_or_default()
    );
    std::fs::write(home.path().join(".npmrc"), text).unwrap();
    home
}

async fn serve(State(served): State<Served>, headers: axum::http::HeaderMap, uri: Uri) -> Response {
    let given = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
    if served.is_private && given != Some(format!("Bearer {TOKEN}").as_bytes()) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let path = uri.path().replace("%2f", "/").replace("%2F", "/");
    let name = path
        .trim_start_matches('/')
        .trim_start_matches(SCOPE)
        .trim_start_matches('/');
    let found = served
        .packages
        .lock()
        .unwrap()
        .get(name.trim_end_matches(".tgz"))
        .cloned();
    let Some(package) = found else {
        return StatusCode::NOT_FOUND.into_response();
    };
    if package.answer != StatusCode::OK {
        return package.answer.into_response();
    }
    if name.ends_with(".tgz") {
        return package.tarball.into_response();
    }
    let host = headers[HOST].to_str().unwrap();
    let mut manifest = package.manifest;
    manifest["hasInstallScript"] = manifest["scripts"].is_object().into();
    manifest["dist"] = json!({
        "tarball": format!("http://{host}/{SCOPE}/{name}.tgz"),
        "integrity": package.integrity,
    });
    axum::Json(json!({
        "name": manifest["name"],
        "dist-tags": {"latest": "1.0.0"},
        "versions": {"1.0.0": manifest},
    }))
    .into_response()
}

fn tarball(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        // Written as it is: some names are made to lead out of the folder.
        let path = format!("package/{name}");
        header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_cksum();
        archive.append(&header, text.as_bytes()).unwrap();
    }
    archive.into_inner().unwrap()
}

/// The bytes in gzip's frame, not compressed.
fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let mut blocks = bytes.chunks(0xffff).peekable();
    while let Some(block) = blocks.next() {
        let length = u16::try_from(block.len()).unwrap();
        out.push(u8::from(blocks.peek().is_none()));
        out.write_all(&length.to_le_bytes()).unwrap();
        out.write_all(&(!length).to_le_bytes()).unwrap();
        out.write_all(block).unwrap();
    }
    out.write_all(&crc32(bytes).to_le_bytes()).unwrap();
    out.write_all(&u32::try_from(bytes.len()).unwrap().to_le_bytes())
        .unwrap();
    out
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 1 {
                (crc >> 1) ^ 0xedb8_8320
            } else {
                crc >> 1
            }
        })
    };
    !bytes.iter().fold(!0, step)
}
