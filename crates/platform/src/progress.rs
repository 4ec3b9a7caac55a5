//! Progress of what a request deploys: whoever wants to is told of each part as it begins, without every function in
//! between passing that on. Not responsible for keeping any of it.

use std::sync::Arc;

use headwater_engine::{BuildObserver, BuildPart, Hook};
use headwater_model::component::Hooks;

/// A part of saving or deploying a component that may take a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeployPart {
    /// A part of a build.
    Build(BuildPart),
    /// The values of its props are made ready.
    Load,
    /// A hook of the component runs, in a worker that is started for it.
    Hook(Hook),
}

type Observer = Arc<dyn Fn(DeployPart) + Send + Sync>;

tokio::task_local! {
    static OBSERVER: Observer;
}

/// Does something that may save or deploy components, and tells the observer of its parts.
pub async fn observed<T>(
    observer: impl Fn(DeployPart) + Send + Sync + 'static,
    doing: impl Future<Output = T>,
) -> T {
    OBSERVER.scope(Arc::new(observer), doing).await
}

/// Tells the observer, if there is one, that a part begins. Tasks that are spawned do not inherit it.
pub(crate) fn begins(part: DeployPart) {
    // Most work is observed by nobody.
    let _ = OBSERVER.try_with(|observer| observer(part));
}

/// The same of a hook, if the component has it.
pub(crate) fn begins_hook(hook: Hook, hooks: Hooks) {
    let is_there = match hook {
        Hook::Deploy => hooks.deploy,
        Hook::Activate => hooks.activate,
        Hook::Deactivate => hooks.deactivate,
    };
    if is_there {
        begins(DeployPart::Hook(hook));
    }
}

/// The observer as builds know one.
pub(crate) fn of_build() -> BuildObserver {
    match OBSERVER.try_with(Arc::clone) {
        Ok(observer) => BuildObserver::new(move |part| observer(DeployPart::Build(part))),
        Err(_) => BuildObserver::default(),
    }
}
