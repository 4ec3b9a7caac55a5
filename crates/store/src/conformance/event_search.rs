//! Searching kept events, part by part.

use std::time::Duration;

use headwater_model::{
    channel::{Channel, ChannelClass},
    event::{EventData, NewEvent},
    event_search::{EventMatcher, EventPlace},
    id::EmitterId,
    time::EpochMs,
};

use super::{Factory, fixture::*};
use crate::{
    ChannelFilter, EventSearch, FoundEvents, Owner, ScanLimits, SearchedEmitters, SourceState,
    Store,
};

/// A search of all ordinary events, a hundred at a time.
fn search_of(owner: &Owner) -> EventSearch {
    EventSearch {
        emitters: SearchedEmitters::Of(owner.clone()),
        channels: ordinary(),
        since_ms: None,
        until_ms: None,
        matcher: EventMatcher::default(),
        after: None,
        limit: 100,
        scan: ScanLimits {
            events: 1_000,
            bytes: 1_000_000,
        },
    }
}

fn matching(words: &str, paths: &[&str], search: EventSearch) -> EventSearch {
    let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
    let matcher = EventMatcher::new(words, &paths).unwrap();
    EventSearch { matcher, ..search }
}

fn places(found: &FoundEvents) -> Vec<EventPlace> {
    let place = |event: &crate::FoundEvent| EventPlace {
        id: event.id,
        emitter: event.emitter.clone(),
    };
    found.events.iter().map(place).collect()
}

fn data(found: &FoundEvents) -> Vec<String> {
    let shown = |event: &crate::FoundEvent| serde_json::to_string(&event.data).unwrap();
    found.events.iter().map(shown).collect()
}

/// The texts that a search finds in one part.
async fn found(store: &dyn Store, search: EventSearch) -> Vec<String> {
    data(&store.search_events(search).await.unwrap())
}

/// Many events of several emitters at the same moments, with parts that end anywhere.
pub async fn parts_of_a_search_pass_every_event_once_newest_first(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let mut expected = Vec::new();
    for (number, count) in [(0, 90_u64), (1, 3), (2, 30)] {
        let source = deploy(&*store, epoch, &mine).await;
        for event in 0..count {
            let now_ms = T0 + Duration::from_millis(event / 2);
            let text = format!("[{number},{event}]");
            emit(&*store, &source, &[&text], now_ms).await;
        }
        let emitter = EmitterId::from(source.id.clone());
        let of = |id| EventPlace {
            id,
            emitter: emitter.clone(),
        };
        expected.extend(ids(&*store, &source).await.into_iter().map(of));
    }
    deploy(&*store, epoch, &mine).await;
    expected.sort();
    expected.reverse();
    let store = factory.reopen(store).await;
    for (limit, scanned) in [(1, 1_000), (7, 1_000), (100, 5), (100, 1_000)] {
        let mut walked = Vec::new();
        let mut search = EventSearch {
            limit,
            scan: ScanLimits {
                events: scanned,
                bytes: 1_000_000,
            },
            ..search_of(&mine)
        };
        loop {
            let part = store.search_events(search.clone()).await.unwrap();
            assert_eq!(part.scanned as usize, part.events.len());
            assert_eq!(part.kept_at_most, 123);
            walked.extend(places(&part));
            match part.next {
                Some(_) => search.after = part.next,
                None => break,
            }
        }
        assert_eq!(walked, expected, "{limit} of {scanned}");
    }
}

