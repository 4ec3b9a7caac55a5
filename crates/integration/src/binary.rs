//! Where the `headwater` binary under test is.

use std::path::PathBuf;

/// The binary that cargo puts beside the folder of test executables: `target/<profile>/headwater`.
///
/// It is another package's binary. Testing the workspace builds it, testing this crate alone does not.
pub(crate) fn path() -> PathBuf {
    let test = std::env::current_exe().expect("a test executable knows where it is");
    // It is in `target/<profile>/deps`.
    let profile = test
        .ancestors()
        .nth(2)
        .expect("a test executable is in cargo's target folder");
    let binary = profile.join("headwater");
    assert!(
        binary.is_file(),
        "the binary under test is not at {}; build it with `cargo build -p headwater`, \
         or run the tests with `cargo xtask test`",
        binary.display()
    );
    binary
}
