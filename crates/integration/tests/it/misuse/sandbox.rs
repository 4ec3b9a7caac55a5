//! The parts of the machine, the node and other sources that a component can see.

use std::path::Path;

use headwater_integration::{Node, Source};
use serde_json::{Map, Value, json};

/// A variable of the node, and what no component may ever show.
const VARIABLE: &str = "HEADWATER_TEST_PROBE";
const SECRET: &str = "the-nodes-own-secret-5f2a";

/// Tries what its event names, and tells what came of each attempt.
const CODE: &str = r#"
import { execFileSync, fork, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import process from "node:process";

/// A process that was not started has no status, and does not always have an error.
const status = (ended) => {
  if (ended.status !== 0) throw ended.error ?? new Error("nothing was started");
  return ended.status;
};

const deeds = {
  read: ({ path }) => fs.readFileSync(path, "latin1"),
  readDeno: ({ path }) => Deno.readTextFileSync(path),
  readUp: ({ path }) => fs.readFileSync(`${"../".repeat(20)}${path.slice(1)}`, "latin1"),
  open: ({ path }) => fs.openSync(path, "r"),
  list: ({ path }) => fs.readdirSync(path).join(),
  stat: ({ path }) => fs.statSync(path).size,
  import: async ({ path }) => JSON.stringify(await import(`file://${path}`, { with: { type: "json" } })),
  fetch: async ({ path }) => await (await fetch(`file://${path}`)).text(),
  link: ({ path }) => {
    const link = `${os.tmpdir()}/link-${Math.random()}`;
    fs.symlinkSync(path, link);
    return fs.readFileSync(link, "latin1");
  },
  hardLink: ({ path }) => {
    const link = `${os.tmpdir()}/hard-${Math.random()}`;
    fs.linkSync(path, link);
    return fs.readFileSync(link, "latin1");
  },
  copy: ({ path }) => {
    const copy = `${os.tmpdir()}/copy-${Math.random()}`;
    fs.copyFileSync(path, copy);
    return fs.readFileSync(copy, "latin1");
  },
  write: ({ path }) => fs.writeFileSync(path, "changed"),
  remove: ({ path }) => fs.unlinkSync(path),
  rename: ({ path }) => fs.renameSync(path, `${os.tmpdir()}/taken`),

  denoCommand: () => new Deno.Command("/bin/true").outputSync().code,
  denoSpawn: async () => (await new Deno.Command("/bin/true").spawn().status).code,
  denoSelf: () => new Deno.Command(Deno.execPath(), { args: ["--version"] }).outputSync().code,
  spawnSync: () => status(spawnSync("/bin/true")),
  shell: () => status(spawnSync("true", { shell: true })),
  execFile: () => String(execFileSync("/bin/true")),
  fork: () =>
    new Promise((resolve, reject) => {
      const child = fork("/dev/null");
      child.on("error", reject);
      child.on("exit", resolve);
    }),
  ffi: () => Deno.dlopen("libc.so.6", {}),
  killNode: ({ pid }) => process.kill(pid, 0),
  killNodeDeno: ({ pid }) => Deno.kill(pid, "SIGTERM"),

  env: ({ name }) => process.env[name] ?? "",
  allEnv: () => JSON.stringify(process.env),
  denoEnv: ({ name }) => Deno.env.get(name) ?? "",
  denoAllEnv: () => JSON.stringify(Deno.env.toObject()),
  home: () => os.homedir(),
  user: () => JSON.stringify(os.userInfo()),

  keep: ({ text }) => {
    globalThis.kept = text;
    const path = `${os.tmpdir()}/kept.txt`;
    fs.writeFileSync(path, text);
    return path;
  },
  kept: () => globalThis.kept ?? "nothing",
};

const attempt = async (deed, event) => {
  try {
    return { got: String(await deeds[deed](event)) };
  } catch (error) {
    return { refused: `${error?.name} ${error?.code ?? ""} ${error?.message}` };
  }
};

export default {
  name: "Curious",
  version: "0.0.1",
  async run(event) {
    const outcomes = {};
    for (const deed of event.deeds) outcomes[deed] = await attempt(deed, event);
    return outcomes;
  },
};
"#;

const READING: [&str; 11] = [
    "read", "readDeno", "readUp", "open", "list", "import", "fetch", "link", "hardLink", "copy",
    "stat",
];
const WRITING: [&str; 3] = ["write", "remove", "rename"];
const PROCESSES: [&str; 10] = [
    "denoCommand",
    "denoSpawn",
    "denoSelf",
    "spawnSync",
    "shell",
    "execFile",
    "fork",
    "ffi",
    "killNode",
    "killNodeDeno",
];

async fn attempts(
    node: &Node,
    source: &Source,
    mut event: Value,
    deeds: &[&str],
) -> Map<String, Value> {
    event["deeds"] = json!(deeds);
    let report = node.run(source, event).await;
    let Value::Object(outcomes) = &report["outcome"]["value"] else {
        panic!("{report:#}");
    };
    assert_eq!(outcomes.len(), deeds.len());
    outcomes.clone()
}

/// Does one deed that is to succeed.
async fn deed(node: &Node, source: &Source, deed: &str, event: Value) -> String {
    let outcome = attempts(node, source, event, &[deed])
        .await
        .remove(deed)
        .unwrap();
    let got = outcome["got"].as_str();
    got.unwrap_or_else(|| panic!("{deed}: {outcome}"))
        .to_owned()
}

async fn assert_refused(node: &Node, source: &Source, event: Value, deeds: &[&str]) {
    let outcomes = attempts(node, source, event.clone(), deeds).await;
    let done: Vec<_> = outcomes
        .iter()
        .filter(|(_, outcome)| outcome["refused"].is_null())
        .collect();
    assert!(done.is_empty(), "{event}: {done:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_outside_its_folder_are_refused() {
    let mut node = Node::builder().own_address().start().await;
    let source = node.deploy(CODE, json!({})).await;
    // A file of its own can be read, so that refusals mean something.
    let own = deed(&node, &source, "keep", json!({"text": "mine"})).await;
    assert_eq!(
        deed(&node, &source, "read", json!({"path": own})).await,
        "mine"
    );

    let data_dir = node.data_dir().canonicalize().unwrap();
    let readable = |path: &Path| std::fs::read(path).is_ok() || std::fs::read_dir(path).is_ok();
    for path in [
        Path::new("/etc/passwd"),
        &data_dir,
        &data_dir.join("api-key"),
        &data_dir.join("headwater.db"),
        &data_dir.join("secret-key"),
        Path::new("/"),
        Path::new("/proc"),
    ] {
        assert!(readable(path), "{} is not there", path.display());
        // The last two are other names for the same.
        for prefix in ["", "/usr/..", "/proc/self/root"] {
            let path = format!("{prefix}{}", path.display());
            assert_refused(&node, &source, json!({"path": path}), &READING).await;
        }
    }
    for path in [
        "/proc/self/environ",
        "/proc/self/cmdline",
        "/proc/self/mem",
        "/proc/1/environ",
    ] {
        assert_refused(&node, &source, json!({"path": path}), &READING).await;
    }
    let key = data_dir.join("api-key");
    assert_refused(&node, &source, json!({"path": key}), &WRITING).await;
    assert_eq!(std::fs::read_to_string(key).unwrap(), node.api_key());
    node.restart().await;
    node.get("/users/me").await.is(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_it_calls_tmp_is_its_own() {
    let node = Node::start().await;
    let source = node.deploy(CODE, json!({})).await;
    let name = format!("headwater-probe-{}", std::process::id());
    let path = format!("/tmp/{name}");
    deed(&node, &source, "write", json!({"path": path})).await;
    assert_eq!(
        deed(&node, &source, "read", json!({"path": path})).await,
        "changed"
    );
    assert_eq!(
        deed(&node, &source, "list", json!({"path": "/tmp"})).await,
        name
    );
    assert!(!Path::new(&path).exists(), "it is in everybody's {path}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_in_a_worker_of_its_own_shares_nothing_with_another() {
    let node = Node::builder().flag("--isolation=source").start().await;
    let one = node.deploy(CODE, json!({})).await;
    let other = node
        .post(
            "/sources",
            json!({"component_id": one.record["component_id"]}),
        )
        .await
        .is(200)
        .data();
    let other = Source::new(other);
    assert_ne!(one.id, other.id);
    let path = deed(&node, &one, "keep", json!({"text": "of the one"})).await;
    // The one keeps it between its runs, and another made from the same component has none of it.
    assert_eq!(deed(&node, &one, "kept", json!({})).await, "of the one");
    assert_eq!(deed(&node, &other, "kept", json!({})).await, "nothing");
    // The machine's name for what the one calls by a name of its own.
    let name = Path::new(&path).file_name().unwrap();
    let workers = node.data_dir().join("workers");
    let kept = std::fs::read_dir(&workers)
        .unwrap()
        .map(|worker| worker.unwrap().path().join("tmp/.component-1").join(name))
        .find(|file| std::fs::read_to_string(file).is_ok_and(|text| text == "of the one"))
        .expect("the file of the one");
    assert_refused(&node, &other, json!({"path": kept}), &READING).await;
    assert_refused(&node, &other, json!({"path": kept}), &WRITING).await;
    let folder = kept.parent().unwrap();
    assert_refused(&node, &other, json!({"path": folder}), &["list"]).await;
    assert_refused(&node, &other, json!({"path": workers}), &["list"]).await;
    // Under the same name it has a file of its own.
    let others = deed(&node, &other, "keep", json!({"text": "of the other"})).await;
    assert_eq!(
        deed(&node, &other, "read", json!({"path": others})).await,
        "of the other"
    );
    assert_eq!(
        deed(&node, &one, "read", json!({"path": path})).await,
        "of the one"
    );
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "of the one");
    assert_eq!(deed(&node, &one, "kept", json!({})).await, "of the one");
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_cannot_be_started_or_signalled() {
    let node = Node::start().await;
    let source = node.deploy(CODE, json!({})).await;
    assert_refused(&node, &source, json!({"pid": node.pid()}), &PROCESSES).await;
    node.get("/users/me").await.is(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_nodes_environment_is_not_to_be_seen() {
    let node = Node::builder().env(VARIABLE, SECRET).start().await;
    let environ = std::fs::read(format!("/proc/{}/environ", node.pid())).unwrap();
    assert!(
        String::from_utf8_lossy(&environ).contains(SECRET),
        "the node has it"
    );
    let source = node.deploy(CODE, json!({})).await;
    for name in [VARIABLE, "HEADWATER_API_KEY", "PATH", "USER"] {
        let outcomes = attempts(&node, &source, json!({"name": name}), &["env", "denoEnv"]).await;
        for (deed, outcome) in outcomes {
            let got = outcome["got"].as_str().unwrap_or_default();
            assert_eq!(got, "", "{deed} {name}");
        }
    }
    let told = ["allEnv", "denoAllEnv", "home", "user"];
    let outcomes = attempts(&node, &source, json!({}), &told).await;
    let shown = Value::from(outcomes).to_string();
    assert!(shown.contains("PD_COMPONENT"), "{shown}");
    assert!(
        !shown.contains(SECRET) && !shown.contains(node.api_key()),
        "{shown}"
    );
    for pid in ["self".to_owned(), "1".to_owned(), node.pid().to_string()] {
        let path = format!("/proc/{pid}/environ");
        assert_refused(&node, &source, json!({"path": path}), &READING).await;
    }
}
