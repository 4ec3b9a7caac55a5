//! An RSS feed on a real web server process.

use std::{fmt::Write as _, process::Command};

use tempfile::TempDir;

use crate::process::Process;

/// Python's web server over a folder with one feed; dropping it ends it.
pub struct FeedServer {
    _process: Process,
    folder: TempDir,
    url: String,
}

impl FeedServer {
    /// Starts it with a feed of these items.
    pub async fn start(items: &[&str]) -> Self {
        let folder = TempDir::with_prefix("headwater-feed-").unwrap();
        write(&folder, items);
        let mut command = Command::new("python3");
        command
            .args([
                "-u",
                "-m",
                "http.server",
                "0",
                "--bind",
                "127.0.0.1",
                "--directory",
            ])
            .arg(folder.path());
        let started = tokio::task::spawn_blocking(move || {
            // `Serving HTTP on 127.0.0.1 port 40815 (http://127.0.0.1:40815/) ...`
            Process::start(
                "python3 (install it with `apt-get install python3`)",
                &mut command,
                |line| {
                    let (_, rest) = line.split_once("(http://")?;
                    Some(rest.split_once('/')?.0.to_owned())
                },
            )
        });
        let (process, address) = started.await.unwrap();
        Self {
            _process: process,
            folder,
            url: format!("http://{address}/feed.xml"),
        }
    }

    /// The feed's address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Publishes these items, and no others, at once.
    pub fn publish(&self, items: &[&str]) {
        write(&self.folder, items);
    }
}

/// Replaces the file as a whole: a poll sees the former feed or the new one.
fn write(folder: &TempDir, items: &[&str]) {
    let unfinished = folder.path().join("feed.unfinished");
    std::fs::write(&unfinished, feed(items)).unwrap();
    std::fs::rename(unfinished, folder.path().join("feed.xml")).unwrap();
}

fn feed(items: &[&str]) -> String {
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rss version=\"2.0\"><channel>\n\
                   <title>News</title><link>https://news.example/</link><description>What is new</description>\n"
        .to_owned();
    // Feeds list the newest item first.
    for item in items.iter().rev() {
        let _ = writeln!(
            xml,
            "<item><title>{item}</title><link>https://news.example/{item}</link><guid>news-{item}</guid></item>"
        );
    }
    xml + "</channel></rss>\n"
}
