//! The platform: saves components, deploys sources, turns triggers into invocations,
//! commits the results of runs, and hands events on.
//!
//! Responsible for the use cases and the background work. Deliberately ignorant of HTTP, of any
//! database, of JavaScript, of configuration files and of the wall clock.

#![warn(clippy::wildcard_enum_match_arm)]

mod accounts;
mod actor;
mod artifact;
mod aside;
mod audit;
mod called;
mod caller;
mod changes;
mod chore;
mod component_index;
mod config;
mod conflict_text;
mod core;
mod couriers;
mod credential_names;
mod data_stores;
mod endpoints;
mod environment;
mod error;
mod feeds;
mod files;
mod key_uses;
mod leases;
mod log_line;
mod metrics;
mod origin;
mod outbound;
mod platform;
mod platform_event;
mod progress;
mod props;
mod proxies;
mod quotas;
mod rate_limits;
mod readiness;
mod runner;
mod secrets;
mod sends;
mod sign_in_throttle;
mod signing_key;
mod spans;
#[cfg(test)]
mod testing;
mod turns;
mod use_cases;
mod workflows;

pub use accounts::Revocation;
pub use audit::AuditAction;
pub use caller::{Caller, Remote, Via, key_hash};
pub use changes::Change;
pub use component_index::IndexedComponent;
pub use config::{
    DeliveryConfig, Plan, PlatformConfig, ResultLimits, S3Config, Setting, SettingOrigin,
};
pub use couriers::{
    ForwardedEvent, SentSample, Signer, WebhookRequest, new_secret as new_webhook_secret,
};
pub use environment::{Clock, Environment, Random};
pub use error::PlatformError;
pub use feeds::{Follow, Portion};
pub use files::{FileLink, Files};
pub use log_line::{LogLine, OpenLog};
pub use origin::{on_behalf_of, origin, request_id};
pub use platform::{Parts, Platform};
pub use progress::{DeployPart, observed};
pub use proxies::TrustedProxies;
pub use readiness::{LITTLE_ROOM_BYTES, Readiness};
pub use runner::RunReport;
pub use secrets::{KeyFile, KeyRing};
pub use signing_key::InstallationKey;
pub use spans::{Attribute, NewSpan, RecordedSpan, Span, SpanKind, Tracer};
pub use use_cases::{
    account_users::{AccountUser, AccountUsers},
    accounts::{
        AccountFields, AccountView, AccountsFilter, DeletedAccount, NewAccount, UpdateAccount,
    },
    actions::ActionReport,
    calls::CallTarget,
    causes::ListenerRun,
    components::{ComponentInput, ComponentRef, KeptComponent},
    computed_props::{OptionsQuery, PropOption, PropOptions},
    connects::{
        Callback, ConnectError, ConnectLink, ConnectStatus, ConnectView, Connected, FieldsForm,
        LinkOpened, NewConnect,
    },
    data_store_users::DataStoreUser,
    data_stores::{NamedDataStore, WriteRecord},
    deliveries::ReplayRequest,
    delivery_search::{ChangeDeliveries, DeliveriesChanged},
    event_replay::{EventsReplayed, REPLAYED_EVENTS_MAX, ReplayEvents, ReplayListener},
    event_replay_found::{FoundReplayed, REPLAYED_FOUND_MAX, ReplayFound},
    event_search::EventsSearch,
    events::{EventsQuery, default_channels},
    folders::{FolderComponent, FolderOutcome, NewFolder},
    ingress::{FoundEndpoint, Ingress, IngressRequest, Upload},
    keys::{NewKey, create_admin_key},
    mail::WorkflowMail,
    missed_events::{MissedEvents, MissedSent},
    names::KnownNames,
    news::{NewEvent, News},
    nodes::NodeStatus,
    prop_warnings::prop_warnings,
    registry::PublishedComponent,
    run_search::{RunEntries, RunEntry, RunState, UnknownRunState},
    runs::{RunDeliveries, RunError, RunEvent, RunLog, RunView},
    scanned::Scanned,
    secret_rotation::{Rotation, holds_secrets},
    sessions::{NewSession, NewSignInLink, SignedIn},
    source_log::SourceLog,
    sources::{
        DeploySource, SourceDeploymentDetail, SourceDeploymentView, SourceReplay, SourceVersion,
        SourceView, UpdateSource,
    },
    trials::TrialReport,
    usage::{RunnablesUsageView, USAGE_DAYS_MAX, USAGE_RUNNABLES_MAX, UsageView},
    users::{FirstUserOptions, NewUser, PlanView, UserView},
    variables::VariableView,
    webhooks::{NewWebhook, UpdateWebhook, WebhookWithSecret},
    workflows::{
        BranchOutline, DeployWorkflow, DeployedWorkflow, DeploymentSummary, DeploymentView,
        FoundRunsReplayed, NodeOutline, REPLAYED_RUNS_MAX, ReplayFoundRuns, ReplayPlan,
        ResumeRequest, RunReplay, RunsFilter, StepView, TriggerView, UpdateWorkflow, WaitAction,
        WaitAnswer, WaitView, WorkflowRunStatus, WorkflowRunSummary, WorkflowRunView, WorkflowView,
    },
    workspaces::{NewWorkspace, WorkspaceView},
};
pub use workflows::{UploadPlace, WaitUrls};

// The types of store, engine, workflow and mail that use cases give and take, for crates that may not know those.
pub use headwater_engine::{
    BuildPart, Hook, LockedPackage, LogLevel, PackageModules, Response, locked_packages,
};
pub use headwater_mail::send::{InvalidSender, Sender as MailSender};
pub use headwater_workflow::{
    finding::Finding as WorkflowFinding,
    path::Path as StepPath,
    run::{Phase, PlaceStatus, WaitKind},
};

pub use headwater_store::{
    AUDIT_SEARCHED_MAX, Account, Actor, ActorKind, ApiKey, Attempt, AttemptHeaders, AuditFilter,
    AuditRecord, AuditTarget, Backlog, CappedCount, ChangedKeys, ComponentFilter, DataStore,
    DayUsage, Delivery, DeliveryChange, DeliveryCounts, DeliveryFilter, EventRange, EventTimes,
    EventView, FileContent, FoundAudit, FoundDeliveries, FoundEvent, FoundEvents, Health,
    HealthStatus, LastEvent, ListPlace, ListedComponent, LogPosition, LoggedEvent, Member,
    MemberPart, Members, OutcomeFilter, Owner, Placed, RUNS_SEARCHED_MAX, RecentAttempts, Record,
    RunCounts, RunFacts, RunFilter, RunHour, RunOutcome, RunRecord, RunSearchFilter, RunStates,
    RunTrigger, RunVersion, RunnableUsage, SOURCE_DEPLOYMENTS_KEPT, SavedComponent, SendRecord,
    SendState, SendWay, SentResponse, Session, SourceDeployment, SourceHealth, SourceKey,
    SourceOrder, SourceTrigger, Standing, StoredFile, Usage, User, Wanted, Webhook, WebhookBacklog,
    Workflow, WorkflowHealth, WorkflowState,
};
