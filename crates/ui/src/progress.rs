//! Progress of forms that deploy: the page that sends one makes up a name, sends it along as `?progress=`, and follows
//! under it what the form's request has begun so far.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use futures::{Stream, stream};
use headwater_model::id::SessionId;
use headwater_platform::DeployPart;
use parking_lot::Mutex;
use tokio::sync::watch;
use url::form_urlencoded::{self, Serializer};

/// The parameter with the name.
const PARAMETER: &str = "progress";
/// Characters of a name.
const NAME_MAX: usize = 64;

/// The work that is sent or followed now, by session and name. Whichever of the two comes first brings it about.
#[derive(Default)]
pub(crate) struct Works(Mutex<HashMap<(SessionId, String), Weak<Work>>>);

/// The work of one form, as far as it has begun.
pub(crate) struct Work(watch::Sender<Vec<DeployPart>>);

impl Works {
    /// The work of this name in the session.
    pub(crate) fn of(&self, session: &SessionId, name: &str) -> Arc<Work> {
        let mut all = self.0.lock();
        all.retain(|_, work| work.strong_count() > 0);
        let key = (session.clone(), name.chars().take(NAME_MAX).collect());
        if let Some(work) = all.get(&key).and_then(Weak::upgrade) {
            return work;
        }
        let work = Arc::new(Work(watch::Sender::new(Vec::new())));
        all.insert(key, Arc::downgrade(&work));
        work
    }
}

impl Work {
    /// Tells that a part begins.
    pub(crate) fn begins(&self, part: DeployPart) {
        self.0.send_modify(|parts| parts.push(part));
    }

    /// The parts that have begun, at once if there are some, and each time there is one more.
    pub(crate) fn followed(self: Arc<Self>) -> impl Stream<Item = Vec<DeployPart>> {
        let mut told = self.0.subscribe();
        if !told.borrow().is_empty() {
            told.mark_changed();
        }
        stream::unfold((self, told), |(work, mut told)| async move {
            told.changed().await.ok()?;
            let parts = told.borrow_and_update().clone();
            Some((parts, (work, told)))
        })
    }
}

/// Path and query as pages know them, without the name of a work, and that name.
pub(crate) fn taken_out(location: &str) -> (String, Option<String>) {
    let Some((path, query)) = location.split_once('?') else {
        return (location.to_owned(), None);
    };
    let pairs = || form_urlencoded::parse(query.as_bytes());
    let Some((_, name)) = pairs().find(|(key, _)| key == PARAMETER) else {
        return (location.to_owned(), None);
    };
    let mut rest = Serializer::new(String::new());
    rest.extend_pairs(pairs().filter(|(key, _)| key != PARAMETER));
    let location = match rest.finish() {
        rest if rest.is_empty() => path.to_owned(),
        rest => format!("{path}?{rest}"),
    };
    (location, Some(name.into_owned()))
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt as _, StreamExt as _};
    use headwater_model::time::EpochMs;

    use super::*;

    #[tokio::test]
    async fn whoever_comes_later_hears_all_that_has_begun() {
        let works = Works::default();
        let [one, two] = [1, 2].map(|ms| SessionId::new(EpochMs(ms), 0));
        let work = works.of(&one, "n");
        work.begins(DeployPart::Load);
        let mut followed = Box::pin(works.of(&one, "n").followed());
        assert_eq!(followed.next().await, Some(vec![DeployPart::Load]));
        work.begins(DeployPart::Load);
        assert_eq!(followed.next().await, Some(vec![DeployPart::Load; 2]));
        let mut other = Box::pin(works.of(&two, "n").followed());
        assert_eq!(other.next().now_or_never(), None, "another session");
        drop((work, followed, other));
        drop(works.of(&two, "m"));
        assert_eq!(works.0.lock().len(), 1, "only what somebody has is kept");
    }

    #[test]
    fn pages_do_not_see_the_name_of_a_work() {
        for (location, rest, name) in [
            ("/deploy/code", "/deploy/code", None),
            ("/deploy/code?a=b", "/deploy/code?a=b", None),
            ("/deploy/code?progress=x", "/deploy/code", Some("x")),
            ("/a?b=c+d&progress=x&e=f", "/a?b=c+d&e=f", Some("x")),
        ] {
            let taken = taken_out(location);
            assert_eq!(taken, (rest.to_owned(), name.map(str::to_owned)));
        }
    }
}
