//! Components of published packages: saved, deployed, asked and run as a user does it.

use serde_json::{Value, json};

use crate::{answer::Answer, node::Node, source::Source};

impl Node {
    /// Saves a file of a package, `npm:PACKAGE@VERSION/path`; the saved component.
    pub async fn save_package(&self, file: &str) -> Value {
        let saved = self.post("/components", json!({"component_url": file}));
        saved.await.is(200).data()
    }

    /// Deploys a file of a package.
    pub async fn deploy_package(&self, file: &str, props: Value) -> Source {
        Source::new(self.try_deploy_package(file, props).await.is(200).data())
    }

    /// Tries to.
    pub async fn try_deploy_package(&self, file: &str, props: Value) -> Answer {
        let source = json!({"component_url": file, "configured_props": props});
        self.post("/sources", source).await
    }

    /// A page of options of a saved component's prop.
    pub async fn options(&self, component: &str, question: Value) -> Value {
        let path = format!("/components/{component}/options");
        self.post(&path, question).await.is(200).data()
    }

    /// Runs a saved action once; the report.
    pub async fn run_action(&self, component: &str, props: Value) -> Value {
        let path = format!("/components/{component}/run");
        let run = self.post(&path, json!({"configured_props": props}));
        run.await.is(200).data()
    }

    /// Runs a saved action, which has to return; what it returned.
    #[track_caller]
    pub fn returned<'a>(
        &'a self,
        component: &'a str,
        props: Value,
    ) -> impl Future<Output = Value> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            let mut report = self.run_action(component, props).await;
            let outcome = &mut report["outcome"];
            assert!(
                outcome["status"] == "returned",
                "{component} at {caller}: {outcome:#}"
            );
            outcome["value"].take()
        }
    }
}
