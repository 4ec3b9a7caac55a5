//! Files of owners, in whatever place a node has them.

use std::sync::Arc;

use bytes::Bytes;
use headwater_model::time::EpochMs;

use super::FilesFactory;
use crate::{FilePath, FileStorage, FileUsage, FolderEntry, FolderRange, StoredFile};

const UNBOUNDED: FileUsage = FileUsage {
    files: u64::MAX,
    bytes: u64::MAX,
};

fn path(text: &str) -> FilePath {
    text.parse().unwrap()
}

fn stored(at: &str, size: usize, end: Option<u64>) -> StoredFile {
    StoredFile {
        path: path(at),
        size: size as u64,
        modified_at_ms: EpochMs(1),
        hash: format!("5891{size}"),
        expires_at_ms: end.map(EpochMs),
    }
}

async fn put_within(
    files: &dyn FileStorage,
    tenant: &str,
    file: StoredFile,
    bytes: Bytes,
    most: FileUsage,
) -> bool {
    let mut writer = files.begin(tenant).await.unwrap();
    writer.write(bytes).await.unwrap();
    writer.commit(file, most).await.unwrap()
}

async fn put(files: &dyn FileStorage, tenant: &str, at: &str, text: &str, end: Option<u64>) {
    let (file, bytes) = (stored(at, text.len(), end), Bytes::from(text.to_owned()));
    assert!(put_within(files, tenant, file, bytes, UNBOUNDED).await);
}

async fn text(files: &dyn FileStorage, tenant: &str, at: &str) -> Option<String> {
    let content = files.open(tenant, &path(at)).await.unwrap()?;
    let bytes = content.read(0, 1_000).await.unwrap();
    Some(String::from_utf8(bytes.to_vec()).unwrap())
}

async fn usage(files: &dyn FileStorage, tenant: &str) -> (u64, u64) {
    let usage = files.usage(tenant).await.unwrap();
    (usage.files, usage.bytes)
}

async fn listed(
    files: &dyn FileStorage,
    folder: &str,
    after: Option<&str>,
    limit: usize,
) -> Vec<String> {
    let range = FolderRange {
        folder: FilePath::folder(folder).unwrap(),
        after: after.map(str::to_owned),
        limit,
    };
    let entries = files.list("u_1", range).await.unwrap();
    entries.iter().map(FolderEntry::key).collect()
}

pub async fn files_are_the_same_after_reopen(factory: &dyn FilesFactory) {
    let files = factory.open().await;
    put(&*files, "u_1", "a.txt", "first", None).await;
    put(&*files, "u_1", "a.txt", "second", None).await;
    put(&*files, "u_1", "day/b.txt", "kept for a while", Some(100)).await;
    put(&*files, "u_2", "a.txt", "of another", None).await;
    let unfinished = files.begin("u_1").await.unwrap();
    let reopened = factory.reopen(Arc::clone(&files)).await;
    for files in [&*files, &*reopened] {
        assert_eq!(text(files, "u_1", "a.txt").await.unwrap(), "second");
        assert_eq!(text(files, "u_2", "a.txt").await.unwrap(), "of another");
        assert_eq!(text(files, "u_2", "day/b.txt").await, None);
        assert_eq!(usage(files, "u_1").await, (2, 22));
        assert_eq!(files.tenants().await.unwrap(), ["u_1", "u_2"]);
        let content = files.open("u_1", &path("day/b.txt")).await.unwrap();
        assert_eq!(*content.unwrap().file(), stored("day/b.txt", 16, Some(100)));
    }
    drop(unfinished);
}

