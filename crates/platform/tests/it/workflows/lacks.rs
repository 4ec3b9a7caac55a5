//! Things that a folder counts on and its node lacks.

use std::collections::BTreeMap;

use headwater_platform::{DeployWorkflow, DeployedWorkflow};

use super::{Flow, step};
use crate::world::World;

fn told(deployed: &DeployedWorkflow) -> Vec<(usize, String)> {
    let findings = deployed.findings.iter();
    let told = findings.map(|finding| (finding.place.line, finding.message.clone()));
    told.collect()
}

const BY_MAIL: &str = "triggers:\n- type: email\n";

#[tokio::test]
async fn triggers_and_sends_of_mail_are_told_where_the_node_has_no_mail() {
    let flow = Flow::with(BY_MAIL, &[step("tell", &[])]);
    let flow = flow.beside(
        "lib/tell.mjs",
        "export const tell = ($) => $.send.email({});",
    );
    let deaf = World::with(|config| config.takes_mail = false).await;
    let found = told(&flow.deploy(&deaf).await);
    assert_eq!(found.len(), 2, "{found:?}");
    let (trigger, send) = (&found[0], &found[1]);
    assert_eq!(trigger.0, 4);
    assert!(send.1.starts_with("lib/tell.mjs: "), "{send:?}");
    assert!(trigger.1.contains("--smtp-listen"), "{trigger:?}");
    assert!(send.1.contains("--smtp-url"), "{send:?}");
    // This one takes mail.
    let found = told(&flow.deploy(&World::new().await).await);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].1.contains("--smtp-url"), "{found:?}");
}

#[tokio::test]
async fn variables_that_are_read_and_not_set_are_told_once_where_they_are_read() {
    let world = World::new().await;
    let set = world.platform.set_variable(&world.caller, None, "SET", "1");
    set.await.unwrap();
    let code = r#"{"name":"one","has_run":true,"props":[],"hooks":{}}"#;
    let yaml = "name: Flow\ntriggers:\n- type: http\n  auth: { bearer: '{{process.env.TOKEN}}' }\nsteps:\n\
                # process.env.OFF\n- namespace: one\n  props: { a: '{{process.env.SET}}', b: '{{process.env.TOKEN}}' }\n\
                - namespace: off\n  disabled: true\n  props: { a: '{{process.env.OFF}}' }\n";
    let files = [
        ("workflow.yaml", yaml),
        ("one/entry.js", code),
        ("off/entry.js", code),
        (
            "lib/clock.mjs",
            "process.env.TZ = 'UTC'; /* process.env.COMMENT */ process.env.HOME",
        ),
        (
            "lib/help.mjs",
            "process.env['HELP'] + process.env.PIPEDREAM_TRACE_ID",
        ),
        ("tests/a.js", "process.env.TESTED"),
        ("README.md", "process.env.READ"),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let request = DeployWorkflow {
        files: BTreeMap::from(files),
        workspace_id: None,
        lacks_accounts: false,
    };
    let deployed = world.platform.deploy_workflow(&world.caller, request).await;
    let found = told(&deployed.unwrap());
    let found = found
        .iter()
        .filter(|(_, told)| told.contains("process.env"));
    let found: Vec<_> = found.collect();
    assert_eq!(found.len(), 2, "{found:?}");
    for ((line, told), (at, file, name)) in found
        .into_iter()
        .zip([(1, "lib/help.mjs: ", "HELP"), (4, "", "TOKEN")])
    {
        assert_eq!(*line, at, "{told}");
        let beginning = format!("{file}`process.env.{name}` has no value");
        assert!(told.starts_with(&beginning), "{told}");
        let way_on = format!("`headwater variables set {name}=VALUE`");
        assert!(told.contains(&way_on), "{told}");
    }
}

#[tokio::test]
async fn a_trigger_that_had_an_address_before_its_workflow_was_deleted_is_told_to_have_a_new_one() {
    let world = World::new().await;
    let flow = || Flow::with("triggers:\n- type: http\n", &[step("one", &[])]);
    let first = flow().deploy(&world).await;
    assert_eq!(told(&first), []);
    let same = flow().again(&first).deploy(&world).await;
    assert_eq!(told(&same), []);
    let id = &first.workflow.workflow.id;
    let deleted = world.platform.delete_workflow(&world.caller, id);
    deleted.await.unwrap();
    let again = flow().again(&first).deploy(&world).await;
    assert_eq!(again.workflow.workflow.id, *id);
    let url = |of: &DeployedWorkflow| of.workflow.triggers[0].endpoint_url.clone();
    assert_eq!(url(&same), url(&first));
    assert_ne!(url(&again), url(&first));
    let found = told(&again);
    assert_eq!((found.len(), found[0].0), (1, 4), "{found:?}");
    assert!(
        found[0].1.contains("the trigger has a new URL"),
        "{found:?}"
    );
}
