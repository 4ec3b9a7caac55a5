//! Keys that are pressed while `dev` waits: read one by one, without being shown. While something else reads the
//! terminal, such as a question about a prop, they are left alone.

use std::io;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    LocalModes, OptionalActions, Termios, isatty, tcgetattr, tcgetpgrp, tcsetattr,
};

const LOOKED_EVERY: Duration = Duration::from_millis(100);

/// Whether keys can be read here.
pub(super) fn possible() -> bool {
    let stdin = io::stdin();
    // A command in the background would be stopped for touching its own terminal. Another one stops nobody.
    let is_in_front = match tcgetpgrp(&stdin) {
        Ok(group) => group == rustix::process::getpgrp(),
        Err(_) => true,
    };
    isatty(&stdin) && is_in_front
}

/// Waits until the key is pressed; for ever where keys cannot be read.
pub(super) async fn pressed(key: u8) {
    let Some(_single) = possible().then(SingleKeys::start).flatten() else {
        return std::future::pending().await;
    };
    loop {
        if read().contains(&key) {
            return;
        }
        tokio::time::sleep(LOOKED_EVERY).await;
    }
}

/// The keys that were pressed so far, without waiting.
fn read() -> Vec<u8> {
    let stdin = io::stdin();
    let at_once = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let mut polled = [PollFd::new(&stdin, PollFlags::IN)];
    let is_ready = poll(&mut polled, Some(&at_once)).is_ok_and(|ready| ready > 0);
    let mut keys = [0; 64];
    match is_ready.then(|| rustix::io::read(&stdin, &mut keys)) {
        Some(Ok(count)) => keys[..count].to_vec(),
        _ => Vec::new(),
    }
}

/// The terminal gives each key at once; dropping it makes that undone.
struct SingleKeys(Termios);

impl SingleKeys {
    fn start() -> Option<Self> {
        let stdin = io::stdin();
        let former = tcgetattr(&stdin).ok()?;
        let mut single = former.clone();
        single.local_modes &= !(LocalModes::ICANON | LocalModes::ECHO);
        tcsetattr(&stdin, OptionalActions::Now, &single).ok()?;
        Some(Self(former))
    }
}

impl Drop for SingleKeys {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}
