//! Styles and script, the same for every page: one file each, put together when the node is built, compressed once, and
//! kept by browsers for good, since their address changes with their content. The script of forms and the editor are files
//! of their own, for the pages that have them.

use std::{borrow::Cow, sync::LazyLock};

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
    include_str!("../assets/js/recent.js"),
    include_str!("../assets/js/palette.js"),
    include_str!("../assets/js/stream.js"),
    include_str!("../assets/js/live.js"),
    include_str!("../assets/js/select.js"),
    include_str!("../assets/js/parts.js"),
    include_str!("../assets/js/log.js"),
    include_str!("../assets/js/busy.js"),
    include_str!("../assets/js/wait.js"),
    include_str!("../assets/js/editor.js"),
    include_str!("../assets/js/forms.js"),
);

/// The same for pages with a form of props or of code.
const FORMS_JS: &str = concat!(
    "export const enable = (hw) => {\n",
    include_str!("../assets/js/choice.js"),
    include_str!("../assets/js/list.js"),
    include_str!("../assets/js/popup.js"),
    include_str!("../assets/js/chooser.js"),
    include_str!("../assets/js/secret.js"),
    include_str!("../assets/js/replace.js"),
    include_str!("../assets/js/trial.js"),
    include_str!("../assets/js/summary.js"),
    include_str!("../assets/js/returning.js"),
    include_str!("../assets/js/sending.js"),
    include_str!("../assets/js/options.js"),
    include_str!("../assets/js/draft.js"),
    "};\n",
);

/// CodeMirror, as `cargo xtask vendor-editor` bundles it, and what makes a field of it.
const CODEMIRROR: &str = concat!(
    include_str!("../assets/vendor/codemirror.js"),
    "\n",
    include_str!("../assets/js/mount.js"),
);

/// A file of pages.
pub(crate) struct Asset {
    name: &'static str,
    content_type: &'static str,
    plain: Cow<'static, str>,
    gzip: Vec<u8>,
    /// The beginning of the content's digest.
    hash: String,
}

impl Asset {
    fn new(
        name: &'static str,
        content_type: &'static str,
        text: impl Into<Cow<'static, str>>,
    ) -> Self {
        let text = text.into();
        let hash = hex::encode(Sha256::digest(text.as_bytes()));
        Self {
            name,
            content_type,
            gzip: compressed::gzip(text.as_bytes(), Compression::best()),
            hash: hash[..16].to_owned(),
            plain: text,
        }
    }

    /// The address, which changes with the content.
    pub(crate) fn path(&self) -> String {
        format!("/assets/{}/{}", self.hash, self.name)
    }
}

pub(crate) static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new(
        "headwater.css",
        "text/css; charset=utf-8",
        without_comments(CSS),
    )
});
pub(crate) static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new(
        "headwater.js",
        "text/javascript; charset=utf-8",
        without_comments(JS),
    )
});

/// The script of forms of props and of code, which name its address.
pub(crate) static FORMS: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new(
        "forms.js",
        "text/javascript; charset=utf-8",
        without_comments(FORMS_JS),
    )
});

/// The editor of code and JSON; its fields name the address.
pub(crate) static EDITOR: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new(
        "codemirror.js",
        "text/javascript; charset=utf-8",
        CODEMIRROR,
    )
});

/// Styles or script of this crate without the comments that stand on lines of their own: browsers do not need them. What
/// was written by others is served as it is, with its licences.
fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut is_comment = false;
    for line in text.lines() {
        let words = line.trim();
        is_comment |= words.starts_with("/*");
        if !is_comment && !words.is_empty() && !words.starts_with("//") {
            kept.push_str(line);
            kept.push('\n');
        }
        is_comment &= !words.ends_with("*/");
    }
    kept
}

/// Serves a file. One of another version is not there: a page of that version is old, too.
pub(crate) async fn serve(
    Path((hash, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let found = [&*STYLE, &*SCRIPT, &*FORMS, &*EDITOR]
        .into_iter()
        .find(|asset| asset.name == name && asset.hash == hash);
    let Some(asset) = found else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let is_small = compressed::is_accepted(&headers);
    let body = match is_small {
        true => asset.gzip.clone(),
        false => asset.plain.as_bytes().to_vec(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_on_lines_of_their_own_are_not_served() {
        let text = "/* One. */\na { b: c; } /* kept */\n\n  /** Two,\n   * long. */\n  // Three.\n  const d = \"//e\"; // kept\n";
        let expected = "a { b: c; } /* kept */\n  const d = \"//e\"; // kept\n";
        assert_eq!(without_comments(text), expected);
    }

    /// A comment that has code behind it would take that code with it, and one inside a text would be missed there.
    #[test]
    fn our_files_have_nothing_that_would_be_lost() {
        for text in [CSS, JS, FORMS_JS] {
            for line in text.lines().map(str::trim) {
                let (has_begin, has_end) = (line.starts_with("/*"), line.contains("*/"));
                assert!(!has_begin || !has_end || line.ends_with("*/"), "{line}");
                assert_eq!(line.matches('`').count() % 2, 0, "{line}");
            }
            assert_eq!(text.matches("/*").count(), text.matches("*/").count());
        }
        assert!(!SCRIPT.plain.contains("/**") && SCRIPT.plain.len() < JS.len());
        assert!(STYLE.plain.contains("--ground") && STYLE.plain.len() < CSS.len());
    }
}
