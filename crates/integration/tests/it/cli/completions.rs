//! Completions of values that the node has. Bash completes as it does for a person; of the other shells, the answers to
//! their scripts' questions are looked at.

use headwater_integration::Node;
use serde_json::json;

use crate::code::EMITTER;

const GREETER: &str = r#"export default {
  name: "Greet", key: "greetings-greet", version: "0.0.1", type: "action",
  props: { name: { type: "string", label: "Name of the person" } }, run() {}
};"#;

/// The words that bash would insert or show.
async fn completed_by_bash(node: &Node, line: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "source <(headwater completions bash)\n\
         set +eu\n\
         words='{line}'; COMP_WORDS=($words); case $words in *' ') COMP_WORDS+=('');; esac\n\
         COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMP_LINE=$words; COMP_POINT=${{#words}}; COMP_TYPE=9\n\
         complete_with=$(complete -p headwater | sed 's/.*-F \\([^ ]*\\).*/\\1/')\n\
         $complete_with headwater \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"\n\
         printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    let output = node.shell(folder.path(), &script).output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.is_empty(), "{line}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn bash_completes_the_names_of_what_the_node_has() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    node.deploy(EMITTER, json!({})).await;
    node.account("tracker", json!({"token": "t"})).await;
    std::fs::write(folder.path().join("greet.mjs"), GREETER).unwrap();
    node.cli_in(folder.path(), &["publish", "greet.mjs"])
        .await
        .ok();
    let hook = [
        "webhooks",
        "create",
        "https://example.com/in",
        "--name",
        "alarms",
    ];
    node.cli(&hook).await.ok();
    for (line, word) in [
        ("headwater logs em", "emitter"),
        ("headwater describe ", "emitter"),
        ("headwater webhooks test al", "alarms"),
        ("headwater accounts connect gitla", "gitlab"),
        ("headwater accounts rename tr", "tracker"),
        ("headwater run-action gre", "greetings-greet"),
        ("headwater run-action greetings-greet --prop ", "name="),
        ("headwater webhooks rot", "rotate-secret"),
    ] {
        let completed = completed_by_bash(&node, line).await;
        let found = completed.lines().any(|it| it.trim() == word);
        assert!(found, "{line}: {completed}");
    }
    let others = completed_by_bash(&node, "headwater logs zzz").await;
    assert_eq!(others.trim(), "");
}

#[tokio::test]
async fn zsh_and_fish_get_the_same_and_a_node_that_is_away_is_no_error() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    node.deploy(EMITTER, json!({})).await;
    for shell in ["zsh", "fish"] {
        let script = node.cli(&["completions", shell]).await.ok().stdout;
        assert!(script.contains("HEADWATER_COMPLETE"), "{script}");
        let ask = format!(
            "HEADWATER_COMPLETE={shell} _CLAP_COMPLETE_INDEX=2 headwater -- headwater logs em"
        );
        let output = node.shell(folder.path(), &ask).output().await.unwrap();
        let answer = String::from_utf8(output.stdout).unwrap();
        assert!(answer.contains("emitter"), "{shell}: {answer}");
    }
    let away =
        "HEADWATER_URL=http://127.0.0.1:1 HEADWATER_COMPLETE=fish headwater -- headwater logs em";
    let output = node.shell(folder.path(), away).output().await.unwrap();
    assert!(output.status.success());
    assert!(
        output.stdout.is_empty() && output.stderr.is_empty(),
        "{output:?}"
    );
}
