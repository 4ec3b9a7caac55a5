//! The word that a node is ready.

use anyhow::Result;

use super::{banner, setup::Setup, systemd, tls};

/// Tells the machine that the node is ready, and people where everything is.
pub(super) fn tell(setup: &Setup<'_>) -> Result<()> {
    let Setup {
        options,
        data_dir,
        notes,
        address,
        ..
    } = setup;
    data_dir.write_address(&banner::local_url(options, *address))?;
    notes.note(&format!(
        "headwater {} is ready on {}://{address}",
        env!("CARGO_PKG_VERSION"),
        tls::scheme(options)
    ));
    systemd::ready();
    if !notes.are_transient() && banner::is_reached_by_nobody(options, *address) {
        tracing::warn!("{}; set --public-url", banner::UNREACHABLE);
    }
    if notes.are_transient() {
        let given = &setup.global.data_dir;
        notes.note(&banner::lines(options, *address, given, data_dir));
    }
    Ok(())
}