pub async fn a_content_has_any_size(factory: &dyn FilesFactory) {
    const KIB: usize = 1024;
    let files = factory.open().await;
    // Around the sizes of chunks, written in pieces of another size.
    for size in [0, 1, 256 * KIB - 1, 256 * KIB, 256 * KIB + 1, 2_500_000] {
        let whole: Vec<u8> = (0..size).map(|at| (at / 7 % 251) as u8).collect();
        let whole = Bytes::from(whole);
        let mut writer = files.begin("u_1").await.unwrap();
        for piece in whole.chunks(300_001) {
            writer.write(whole.slice_ref(piece)).await.unwrap();
        }
        let file = stored("large", size, None);
        assert!(writer.commit(file, UNBOUNDED).await.unwrap());
        let content = files.open("u_1", &path("large")).await.unwrap().unwrap();
        assert_eq!(content.read(0, usize::MAX).await.unwrap(), whole);
        for (from, length) in [(0, 10), (256 * KIB - 5, 10), (300_000, 1_000_000)] {
            let to = size.min(from + length);
            let expected = whole.slice(size.min(from)..to.max(size.min(from)));
            let piece = content.read(from as u64, length).await.unwrap();
            assert_eq!(piece, expected, "{length} bytes from {from} on of {size}");
        }
        let behind = content.read(size as u64 + 1, 10).await.unwrap();
        assert!(behind.is_empty());
    }
    assert_eq!(usage(&*files, "u_1").await, (1, 2_500_000));
}

pub async fn a_file_that_is_read_stays_the_same(factory: &dyn FilesFactory) {
    let files = factory.open().await;
    put(&*files, "u_1", "a.txt", "first", None).await;
    let content = files.open("u_1", &path("a.txt")).await.unwrap().unwrap();
    put(&*files, "u_1", "a.txt", "other", Some(100)).await;
    assert!(files.delete("u_1", &path("a.txt")).await.unwrap());
    assert!(!files.delete("u_1", &path("a.txt")).await.unwrap());
    files.delete_expired(EpochMs(1_000)).await.unwrap();
    assert_eq!(content.read(1, 3).await.unwrap(), "irs");
    assert_eq!(content.read(3, 100).await.unwrap(), "st");
    assert_eq!(usage(&*files, "u_1").await, (0, 0));
    assert!(files.tenants().await.unwrap().is_empty());
}

pub async fn nobody_sees_a_file_before_its_commit(factory: &dyn FilesFactory) {
    let files = factory.open().await;
    let mut writer = files.begin("u_1").await.unwrap();
    writer.write(Bytes::from(vec![7; 600_000])).await.unwrap();
    assert!(files.open("u_1", &path("a")).await.unwrap().is_none());
    assert!(listed(&*files, "", None, 10).await.is_empty());
    assert_eq!(usage(&*files, "u_1").await, (0, 0));
    let reopened = factory.reopen(files).await;
    assert_eq!(usage(&*reopened, "u_1").await, (0, 0));
    assert!(reopened.tenants().await.unwrap().is_empty());
    drop(writer);
    put(&*reopened, "u_1", "a", "whole", None).await;
    assert_eq!(text(&*reopened, "u_1", "a").await.unwrap(), "whole");
}

pub async fn a_folder_is_listed_page_by_page(factory: &dyn FilesFactory) {
    let files = factory.open().await;
    for at in ["a", "a-b", "a/1", "a/2", "a/c/3", "b/4", "é"] {
        put(&*files, "u_1", at, "", None).await;
    }
    put(&*files, "u_2", "a/of another", "", None).await;
    assert_eq!(
        listed(&*files, "", None, 100).await,
        ["a", "a-b", "a/", "b/", "é"]
    );
    assert_eq!(
        listed(&*files, "a", None, 100).await,
        ["a/1", "a/2", "a/c/"]
    );
    assert_eq!(listed(&*files, "", None, 2).await, ["a", "a-b"]);
    assert_eq!(listed(&*files, "", Some("a-b"), 1).await, ["a/"]);
    assert_eq!(listed(&*files, "", Some("a/"), 100).await, ["b/", "é"]);
    assert!(listed(&*files, "nothing", None, 100).await.is_empty());
    let range = FolderRange {
        folder: Some(path("b")),
        after: None,
        limit: 1,
    };
    let file = FolderEntry::File {
        path: "b/4".to_owned(),
        size: 0,
        modified_at_ms: EpochMs(1),
    };
    assert_eq!(files.list("u_1", range).await.unwrap(), [file]);
}

