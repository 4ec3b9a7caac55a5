//! The word that a node is ready.

use std::{iter, net::SocketAddr};

use anyhow::Result;

use super::{arguments::ServeArguments, banner, setup::Setup, systemd, tls};

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
    for line in lines(options, *address) {
        notes.note(&line);
    }
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

/// The ready line, with an address that a browser opens; and if the node listens on more, that it does.
fn lines(options: &ServeArguments, address: SocketAddr) -> Vec<String> {
    let ready = format!(
        "headwater {} is ready on {}://{}",
        env!("CARGO_PKG_VERSION"),
        tls::scheme(options),
        banner::reached_here(address)
    );
    let further = address.ip().is_unspecified();
    let further =
        further.then(|| format!("it listens on all addresses of this machine ({address})"));
    iter::once(ready).chain(further).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ready_line_ends_with_an_address_that_a_browser_opens() {
        let options = ServeArguments::default();
        let told = |address: &str| lines(&options, address.parse().unwrap());
        let one = told("10.0.0.1:3000");
        assert_eq!(one.len(), 1);
        let ready = " is ready on http://10.0.0.1:3000";
        assert!(one[0].ends_with(ready), "{one:?}");
        let all = told("0.0.0.0:3000");
        let ready = " is ready on http://127.0.0.1:3000";
        assert!(all[0].ends_with(ready), "{all:?}");
        assert!(all[1].contains("(0.0.0.0:3000)"), "{all:?}");
    }
}
