//! The memory of a process over a while, and whether it grows.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::task::JoinHandle;

const LOOK: Duration = Duration::from_millis(500);
/// Growth allowed for a process that has just begun, and for memory that an allocator keeps.
const ALLOWED_MIB: f64 = 24.0;

/// Samples being taken.
pub(super) struct Memory {
    stop: Arc<AtomicBool>,
    samples: JoinHandle<Vec<f64>>,
}

/// The samples, in MiB.
pub(super) struct Watched(Vec<f64>);

impl Memory {
    pub(super) fn watch(pid: u32) -> Self {
        let stop = Arc::<AtomicBool>::default();
        let stopped = Arc::clone(&stop);
        let samples = tokio::spawn(async move {
            let mut samples = Vec::new();
            while !stopped.load(Ordering::Relaxed) {
                samples.extend(resident_mib(pid));
                tokio::time::sleep(LOOK).await;
            }
            samples
        });
        Self { stop, samples }
    }

    pub(super) async fn end(self) -> Watched {
        self.stop.store(true, Ordering::Relaxed);
        Watched(self.samples.await.unwrap())
    }
}

/// Resident memory without files.
fn resident_mib(pid: u32) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kib: f64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    Some(kib / 1024.0)
}

impl Watched {
    /// By how much the line through the samples rises, from a third of the way on: caches fill before.
    fn growth(&self) -> f64 {
        let samples = &self.0[self.0.len() / 3..];
        let count = samples.len() as f64;
        let (middle, mean) = ((count - 1.0) / 2.0, samples.iter().sum::<f64>() / count);
        let (mut above, mut below) = (0.0, 0.0);
        for (place, sample) in samples.iter().enumerate() {
            let distance = place as f64 - middle;
            above += distance * (sample - mean);
            below += distance * distance;
        }
        above / below * (count - 1.0)
    }

    /// Says so if it grows.
    pub(super) fn fault(&self) -> Option<String> {
        let (samples, growth) = (self.0.len(), self.growth());
        assert!(samples > 6, "too short to tell whether memory grows");
        (growth > ALLOWED_MIB).then(|| format!("memory grew by {growth:.0} MiB: {:.0?}", self.0))
    }

    pub(super) fn shown(&self) -> String {
        let most = self.0.iter().copied().fold(0.0, f64::max);
        format!(
            "memory {:.1} MiB at most, {:+.1} MiB along the way",
            most,
            self.growth()
        )
    }
}

#[test]
fn what_grows_is_told_from_what_only_varies() {
    let varies = |place: u32| 100.0 + f64::from(place % 7);
    let flat = Watched((0..300).map(varies).collect());
    let grows = Watched(
        (0..300)
            .map(|place| varies(place) + f64::from(place) / 4.0)
            .collect(),
    );
    assert_eq!(flat.fault(), None);
    assert!(grows.fault().is_some());
}
