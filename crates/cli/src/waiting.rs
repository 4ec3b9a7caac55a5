//! A sign on the terminal that something takes its time. It is on standard error, begins after a second, and leaves
//! nothing behind.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const AFTER: Duration = Duration::from_secs(1);
const STEP: Duration = Duration::from_millis(100);
const SIGNS: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

static IS_SHOWN: AtomicBool = AtomicBool::new(false);

/// Awaits it, and shows a sign meanwhile if people look.
pub(crate) async fn shown<T>(awaited: impl Future<Output = T>) -> T {
    if !io::stderr().is_terminal() {
        return awaited.await;
    }
    let _cleared = Cleared;
    tokio::select! {
        biased;
        result = awaited => result,
        never = show() => match never {},
    }
}

/// Takes the sign away before something else is written.
pub(crate) fn clear() {
    if IS_SHOWN.swap(false, Ordering::Relaxed) {
        let _ = write!(io::stderr().lock(), "\r\u{1b}[2K");
    }
}

struct Cleared;

impl Drop for Cleared {
    fn drop(&mut self) {
        clear();
    }
}

async fn show() -> std::convert::Infallible {
    let begun = Instant::now();
    tokio::time::sleep(AFTER).await;
    for sign in SIGNS.into_iter().cycle() {
        let seconds = begun.elapsed().as_secs();
        IS_SHOWN.store(true, Ordering::Relaxed);
        let _ = write!(
            io::stderr().lock(),
            "\r\u{1b}[2K{sign} waiting for the node, {seconds} s"
        );
        tokio::time::sleep(STEP).await;
    }
    unreachable!("the signs have no end")
}