/// Another owner's, channels' and times' events are not found, and those of others not counted.
pub async fn a_search_is_of_its_emitters_channels_and_times(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let shared = workspace_owner();
    let first = deploy(&*store, epoch, &shared).await;
    let second = deploy(&*store, epoch, &shared).await;
    let theirs = owner();
    let other = deploy(&*store, epoch, &theirs).await;
    emit(&*store, &first, &["1", "{\"a\":\"Seven\"}"], T0).await;
    emit(&*store, &other, &["\"other\""], T0 + SECOND).await;
    let events = vec![
        event_on(Channel::named("orders"), "3"),
        event_on(Channel::errors(), "4"),
        event("5"),
    ];
    let run = run_of(&second, events, T0 + MINUTE);
    commit(&*store, run).await.unwrap();
    let all = || search_of(&shared);
    let newest_first = ["5", "3", "{\"a\":\"Seven\"}", "1"];
    assert_eq!(found(&*store, all()).await, newest_first);
    let of_user = Owner {
        workspace_id: None,
        ..shared.clone()
    };
    assert_eq!(found(&*store, search_of(&of_user)).await, newest_first);
    assert_eq!(found(&*store, search_of(&theirs)).await, ["\"other\""]);
    let of_first = EventSearch {
        emitters: SearchedEmitters::One(emitter(&first)),
        ..all()
    };
    assert_eq!(found(&*store, of_first).await, newest_first[2..]);
    let on = |channels| EventSearch { channels, ..all() };
    for (channels, expected, kept) in [
        (ChannelFilter::Named(Channel::named("orders")), vec!["3"], 1),
        (
            ChannelFilter::Named(Channel::default()),
            vec!["5", newest_first[2], "1"],
            3,
        ),
        (ChannelFilter::Class(ChannelClass::Errors), vec!["4"], 1),
    ] {
        let part = store.search_events(on(channels)).await.unwrap();
        assert_eq!((data(&part), part.kept_at_most), (owned(&expected), kept));
    }
    let between = |since_ms, until_ms| EventSearch {
        since_ms: Some(since_ms),
        until_ms: Some(until_ms),
        ..all()
    };
    let late = between(T0 + MS, T0 + MINUTE);
    assert_eq!(found(&*store, late).await, ["5", "3"]);
    let early = between(EpochMs(0), T0);
    assert_eq!(found(&*store, early).await, newest_first[2..]);
}

/// Words are looked for in data and summaries, places in data.
pub async fn words_and_paths_choose_among_the_events_of_a_search(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let source = deploy(&*store, epoch, &mine).await;
    let object = "{\"a\":\"Seven\"}";
    let summarized = NewEvent {
        summary: Some("the Fifth".to_owned()),
        ..event("5")
    };
    let events = vec![event(object), event("3"), summarized];
    let run = run_of(&source, events, T0);
    commit(&*store, run).await.unwrap();
    for (words, paths, expected) in [
        ("seven", vec![], vec![object]),
        ("FIFTH the", vec![], vec!["5"]),
        ("", vec!["a=Seven"], vec![object]),
        ("", vec!["$=3"], vec!["3"]),
        ("seven", vec!["a=Six"], vec![]),
        ("other", vec![], vec![]),
    ] {
        let search = matching(words, &paths, search_of(&mine));
        let part = store.search_events(search).await.unwrap();
        assert_eq!(data(&part), expected, "{words} {paths:?}");
        assert_eq!((part.scanned, part.next), (3, None));
    }
}

/// Neither a deletion that was only requested nor one of a source shows its events in between.
pub async fn a_search_hides_what_is_being_deleted(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let first = deploy(&*store, epoch, &mine).await;
    let second = deploy(&*store, epoch, &mine).await;
    emit(&*store, &first, &["1", "2"], T0).await;
    emit(&*store, &second, &["3"], T0 + SECOND).await;
    let all = || search_of(&mine);
    assert_eq!(found(&*store, all()).await, ["3", "2", "1"]);
    let ids = ids(&*store, &first).await;
    let of_newest = deletion(&first, ordinary(), (Some(ids[1]), None));
    store.request_deletion(of_newest).await.unwrap();
    assert_eq!(found(&*store, all()).await, ["3", "1"]);
    let deleting = store.set_source_state(&second.lease, SourceState::Deleting);
    deleting.await.unwrap();
    assert_eq!(found(&*store, all()).await, ["1"]);
}

/// A part that finds nothing ends at the number or the bytes that it may look at, and a large event is found by its end
/// and shown by its beginning.
pub async fn a_part_of_a_search_is_bounded(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let source = deploy(&*store, epoch, &mine).await;
    let large = format!("\"{}needle\"", "x".repeat(5_000));
    emit(&*store, &source, &[&large, "2", "3", "4"], T0).await;
    let bounded = |events, bytes, after| EventSearch {
        scan: ScanLimits { events, bytes },
        after,
        ..matching("needle", &[], search_of(&mine))
    };
    let part = store.search_events(bounded(3, 1_000, None)).await.unwrap();
    assert_eq!((part.events.len(), part.scanned), (0, 3));
    let last = store.search_events(bounded(3, 1_000, part.next)).await;
    let last = last.unwrap();
    assert_eq!((last.scanned, last.next), (1, None));
    assert!(matches!(last.events[0].data, EventData::Preview(_)));
    emit(&*store, &source, &["5"], T0).await;
    let part = store.search_events(bounded(9, 2, None)).await.unwrap();
    assert_eq!((part.events.len(), part.scanned), (0, 2));
    assert!(part.next.is_some());
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}
