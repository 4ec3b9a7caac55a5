//! The worker processes of a node, as the machine sees them: killing them from outside.

use std::{collections::HashMap, fs, os::fd::AsFd as _, path::Path};

use rustix::{
    event::{PollFd, PollFlags, poll},
    process::{
        Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process, pidfd_open,
        pidfd_send_signal, waitid,
    },
};

use crate::{node::Node, receiver::Receiver};

impl Node {
    /// Kills the workers as soon as an execution has begun, so many times. Each execution calls the gate with a body of its
    /// own until it may go on.
    pub async fn kill_begun(&self, gate: &Receiver, times: usize) {
        for begun in 1..=times {
            gate.until(|received| {
                let mut executions: Vec<_> = received.iter().map(|one| one.body.clone()).collect();
                executions.sort();
                executions.dedup();
                executions.len() >= begun
            })
            .await;
            assert!(self.kill_workers() > 0);
        }
    }

    /// Kills every process of the runtime that the node has, as the kernel does when memory runs out:
    /// with SIGKILL, and without telling the node, which finds all of them gone at once. Returns how many there were.
    pub fn kill_workers(&self) -> usize {
        let node = Pid::from_raw(self.pid().cast_signed()).expect("a process id");
        // The work of the first one must not get to the next one before that is killed too.
        kill_process(node, Signal::STOP).expect("the node runs");
        let stopped = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(node), stopped).expect("a child of the test");
        let workers = descendants(self.pid())
            .into_iter()
            .filter(|pid| is_runtime(*pid));
        let killed = workers.filter_map(killed).count();
        kill_process(node, Signal::CONT).expect("the node is stopped");
        killed
    }
}

/// Kills a process and waits until it is gone; `None` if it was before.
fn killed(pid: u32) -> Option<()> {
    let process = pidfd_open(Pid::from_raw(pid.cast_signed())?, PidfdFlags::empty()).ok()?;
    pidfd_send_signal(&process, Signal::KILL).ok()?;
    let mut waited_for = [PollFd::from_borrowed_fd(process.as_fd(), PollFlags::IN)];
    poll(&mut waited_for, None).expect("a process that was killed ends");
    Some(())
}

/// The processes that this one has started, and those that they have.
fn descendants(pid: u32) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    let processes = fs::read_dir("/proc").expect("Linux has /proc");
    let processes = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    for process in processes {
        if let Some(parent) = parent_of(process) {
            children.entry(parent).or_default().push(process);
        }
    }
    let mut found = vec![pid];
    let mut looked_at = 0;
    while let Some(process) = found.get(looked_at) {
        let own = children.remove(process).unwrap_or_default();
        found.extend(own);
        looked_at += 1;
    }
    found.split_off(1)
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name, in parentheses, may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn is_runtime(pid: u32) -> bool {
    let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    let name = program
        .file_name()
        .and_then(|name| Path::new(name).to_str());
    name.is_some_and(|name| name.starts_with("deno"))
}
