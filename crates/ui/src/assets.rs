//! Styles and script, the same for every page: one file each, put together when the node is built, compressed once, and
//! kept by browsers for good, since their address changes with their content. The editor is a file of its own, for the
//! pages that have it.

use std::sync::LazyLock;

use axum::{
    extract::Path,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use flate2::Compression;
use sha2::{Digest as _, Sha256};

use crate::compressed;

const CSS: &str = concat!(
    include_str!("../assets/css/tokens.css"),
    include_str!("../assets/css/base.css"),
    include_str!("../assets/css/layout.css"),
    include_str!("../assets/css/table.css"),
    include_str!("../assets/css/form.css"),
    include_str!("../assets/css/data.css"),
    include_str!("../assets/css/flow.css"),
    include_str!("../assets/css/dialog.css"),
    include_str!("../assets/css/guide.css"),
);

/// Each file is a block of its own; what they share is in `hw`.
const JS: &str = concat!(
    "\"use strict\";\nconst hw = {};\n",
    include_str!("../assets/js/dom.js"),
    include_str!("../assets/js/time.js"),
    include_str!("../assets/js/copy.js"),
    include_str!("../assets/js/keys.js"),
    include_str!("../assets/js/palette.js"),
    include_str!("../assets/js/stream.js"),
    include_str!("../assets/js/live.js"),
    include_str!("../assets/js/select.js"),
    include_str!("../assets/js/parts.js"),
    include_str!("../assets/js/trial.js"),
    include_str!("../assets/js/summary.js"),
    include_str!("../assets/js/choice.js"),
    include_str!("../assets/js/replace.js"),
    include_str!("../assets/js/returning.js"),
    include_str!("../assets/js/options.js"),
    include_str!("../assets/js/busy.js"),
    include_str!("../assets/js/wait.js"),
    include_str!("../assets/js/editor.js"),
);

/// CodeMirror, as `cargo xtask vendor-editor` bundles it.
const CODEMIRROR: &str = include_str!("../assets/vendor/codemirror.js");

/// A file of pages.
pub(crate) struct Asset {
    name: &'static str,
    content_type: &'static str,
    plain: &'static [u8],
    gzip: Vec<u8>,
    /// The beginning of the content's digest.
    hash: String,
}

impl Asset {
    fn new(name: &'static str, content_type: &'static str, text: &'static str) -> Self {
        let hash = hex::encode(Sha256::digest(text.as_bytes()));
        Self {
            name,
            content_type,
            plain: text.as_bytes(),
            gzip: compressed::gzip(text.as_bytes(), Compression::best()),
            hash: hash[..16].to_owned(),
        }
    }

    /// The address, which changes with the content.
    pub(crate) fn path(&self) -> String {
        format!("/assets/{}/{}", self.hash, self.name)
    }
}

pub(crate) static STYLE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("headwater.css", "text/css; charset=utf-8", CSS));
pub(crate) static SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("headwater.js", "text/javascript; charset=utf-8", JS));

/// The editor of code and JSON; its fields name the address.
pub(crate) static EDITOR: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new(
        "codemirror.js",
        "text/javascript; charset=utf-8",
        CODEMIRROR,
    )
});

/// Serves a file. One of another version is not there: a page of that version is old, too.
pub(crate) async fn serve(
    Path((hash, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let found = [&*STYLE, &*SCRIPT, &*EDITOR]
        .into_iter()
        .find(|asset| asset.name == name && asset.hash == hash);
    let Some(asset) = found else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let is_small = compressed::is_accepted(&headers);
    let body = match is_small {
        true => asset.gzip.clone(),
        false => asset.plain.to_vec(),
    };
    let mut response = body.into_response();
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, asset.content_type),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (header::VARY, "Accept-Encoding"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if is_small {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}
