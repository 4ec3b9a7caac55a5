//! Files in a folder, as a node that is started again finds them.

use bytes::Bytes;
use headwater_platform::StoredFile;

use super::*;

fn path(text: &str) -> FilePath {
    text.parse().unwrap()
}

async fn put(files: &FolderOfFiles, tenant: &str, at: &str, text: &str, end: Option<u64>) {
    let mut writer = files.begin(tenant).await.unwrap();
    writer.write(Bytes::from(text.to_owned())).await.unwrap();
    let stored = StoredFile {
        path: path(at),
        size: text.len() as u64,
        modified_at_ms: EpochMs(1),
        hash: "5891".to_owned(),
        expires_at_ms: end.map(EpochMs),
    };
    writer.commit(stored).await.unwrap();
}

async fn text(files: &FolderOfFiles, tenant: &str, at: &str) -> Option<String> {
    let content = files.open(tenant, &path(at)).await.unwrap()?;
    let bytes = content.read(0, 1_000).await.unwrap();
    Some(String::from_utf8(bytes.to_vec()).unwrap())
}

async fn listed(
    files: &FolderOfFiles,
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

#[tokio::test]
async fn files_are_the_same_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let files = FolderOfFiles::open(folder.path().into()).unwrap();
    put(&files, "u_1", "a.txt", "first", None).await;
    put(&files, "u_1", "a.txt", "second", None).await;
    put(&files, "u_1", "day/b.txt", "kept for a while", Some(100)).await;
    put(&files, "u_2", "a.txt", "of another", None).await;
    let unfinished = files.begin("u_1").await.unwrap();
    let restarted = FolderOfFiles::open(folder.path().into()).unwrap();
    for files in [&files, &restarted] {
        assert_eq!(text(files, "u_1", "a.txt").await.unwrap(), "second");
        assert_eq!(text(files, "u_2", "a.txt").await.unwrap(), "of another");
        assert_eq!(text(files, "u_2", "day/b.txt").await, None);
        let usage = files.usage("u_1").await.unwrap();
        assert_eq!((usage.files, usage.bytes), (2, 22));
    }
    drop(unfinished);
    assert!(names(&folder.path().join("uploads")).unwrap().is_empty());
}

#[tokio::test]
async fn a_file_that_is_read_stays_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let files = FolderOfFiles::open(folder.path().into()).unwrap();
    put(&files, "u_1", "a.txt", "first", None).await;
    let content = files.open("u_1", &path("a.txt")).await.unwrap().unwrap();
    put(&files, "u_1", "a.txt", "other", Some(100)).await;
    assert!(files.delete("u_1", &path("a.txt")).await.unwrap());
    assert!(!files.delete("u_1", &path("a.txt")).await.unwrap());
    assert_eq!(content.read(1, 3).await.unwrap(), "irs");
    assert_eq!(content.read(3, 100).await.unwrap(), "st");
    assert_eq!(files.usage("u_1").await.unwrap(), FileUsage::default());
}

#[tokio::test]
async fn a_folder_is_listed_page_by_page() {
    let folder = tempfile::tempdir().unwrap();
    let files = FolderOfFiles::open(folder.path().into()).unwrap();
    for at in ["a", "a-b", "a/1", "a/2", "a/c/3", "b/4", "é"] {
        put(&files, "u_1", at, "", None).await;
    }
    assert_eq!(
        listed(&files, "", None, 100).await,
        ["a", "a-b", "a/", "b/", "é"]
    );
    assert_eq!(listed(&files, "a", None, 100).await, ["a/1", "a/2", "a/c/"]);
    assert_eq!(listed(&files, "", None, 2).await, ["a", "a-b"]);
    assert_eq!(listed(&files, "", Some("a-b"), 1).await, ["a/"]);
    assert_eq!(listed(&files, "", Some("a/"), 100).await, ["b/", "é"]);
    assert!(listed(&files, "nothing", None, 100).await.is_empty());
}

#[tokio::test]
async fn files_end_at_their_time() {
    let folder = tempfile::tempdir().unwrap();
    let files = FolderOfFiles::open(folder.path().into()).unwrap();
    put(&files, "u_1", "now", "12", Some(50)).await;
    put(&files, "u_1", "later", "123", Some(51)).await;
    put(&files, "u_1", "never", "1234", None).await;
    assert_eq!(files.delete_expired(EpochMs(50)).await.unwrap(), 1);
    assert_eq!(files.usage("u_1").await.unwrap().bytes, 7);
    let restarted = FolderOfFiles::open(folder.path().into()).unwrap();
    assert_eq!(restarted.delete_expired(EpochMs(1_000)).await.unwrap(), 1);
    assert_eq!(restarted.usage("u_1").await.unwrap().bytes, 4);
    restarted.delete_all("u_1").await.unwrap();
    assert_eq!(restarted.usage("u_1").await.unwrap(), FileUsage::default());
}

#[tokio::test]
async fn a_damaged_file_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let files = FolderOfFiles::open(folder.path().into()).unwrap();
    put(&files, "u_1", "whole", "12", None).await;
    let kept = folder.path().join("tenants/u_1/kept");
    fs::write(kept.join("damaged"), "no description").unwrap();
    let restarted = FolderOfFiles::open(folder.path().into()).unwrap();
    assert_eq!(restarted.usage("u_1").await.unwrap().files, 1);
    assert!(kept.join("damaged").exists());
}

#[tokio::test]
async fn a_tenant_is_never_a_path() {
    let folder = tempfile::tempdir().unwrap();
    let files = FolderOfFiles::open(folder.path().into()).unwrap();
    for tenant in ["", "..", "u/1", "u\0"] {
        assert!(files.usage(tenant).await.is_err(), "{tenant:?}");
    }
}
