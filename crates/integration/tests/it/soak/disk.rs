//! The room on a node's disk, taken away for a while.

use std::{fs::File, io::Write as _, path::PathBuf};

use headwater_integration::Node;

const BALLAST: &str = "ballast";
const BLOCK: usize = 1024 * 1024;

/// Fills it to the last byte.
pub(super) fn fill(node: &Node) {
    let mut file = File::create(ballast(node)).unwrap();
    let mut block = vec![0; BLOCK];
    while !block.is_empty() {
        if file.write_all(&block).is_err() {
            block.truncate(block.len() / 2);
        }
    }
}

/// Leaves room again.
pub(super) fn clear(node: &Node) {
    std::fs::remove_file(ballast(node)).unwrap();
}

fn ballast(node: &Node) -> PathBuf {
    node.data_dir().join(BALLAST)
}
