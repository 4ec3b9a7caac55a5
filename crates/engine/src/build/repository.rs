//! Addresses of files in code hosts' web pages, turned into the addresses of the files themselves.

use url::Url;

/// The address of the file itself, when `url` is that of a page about a file; else `url`.
pub(super) fn raw_address(url: &Url) -> Url {
    let Some(segments) = url.path_segments() else {
        return url.clone();
    };
    let segments: Vec<&str> = segments.collect();
    let path = match (url.host_str(), segments.as_slice()) {
        // OWNER/REPO/blob/REF/PATH; the site redirects OWNER/REPO/raw/REF/PATH to the file's own host.
        (Some("github.com"), [owner, repository, "blob", rest @ ..]) if rest.len() > 1 => {
            format!("/{owner}/{repository}/raw/{}", rest.join("/"))
        }
        // GROUP/…/PROJECT/-/blob/REF/PATH, on the public host and on one's own.
        (_, segments) => match segments
            .iter()
            .zip(segments.iter().skip(1))
            .position(|pair| pair == (&"-", &"blob"))
        {
            Some(at) if segments.len() > at + 3 => {
                format!(
                    "/{}/-/raw/{}",
                    segments[..at].join("/"),
                    segments[at + 2..].join("/")
                )
            }
            _ => return url.clone(),
        },
    };
    let mut raw = url.clone();
    raw.set_path(&path);
    raw.set_fragment(None);
    raw
}

#[cfg(test)]
mod tests {
    use super::raw_address;

    #[test]
    fn pages_about_files_become_files() {
        for (page, file) in [
            (
                "https://github.com/o/r/blob/main/a/b.mjs",
                "https://github.com/o/r/raw/main/a/b.mjs",
            ),
            (
                "https://github.com/o/r/blob/main/b.mjs#L10",
                "https://github.com/o/r/raw/main/b.mjs",
            ),
            (
                "https://gitlab.com/g/s/p/-/blob/main/b.mjs",
                "https://gitlab.com/g/s/p/-/raw/main/b.mjs",
            ),
            (
                "https://git.example.com/g/p/-/blob/v1/x/b.ts",
                "https://git.example.com/g/p/-/raw/v1/x/b.ts",
            ),
            ("https://github.com/o/r", "https://github.com/o/r"),
            (
                "https://github.com/o/r/blob/main",
                "https://github.com/o/r/blob/main",
            ),
            (
                "https://example.com/a/blob/b.mjs",
                "https://example.com/a/blob/b.mjs",
            ),
        ] {
            assert_eq!(raw_address(&page.parse().unwrap()).as_str(), file);
        }
    }
}
