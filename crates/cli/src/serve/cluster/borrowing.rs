//! Borrowing the workers of the nodes that follow, as long as this one leads.

use std::{collections::HashSet, io, num::NonZeroUsize, sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderValue, Method, StatusCode, Uri, header},
};
use futures::StreamExt as _;
use headwater_engine::{
    Engine as _,
    remote::{self, SpreadEngine, Weight, Wire},
};
use headwater_store::{Member, MemberPart, Members as _, NodeName};
use headwater_store_postgres::PostgresStore;
use tokio::{sync::mpsc, task::JoinSet, time::timeout};

use super::{
    address::NodeAddress,
    asking::{LEADER, PROCESSORS, WORD, WORDS, body_of, processors},
    connecting::Connecting,
    secret::{ClusterSecret, Saying},
};

/// The time between two looks at who follows.
const LOOKED_EVERY: Duration = Duration::from_secs(1);
/// The time in which a node ends a former conversation and starts its workers, on a machine under load.
const LENT_WITHIN: Duration = Duration::from_secs(30);

/// The time after which a node is asked again that could not be reached: its log is to be read by people.
const REACHED_AGAIN_AFTER: Duration = Duration::from_secs(5);

/// The reason why a node lends no workers.
enum Unlent {
    /// It does not follow this one, or cannot start its engine.
    Refused(StatusCode),
    Unreached(String),
}

/// The node that borrows.
#[derive(Clone)]
pub(super) struct Borrower {
    pub(super) engine: Arc<SpreadEngine>,
    pub(super) database: Arc<PostgresStore>,
    pub(super) secret: ClusterSecret,
    pub(super) connecting: Connecting,
    pub(super) name: NodeName,
}

/// The share of the work that this machine has, when all that it does is to lend.
pub(super) fn own_weight() -> Weight {
    Weight::of_processors(processors())
}

impl Borrower {
    /// Borrows from every node that follows, until it is aborted.
    pub(super) async fn run(self) {
        let mut asking = JoinSet::new();
        let mut asked = HashSet::new();
        loop {
            match self.database.members().await {
                Ok(members) => {
                    for member in members.into_iter().filter(|member| self.could_lend(member)) {
                        let name = member.name.as_str();
                        self.engine.spare(name, member.is_draining);
                        let is_wanted = !member.is_draining && !self.engine.borrows_from(name);
                        if is_wanted && asked.insert(member.name.clone()) {
                            asking.spawn(self.clone().borrow_from(member));
                        }
                    }
                }
                Err(error) => {
                    tracing::debug!(
                        error = error.in_full(),
                        "cannot look who could lend workers"
                    );
                }
            }
            self.engine.tidy().await;
            tokio::time::sleep(LOOKED_EVERY).await;
            while let Some(Ok(name)) = asking.try_join_next() {
                asked.remove(&name);
            }
        }
    }

    /// One that does not know the words of this one refuses: it only stands ready.
    fn could_lend(&self, member: &Member) -> bool {
        member.part == MemberPart::Follows && member.name != self.name
    }

    /// Asks a node for its workers; returns its name.
    async fn borrow_from(self, member: Member) -> NodeName {
        let name = member.name.as_str();
        let Ok(address) = member.address.parse() else {
            return member.name;
        };
        match timeout(LENT_WITHIN, self.ask(&address)).await {
            Ok(Ok((weight, wire))) => {
                tracing::info!(node = name, "a node lends its workers");
                self.engine.borrow_from(name, weight, wire);
            }
            Ok(Err(Unlent::Refused(status))) => {
                tracing::debug!(node = name, %status, "a node lends no workers");
            }
            Ok(Err(Unlent::Unreached(reason))) => {
                tracing::warn!(
                    node = name,
                    reason,
                    "a node that could lend workers cannot be reached"
                );
                tokio::time::sleep(REACHED_AGAIN_AFTER).await;
            }
            Err(_) => tracing::warn!(node = name, "a node does not say whether it lends workers"),
        }
        member.name
    }

    async fn ask(&self, address: &NodeAddress) -> Result<(Weight, Wire), Unlent> {
        let connected = self.connecting.connect(address).await;
        let mut connection = connected.map_err(Unlent::Unreached)?;
        let (outgoing, pieces) = mpsc::unbounded_channel();
        let request = self.request(address, pieces).map_err(Unlent::Unreached)?;
        let answer = connection.send_request(request).await;
        let answer = answer.map_err(|error| Unlent::Unreached(error.to_string()))?;
        if !answer.status().is_success() {
            return Err(Unlent::Refused(answer.status()));
        }
        let processors = answer.headers().get(PROCESSORS);
        let processors = processors.and_then(|count| count.to_str().ok()?.parse().ok());
        let weight = Weight::of_processors(processors.unwrap_or(NonZeroUsize::MIN));
        let incoming = Body::new(answer.into_body()).into_data_stream();
        let incoming = incoming
            .map(|piece| piece.map_err(io::Error::other))
            .boxed();
        Ok((weight, Wire { incoming, outgoing }))
    }

    fn request(
        &self,
        address: &NodeAddress,
        pieces: mpsc::UnboundedReceiver<bytes::Bytes>,
    ) -> Result<Request, String> {
        let name = HeaderValue::from_str(self.name.as_str()).map_err(|error| error.to_string())?;
        let mut request = Request::new(body_of(pieces));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = Uri::from_static("/");
        let host = HeaderValue::from_str(address.authority()).map_err(|error| error.to_string())?;
        let headers = request.headers_mut();
        headers.insert(header::HOST, host);
        headers.insert(WORD, self.secret.word(Saying::Workers));
        headers.insert(LEADER, name);
        headers.insert(WORDS, HeaderValue::from(remote::WORDS));
        Ok(request)
    }
}
