//! A sign on the terminal that something takes its time, with the work that it is. It is on standard error, begins after a
//! second, and leaves nothing behind.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

use crate::display;

const AFTER: Duration = Duration::from_secs(1);
const STEP: Duration = Duration::from_millis(100);
const SIGNS: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// Whether the sign is on the screen.
static IS_SHOWN: Mutex<bool> = Mutex::new(false);
/// Held by the one wait that draws: the outermost, or the first of several beside each other.
static PEN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// Awaits it, and shows a sign meanwhile if people look.
pub(crate) async fn shown<T>(work: &str, awaited: impl Future<Output = T>) -> T {
    if !io::stderr().is_terminal() {
        return awaited.await;
    }
    let _cleared = Cleared;
    tokio::select! {
        biased;
        // First, so that its second begins before that of a wait within.
        never = show(work) => match never {},
        result = awaited => result,
    }
}

/// The same of work that is sure to take long: without a terminal, a line says that it begins.
pub(crate) async fn told<T>(work: &str, awaited: impl Future<Output = T>) -> T {
    if !io::stderr().is_terminal() {
        let _ = writeln!(io::stderr().lock(), "{work} …");
    }
    shown(work, awaited).await
}

/// The same of work that keeps a thread busy.
pub(crate) async fn busy<T: Send + 'static>(
    work: &str,
    job: impl FnOnce() -> T + Send + 'static,
) -> T {
    let done = told(work, tokio::task::spawn_blocking(job)).await;
    done.unwrap_or_else(|failed| std::panic::resume_unwind(failed.into_panic()))
}

/// Takes the sign away before something else is written, for as long as this is held.
pub(crate) fn clear() -> MutexGuard<'static, bool> {
    let mut is_shown = IS_SHOWN.lock();
    if std::mem::take(&mut *is_shown) {
        let _ = write!(io::stderr().lock(), "\r\u{1b}[2K");
    }
    is_shown
}

struct Cleared;

impl Drop for Cleared {
    fn drop(&mut self) {
        drop(clear());
    }
}

async fn show(work: &str) -> std::convert::Infallible {
    let begun = Instant::now();
    tokio::time::sleep(AFTER).await;
    let _pen = PEN.lock().await;
    for sign in SIGNS.into_iter().cycle() {
        let seconds = begun.elapsed().as_secs();
        draw(&format!("{sign} {work}, {seconds} s"));
        tokio::time::sleep(STEP).await;
    }
    unreachable!("the signs have no end")
}

/// Draws the sign, cut to one line: a longer one could not be taken away.
fn draw(sign: &str) {
    let mut is_shown = IS_SHOWN.lock();
    *is_shown = true;
    let mut stderr = io::stderr().lock();
    let width = display::width_of(&stderr).unwrap_or(u16::MAX);
    let line: String = sign.chars().take(usize::from(width)).collect();
    let _ = write!(stderr, "\r\u{1b}[2K{line}");
}
