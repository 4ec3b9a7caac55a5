/** The index of the built-in actions, and the rules that hold for each of them. */

import assert from "node:assert/strict";
import { describeComponent } from "../worker/describe.ts";
import { failureOf, INDEX, loadAction } from "./builtin_steps.ts";
import { SpawnedWorker } from "./spawned_worker.ts";
import { expression, runStep, URLS } from "./workflow_host.ts";

const ACTIONS = new URL("../actions/", import.meta.url);
const TYPES = [
  ...["string", "string[]", "integer", "boolean", "object", "any"],
  ...["http_request", "data_store", "dir"],
];

interface Prop {
  name: string;
  type: string;
  label?: string;
  description?: string;
  options?: unknown[];
}

async function* filesIn(folder: URL): AsyncGenerator<URL> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* filesIn(new URL(`${name}/`, folder));
    else yield new URL(name, folder);
  }
}

Deno.test("each action of the index has its key and version, and is described", async () => {
  for (const [key, { version }] of Object.entries(INDEX)) {
    const described = JSON.parse(describeComponent(await loadAction(key)));
    assert.deepEqual(
      [described.key, described.version, described.type],
      [key, version, "action"],
    );
    assert.ok(described.name && described.description, key);
    for (const prop of described.props as Prop[]) {
      assert.ok(TYPES.includes(prop.type), `${key}: ${prop.name} is ${prop.type}`);
      const isPlain = !["dir", "data_store"].includes(prop.type);
      assert.ok(!isPlain || prop.label, `${key}: ${prop.name} has a label`);
    }
  }
});

Deno.test("each action that a file defines is in the index", async () => {
  const indexed = Object.values(INDEX).map(({ path }) => path);
  for await (const file of filesIn(ACTIONS)) {
    if (!file.pathname.endsWith(".ts")) continue;
    const isAction = /^ {2}key: "/m.test(await Deno.readTextFile(file));
    const path = file.pathname.slice(ACTIONS.pathname.length);
    assert.equal(indexed.includes(path), isAction, path);
  }
});

Deno.test("no two entries of the index answer to one key", () => {
  const names = Object.entries(INDEX).flatMap((
    [key, { aliases }],
  ) => [key, ...aliases]);
  assert.equal(new Set(names).size, names.length);
});

Deno.test("each action of the index is run by a test", async () => {
  let tests = "";
  for await (const { name } of Deno.readDir(new URL(".", import.meta.url))) {
    if (!/^builtin_.*_test\.ts$/.test(name) || import.meta.url.endsWith(name)) continue;
    tests += await Deno.readTextFile(new URL(name, import.meta.url));
  }
  const missing = Object.keys(INDEX).filter((key) => !tests.includes(`"${key}"`));
  assert.deepEqual(missing, []);
});

Deno.test("packages are pinned to one release each", async () => {
  for await (const file of filesIn(ACTIONS)) {
    const code = await Deno.readTextFile(file);
    for (const [, specifier] of code.matchAll(/^(?:import|}).* from "([^"]+)";$/gm)) {
      assert.match(
        specifier!,
        /^(\.|node:|npm:[\w-]+@\d+\.\d+\.\d+(\/|$))/,
        file.pathname,
      );
    }
  }
});

Deno.test("a value that an expression did not give is named", async () => {
  const error = await failureOf("formatting-trim-whitespace", {});
  assert.equal(error.name, "ConfigurationError");
  assert.match(error.message, /^`input` has no value/);
});

/** The files of all actions, with a component that is the action of the key. */
async function filesOf(key: string): Promise<Record<string, string>> {
  const { path } = INDEX[key]!;
  const files = { "component.mjs": `export { default } from "./${path}";` };
  const texts: Record<string, string> = {};
  for await (const file of filesIn(ACTIONS)) {
    const name = file.pathname.slice(ACTIONS.pathname.length);
    texts[name] = await Deno.readTextFile(file);
  }
  return { ...texts, ...files };
}

Deno.test("an action runs alone in a worker", async () => {
  const files = await filesOf("formatting-replace-text");
  await using worker = await SpawnedWorker.start({ files });
  const run = await worker.run({
    props: { input: "a-b-c", findText: "-", replaceText: "+" },
  });
  assert.equal(run.outcome.value, "a+b+c", JSON.stringify(run.outcome));
  assert.deepEqual(run.of("export").map(({ key, value }) => [key, value]), [
    ["$summary", "Replaced 2 instances"],
  ]);
});

Deno.test("actions run as steps of a workflow", async () => {
  const keys = ["delay-workflow-delay", "email-send-email-to-self"];
  keys.push("http-return-http-response", "filter-continue-based-on-condition");
  await using worker = await SpawnedWorker.start({ files: await filesOf(keys[0]!) });
  for (let i = 1; i < keys.length; i++) {
    const loaded = await worker.load(i + 1, { files: await filesOf(keys[i]!) });
    assert.equal(loaded.type, "loaded", JSON.stringify(loaded));
  }
  const run = async (component: number, props: Record<string, unknown>) => {
    const ran = await runStep(worker, { props }, { component });
    assert.equal(ran.outcome.error, undefined, JSON.stringify(ran.outcome));
    return ran;
  };
  const delayed = await run(1, { delayDurationValue: "2", delayDurationUnit: "Hours" });
  assert.deepEqual(delayed.of("flow").map(({ after_ms }) => after_ms), [7_200_000]);
  assert.equal(delayed.outcome.value.resume_url, URLS.resume);
  const mailed = await run(2, { subject: "S", text: expression("`T`") });
  assert.deepEqual(mailed.of("send").map(({ kind }) => kind), ["email"]);
  const responded = await run(3, { resStatusCode: "201", resBody: { ok: true } });
  assert.deepEqual(responded.of("respond").map(({ status }) => status), [201]);
  const ended = await run(4, {
    initialValue: expression("steps.trigger.event.items?.length ?? 0"),
    condition: "GREATER_THAN_EQUALS",
    secondValue: "1",
    messageOnEnd: "nothing to do",
  });
  assert.deepEqual(ended.of("exit").map(({ text }) => text), ["nothing to do"]);
});
