//! The primary of a PostgreSQL with synchronous replication, killed again and again under load, with a node that knows all
//! servers by its URL.

use std::time::{Duration, Instant};

use headwater_integration::{Killed, Node, Patroni, Receiver, tell};

use super::{deploy, judge, senders::Senders};

const KILLS_VARIABLE: &str = "HEADWATER_PRIMARY_KILLS";
const SERVERS: usize = 3;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes, and needs Patroni and etcd: `cargo xtask faults --primary N`"]
async fn a_primary_that_is_killed_takes_nothing_with_it_that_was_accepted() {
    let kills = std::env::var(KILLS_VARIABLE).map_or(1, |text| text.parse().unwrap());
    let mut patroni = Patroni::start(SERVERS).await;
    let receiver = Receiver::start().await;
    let node = Node::builder()
        .own_address()
        .env("HEADWATER_DATABASE_URL", &patroni.url())
        .private_network()
        .flag("--retained-events=1000000")
        .start()
        .await;
    let sources = deploy(&node, &receiver).await;
    let senders = Senders::start(&[node.address()], &sources.inbox);
    let mut took = [Vec::new(), Vec::new()];
    for number in 0..kills {
        senders.accepted_another().await;
        let killed = match number % 2 {
            0 => Killed::Machine,
            _ => Killed::Postgres,
        };
        let gone = patroni.kill_primary(killed).await;
        let begun = Instant::now();
        senders.accepted_another().await;
        took[number % 2].push(begun.elapsed());
        patroni.heal(gone).await;
    }
    let sent = senders.end().await;
    let verdict = judge(&node, &sources, &receiver, &sent).await;
    let lost = verdict.wrong();
    tell(&format!(
        "{kills} primaries killed, {} requests accepted, {} sent again, {lost} wrong; requests were accepted again after \
         {} where the machine was gone, {} where PostgreSQL was",
        sent.ids.len(),
        sent.again,
        shown(&mut took[0]),
        shown(&mut took[1])
    ));
    verdict.check();
}

/// The median and the worst.
fn shown(took: &mut [Duration]) -> String {
    took.sort_unstable();
    let seconds = |time: Option<&Duration>| time.map_or(0.0, Duration::as_secs_f64);
    format!(
        "{:.1} s (p50), {:.1} s (worst)",
        seconds(took.get(took.len() / 2)),
        seconds(took.last())
    )
}
