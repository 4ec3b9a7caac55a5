//! Where the `headwater` binary under test is.

use std::path::PathBuf;

/// The binary that cargo put beside the test executables (`target/<profile>/headwater`).
///
/// It is another package's binary, so cargo does not build it for this crate's tests.
pub(crate) fn path() -> PathBuf {
    let test = std::env::current_exe().expect("a test executable knows where it is");
    let folders = test.ancestors().skip(1).take(2);
    let candidates: Vec<_> = folders.map(|folder| folder.join("headwater")).collect();
    match candidates.iter().find(|path| path.is_file()) {
        Some(path) => path.clone(),
        None => panic!(
            "the binary under test is not at {}; build it with `cargo build -p headwater`, \
             or run the tests with `cargo xtask test`",
            candidates[candidates.len() - 1].display()
        ),
    }
}
