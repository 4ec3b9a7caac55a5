//! The shapes of requests and responses, one file per resource. Field names are those of Pipedream's
//! API. Only shapes and how to fill them; no decisions.

mod account;
mod account_user;
mod app;
mod audit;
mod call;
mod cause;
mod component;
mod data_store;
mod delivery;
mod delivery_search;
mod deployment;
mod envelope;
mod error;
mod event;
mod event_detail;
mod event_replay;
mod event_search;
mod event_send;
mod event_view;
mod feed;
mod folder;
mod health;
pub(crate) mod id;
mod key;
pub(crate) mod lenient;
mod node;
mod registry;
mod run;
mod run_record;
mod run_replay;
mod run_search;
mod session;
mod setting;
mod source;
mod source_deployment;
mod source_health;
mod source_replay;
mod subscription;
mod trial;
mod usage;
mod user;
mod variable;
mod webhook;
mod workflow;
mod workflow_run;
mod workspace;

pub(crate) use self::{
    account::{
        Account, AccountsRequest, Connect, ConnectAccount, ConnectLink, CreateAccount,
        DeletedAccount, UpdateAccount, WaitQuery,
    },
    account_user::AccountUser,
    app::{App, AppsQuery},
    audit::{AuditRecord, SearchAudit},
    call::{CallRequest, ComponentProps, OptionsRequest, PropOptions, PropsRequest},
    component::{
        Component, ComponentSummary, KeptComponent, ListComponents, PropDefinition, SaveComponent,
    },
    data_store::{
        DataStore, DataStoreUser, Record, RecordRequest, RecordsRequest, TextCursor, WriteRecord,
        place,
    },
    delivery::{DeliveriesRequest, Delivery, DeliveryRequest, ReplayDeliveries, Replayed},
    delivery_search::{ChangeDeliveries, ChangedDeliveries, DeliveryCounts, SearchDeliveries},
    deployment::{Deployment, RollBackWorkflow, Summary as DeploymentSummary},
    envelope::{Data, Paged},
    error::{ErrorBody, ErrorCode},
    event::{ChannelRequest, DeleteEvents, EventSummary, EventsRequest},
    event_detail::{EventDetail, ListenerRun},
    event_replay::{EventsToReplay, ReplayEvents, ReplayedEvents},
    event_search::{EventSearchRequest, SearchedEvents},
    event_send::{SendEvent, SentEvent},
    event_view::{EventView, SetEventView},
    feed::{FeedRequest, HANDSHAKE, write_message},
    folder::{FolderComponentResult, PublishFolder},
    health::{
        BuilderCheck, Checks, CodeFolderCheck, Health, Readiness, RuntimeCheck, SecretKeyCheck,
        Status, StoreCheck,
    },
    key::{CreateKey, Key, KeysRequest, NewKey, SecretKeyRotation},
    node::{Node, PatchNode},
    registry::{
        IndexedComponent, PackageModules, PackageRequest, PublishComponent, PublishedComponent,
        SearchPackages,
    },
    run::{ActionReport, OpenLog, RunReport},
    run_record::{Run, RunsRequest},
    run_replay::{Replay, ReplayRun, ReplayRuns, ReplayedRuns},
    run_search::{ListedRun, RunCounts, RunHour, RunHoursRequest, SearchRuns},
    session::{Session, SignInLink},
    setting::Setting,
    source::{
        DeploySource, RunSource, Source, SourceRequest, SourcesRequest, UpdateSource,
        WorkspaceSourcesRequest,
    },
    source_deployment::{
        Deployment as SourceDeployment, RollBackSource, Summary as SourceDeploymentSummary,
    },
    source_replay::{AnyReplay, SourceReplay},
    subscription::{AutoSubscription, AutoSubscriptionRequest, Subscription, SubscriptionRequest},
    trial::{TrialReport, TrialRequest},
    usage::{Usage, UsageRequest},
    user::{CreateUser, Me, NewUser, User},
    variable::{SetVariable, Variable},
    webhook::{
        CreateWebhook, RotateSecret, TestedWebhook, UpdateWebhook, Webhook, WebhookRequest,
        WebhooksRequest,
    },
    workflow::{
        DeployWorkflow, DeployedWorkflow, Finding, RunWorkflow, StartedRun, UpdateWorkflow,
        Workflow,
    },
    workflow_run::{AnyRun, ResumeRun, Resumed, RunSummary, WorkflowRunsRequest},
    workspace::{AddMember, CreateWorkspace, Workspace, WorkspaceScope},
};