pub async fn paths_have_any_characters(factory: &dyn FilesFactory) {
    let files = factory.open().await;
    let paths = ["\u{1}", "\u{1}\u{2}/%_", "%", "Z/'\"\\", "a0", "\u{10FFFF}"];
    for at in ["%", "a0", "Z/'\"\\", "\u{10FFFF}", "\u{1}\u{2}/%_", "\u{1}"] {
        put(&*files, "u_1", at, at, None).await;
    }
    put(&*files, "u_1", "a/b", "", None).await;
    for at in paths {
        assert_eq!(text(&*files, "u_1", at).await.as_deref(), Some(at));
    }
    assert_eq!(
        listed(&*files, "", None, 100).await,
        ["\u{1}", "\u{1}\u{2}/", "%", "Z/", "a/", "a0", "\u{10FFFF}"]
    );
    assert_eq!(
        listed(&*files, "\u{1}\u{2}", None, 100).await,
        ["\u{1}\u{2}/%_"]
    );
}

pub async fn files_end_at_their_time(factory: &dyn FilesFactory) {
    let files = factory.open().await;
    put(&*files, "u_1", "now", "12", Some(50)).await;
    put(&*files, "u_1", "later", "123", Some(51)).await;
    put(&*files, "u_1", "never", "1234", None).await;
    assert_eq!(files.delete_expired(EpochMs(50)).await.unwrap(), 1);
    assert_eq!(usage(&*files, "u_1").await, (2, 7));
    let reopened = factory.reopen(files).await;
    assert_eq!(reopened.delete_expired(EpochMs(1_000)).await.unwrap(), 1);
    assert_eq!(reopened.delete_expired(EpochMs(1_000)).await.unwrap(), 0);
    assert_eq!(usage(&*reopened, "u_1").await, (1, 4));
}

pub async fn files_of_a_tenant_are_deleted_together(factory: &dyn FilesFactory) {
    let files = factory.open().await;
    for at in ["a", "b/c"] {
        put(&*files, "u_1", at, "1234", None).await;
        put(&*files, "u_2", at, "1234", None).await;
    }
    files.delete_all("u_1").await.unwrap();
    assert_eq!(usage(&*files, "u_1").await, (0, 0));
    assert!(files.open("u_1", &path("a")).await.unwrap().is_none());
    assert_eq!(files.tenants().await.unwrap(), ["u_2"]);
    put(&*files, "u_1", "a", "12", None).await;
    assert_eq!(usage(&*files, "u_1").await, (1, 2));
    assert_eq!(text(&*files, "u_2", "b/c").await.unwrap(), "1234");
}

pub async fn a_bound_holds_however_many_write_at_once(factory: &dyn FilesFactory) {
    let files = factory.open().await;
    let most = FileUsage {
        files: 3,
        bytes: 1_000,
    };
    for (tenant, size, fitting) in [("u_1", 10, 3), ("u_2", 400, 2)] {
        let writing = (0..8).map(|number| {
            let files = Arc::clone(&files);
            let file = stored(&number.to_string(), size, None);
            let bytes = Bytes::from(vec![0; size]);
            let put = async move { put_within(&*files, tenant, file, bytes, most).await };
            tokio::spawn(put)
        });
        let mut written = 0;
        for writing in writing.collect::<Vec<_>>() {
            written += u64::from(writing.await.unwrap());
        }
        assert_eq!(written, fitting);
        assert_eq!(
            usage(&*files, tenant).await,
            (fitting, fitting * size as u64)
        );
    }
}

pub async fn a_file_that_replaces_another_takes_its_room(factory: &dyn FilesFactory) {
    let files = factory.open().await;
    let most = FileUsage {
        files: 1,
        bytes: 10,
    };
    let put = async |at: &str, size: usize| {
        let (file, bytes) = (stored(at, size, None), Bytes::from(vec![0; size]));
        put_within(&*files, "u_1", file, bytes, most).await
    };
    assert!(put("a", 6).await);
    assert!(put("a", 10).await, "the former is gone then");
    assert!(!put("a", 11).await);
    assert!(!put("b", 0).await);
    assert_eq!(usage(&*files, "u_1").await, (1, 10));
}
