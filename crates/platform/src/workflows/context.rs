//! The things that the runs of all workflows share.

use std::sync::Arc;

use headwater_model::id::WorkflowId;

use super::{
    account_masks::AccountMasks,
    command::Handle,
    deployed::Deployments,
    endings::Endings,
    error_mail::ErrorMails,
    responders::Responders,
    tokens::{Urls, WaitKey},
    variables::OpenedVariables,
};
use crate::{
    actor::Residents, core::Core, data_stores::DataStores, files::Files, leases::Leases,
    props::Props,
};

pub(crate) struct WorkflowContext {
    pub(crate) core: Arc<Core>,
    pub(crate) leases: Arc<Leases>,
    pub(crate) data_stores: Arc<DataStores>,
    pub(crate) files: Arc<Files>,
    pub(crate) props: Arc<Props>,
    pub(crate) deployments: Deployments,
    pub(crate) responders: Responders,
    pub(crate) endings: Endings,
    pub(crate) error_mails: ErrorMails,
    pub(crate) variables: Arc<OpenedVariables>,
    pub(crate) account_masks: Arc<AccountMasks>,
    pub(crate) wait_key: Arc<WaitKey>,
    pub(crate) residents: Residents<WorkflowId, Handle>,
}

impl WorkflowContext {
    /// The means to state the URLs of waits.
    pub(super) fn urls(&self) -> Urls<'_> {
        Urls {
            key: &self.wait_key,
            public_url: &self.core.config.public_url,
        }
    }
}
