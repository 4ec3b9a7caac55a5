//! Room that files in the making take of their owners' shares. Each gives its part back when it is dropped: then it is
//! gone, or counts among the owner's files.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

/// The room taken by files in the making, by tenant.
#[derive(Default)]
pub(super) struct Room {
    by_tenant: Mutex<HashMap<String, Taken>>,
}

#[derive(Default)]
struct Taken {
    files: u64,
    bytes: u64,
}

/// The room that one file in the making takes.
pub(super) struct Share {
    room: Arc<Room>,
    tenant: String,
    bytes: u64,
}

impl Room {
    /// The share of a further file, if there are fewer in the making than may be added.
    pub(super) fn share(room: &Arc<Self>, tenant: &str, files_left: u64) -> Option<Share> {
        let mut by_tenant = room.by_tenant.lock();
        let files = by_tenant.get(tenant).map_or(0, |taken| taken.files);
        if files >= files_left {
            return None;
        }
        by_tenant.entry(tenant.to_owned()).or_default().files += 1;
        Some(Share {
            room: Arc::clone(room),
            tenant: tenant.to_owned(),
            bytes: 0,
        })
    }
}

impl Share {
    /// Takes further bytes, if all in the making do not exceed those that may be added.
    pub(super) fn grow(&mut self, bytes: u64, bytes_left: u64) -> bool {
        let mut by_tenant = self.room.by_tenant.lock();
        let Some(taken) = by_tenant.get_mut(&self.tenant) else {
            return false;
        };
        let sum = taken.bytes.saturating_add(bytes);
        if sum > bytes_left {
            return false;
        }
        taken.bytes = sum;
        self.bytes += bytes;
        true
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut by_tenant = self.room.by_tenant.lock();
        if let Some(taken) = by_tenant.get_mut(&self.tenant) {
            taken.files -= 1;
            taken.bytes -= self.bytes;
            if taken.files == 0 {
                by_tenant.remove(&self.tenant);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_the_making_share_what_is_left() {
        let room = Arc::default();
        let mut first = Room::share(&room, "u_1", 2).unwrap();
        let mut second = Room::share(&room, "u_1", 2).unwrap();
        assert!(Room::share(&room, "u_1", 2).is_none());
        assert!(
            Room::share(&room, "u_2", 2).is_some(),
            "another has its own"
        );
        assert!(first.grow(60, 100));
        assert!(!second.grow(41, 100));
        assert!(second.grow(40, 100));
        drop(first);
        assert!(second.grow(60, 100));
        drop(second);
        assert!(room.by_tenant.lock().is_empty());
    }
}
