//! The services that runners use.

use std::sync::Arc;

use headwater_model::id::AccountId;

use super::{
    command::{Command, Residents},
    components::LoadedComponents,
};
use crate::{
    accounts::{Accounts, UsedAccount},
    core::Core,
    data_stores::DataStores,
    endpoints::Endpoints,
    leases::Leases,
    props::Props,
    quotas::Quotas,
};

/// The services that runners use, and the runners themselves: a run may find out something that others
/// must know.
pub(crate) struct RunnerContext {
    pub(crate) core: Arc<Core>,
    pub(crate) leases: Arc<Leases>,
    pub(crate) quotas: Arc<Quotas>,
    pub(crate) endpoints: Arc<Endpoints>,
    pub(crate) accounts: Arc<Accounts>,
    pub(crate) data_stores: Arc<DataStores>,
    pub(crate) props: Arc<Props>,
    pub(crate) components: LoadedComponents,
    pub(crate) residents: Residents,
}

impl RunnerContext {
    /// Lets runners compute their props again: those with that account, or all.
    pub(super) fn reload(&self, account: Option<&AccountId>) {
        self.residents
            .for_each(|runner| runner.send(Command::Reload(account.cloned())));
    }

    /// Checks the accounts of a run that met a 401. True: some have other credentials now, or are known to be refused.
    pub(super) async fn recheck(&self, used: Vec<UsedAccount>) -> bool {
        let changed = self.accounts.recheck(used).await;
        changed.iter().for_each(|id| self.reload(Some(id)));
        !changed.is_empty()
    }
}
