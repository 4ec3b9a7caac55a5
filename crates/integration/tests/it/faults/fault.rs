//! The kinds of faults: how each begins, how long it lasts, and how it is over.

use std::{fmt, time::Duration};

use headwater_integration::{Database, ServerEnd, Way};

use super::fleet::{Fleet, Suffering};

/// Longer than the silence after which a node counts as dead.
const SILENT: Duration = Duration::from_secs(10);
/// Shorter than that.
const SHORT: Duration = Duration::from_secs(2);
/// Enough for the load to take the last of the room.
const FULL: Duration = Duration::from_secs(5);
/// A clock that is an hour off, as libfaketime reads it, and one that is right.
const HOUR_AHEAD: &str = "+3600";
const HOUR_BEHIND: &str = "-3600";
const RIGHT: &str = "+0";

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    /// Killed, and started again at once.
    Kill,
    /// Killed, and started again once another node has its work.
    Lose,
    Pause,
    Stop,
    Drain,
    CutForLong,
    CutShortly,
    /// Nothing that the node says arrives at the database.
    Unheard,
    /// Nothing that the database says arrives at the node.
    Deaf,
    EndConnections,
    CrashDatabase,
    RestartDatabase,
    FillDisk,
    /// The clock of one node is wrong, until that of another is.
    SetClockAhead,
    SetClockBehind,
}

/// Those of the short version.
pub(super) const SHORT_KINDS: [Fault; 8] = [
    Fault::Kill,
    Fault::Pause,
    Fault::Stop,
    Fault::Drain,
    Fault::CutForLong,
    Fault::CutShortly,
    Fault::EndConnections,
    Fault::CrashDatabase,
];
/// Those of the long version besides.
const LONG_KINDS: [Fault; 4] = [
    Fault::Lose,
    Fault::Unheard,
    Fault::Deaf,
    Fault::RestartDatabase,
];

/// All kinds that this machine can let happen.
pub(super) fn long_kinds(database: &Database, sets_clocks: bool) -> Vec<Fault> {
    let mut kinds = SHORT_KINDS.to_vec();
    kinds.extend(LONG_KINDS);
    if database.has_disk() {
        kinds.push(Fault::FillDisk);
    }
    if sets_clocks {
        kinds.extend([Fault::SetClockAhead, Fault::SetClockBehind]);
    }
    kinds
}

impl Fault {
    /// Whether the others lose the node.
    pub(super) fn loses_a_node(self) -> bool {
        matches!(
            self,
            Self::Lose | Self::Pause | Self::CutForLong | Self::Unheard | Self::Deaf
        )
    }

    pub(super) async fn begin(self, fleet: &mut Fleet, number: usize) {
        match self {
            Self::SetClockAhead => return fleet.set_clock(number, HOUR_AHEAD, RIGHT),
            Self::SetClockBehind => return fleet.set_clock(number, HOUR_BEHIND, RIGHT),
            Self::Drain => return fleet.drain(number, true).await,
            _ => {}
        }
        let database = fleet.database();
        let Suffering { node, wire } = fleet.suffering(number);
        match self {
            Self::Kill | Self::Lose => node.kill_9(),
            Self::Pause => node.signal("STOP"),
            Self::Stop => drop(node.terminate().await),
            Self::CutForLong | Self::CutShortly => wire.cut(),
            Self::Unheard => wire.hold(Way::There),
            Self::Deaf => wire.hold(Way::Back),
            Self::EndConnections => drop(database.try_sql(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                 WHERE datname = current_database() AND application_name = 'headwater'",
            )),
            Self::CrashDatabase => database.restart_server(ServerEnd::Immediate).await,
            Self::RestartDatabase => database.restart_server(ServerEnd::Fast).await,
            Self::FillDisk => database.fill_disk(),
            Self::Drain | Self::SetClockAhead | Self::SetClockBehind => {}
        }
    }

    /// The time that it lasts.
    pub(super) fn lasts(self) -> Duration {
        match self {
            Self::Pause | Self::CutForLong | Self::Unheard | Self::Deaf => SILENT,
            Self::Kill | Self::Drain | Self::CutShortly => SHORT,
            Self::FillDisk => FULL,
            Self::Lose
            | Self::Stop
            | Self::EndConnections
            | Self::CrashDatabase
            | Self::RestartDatabase
            | Self::SetClockAhead
            | Self::SetClockBehind => Duration::ZERO,
        }
    }

    pub(super) async fn end(self, fleet: &mut Fleet, number: usize) {
        if self == Self::Drain {
            return fleet.drain(number, false).await;
        }
        let database = fleet.database();
        let Suffering { node, wire } = fleet.suffering(number);
        match self {
            Self::Kill | Self::Lose | Self::Stop => node.restart().await,
            Self::Pause => node.signal("CONT"),
            Self::CutForLong | Self::CutShortly | Self::Unheard | Self::Deaf => wire.mend(),
            Self::FillDisk => database.make_room().await,
            Self::Drain
            | Self::EndConnections
            | Self::CrashDatabase
            | Self::RestartDatabase
            | Self::SetClockAhead
            | Self::SetClockBehind => {}
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kill => "killed",
            Self::Lose => "killed for long",
            Self::Pause => "paused",
            Self::Stop => "stopped",
            Self::Drain => "drained",
            Self::CutForLong => "cut off for long",
            Self::CutShortly => "cut off shortly",
            Self::Unheard => "cut off one way, unheard",
            Self::Deaf => "cut off one way, deaf",
            Self::EndConnections => "connections ended by the database",
            Self::CrashDatabase => "database crashed",
            Self::RestartDatabase => "database restarted",
            Self::FillDisk => "disk of the database full",
            Self::SetClockAhead => "clock an hour ahead",
            Self::SetClockBehind => "clock an hour behind",
        })
    }
}
