/** Actions of `pipedream_utils` and `email`, but for dates and feeds. */

import assert from "node:assert/strict";
import { startSmtp } from "./builtin_smtp.ts";
import { failureOf, loadAction, runAction, startServer } from "./builtin_steps.ts";

const LIST = "pipedream_utils-extract-by-regular-expressions-list";

Deno.test("values are returned as the actions say", async () => {
  const arrays = { array1: ["a", "b", "b"], array2: ["b", "c"] };
  const compare = "pipedream_utils-compare-arrays";
  for (
    const [key, props, expected] of [
      [compare, { ...arrays, actionType: "difference" }, ["a"]],
      [compare, { ...arrays, actionType: "union" }, ["a", "b", "c"]],
      [compare, { ...arrays, actionType: "intersection" }, ["b"]],
      [compare, { ...arrays, actionType: "symmetric difference" }, ["a", "c"]],
      [compare, { actionType: "union" }, []],
      [
        "pipedream_utils-convert-object-to-json-string",
        { object: { a: [1] } },
        '{"a":[1]}',
      ],
      ["pipedream_utils-convert-object-to-json-string", { object: "a" }, '"a"'],
      ["pipedream_utils-get-coutry-name-by-code-iso", { countryCode: "DE" }, "Germany"],
      ["pipedream_utils-get-coutry-name-by-code-iso", { countryCode: "fr" }, "France"],
      ["pipedream_utils-get-coutry-name-by-code-iso", { countryCode: "X-" }, "X-"],
      [
        "pipedream_utils-xml-to-json",
        { input: '<a x="1"><b>t</b><b/></a>' },
        { a: { _attributes: { x: "1" }, b: [{ _text: "t" }, {}] } },
      ],
      [
        "pipedream_utils-xml-to-json",
        { input: "<a>t</a>", compact: false },
        {
          elements: [{
            type: "element",
            name: "a",
            elements: [{ type: "text", text: "t" }],
          }],
        },
      ],
    ] as const
  ) {
    const { returned } = await runAction(key, props);
    assert.deepEqual(returned, expected, `${key} ${JSON.stringify(props)}`);
  }
});

Deno.test("values are exported as the actions say", async () => {
  for (
    const [key, props, expected] of [
      ["pipedream_utils-base64-decode-string", { data: "aMOkbGxv" }, { data: "hällo" }],
      ["pipedream_utils-export-variables", { config: { a: 1 } }, { config: { a: 1 } }],
      ["pipedream_utils-export-variables", { config: '{"a":1}' }, { config: { a: 1 } }],
      ["pipedream_utils-export-variables", { config: " " }, { config: undefined }],
      [
        "pipedream_utils-prettify-json",
        { val: { a: [1] } },
        { prettifiedValue: { val: '{\n  "a": [\n    1\n  ]\n}' } },
      ],
    ] as const
  ) {
    assert.deepEqual((await runAction(key, props)).exports, expected, key);
  }
});

Deno.test("several expressions are matched, each under its key", async () => {
  const props = {
    ...{ key_0: "digits", input_0: "a1b22", regex_0: "\\d+" },
    ...{ key_1: "letters", input_1: "Ab", regex_1: "/[a-z]/i" },
    ...{ key_2: "", input_2: "not read", regex_2: "(" },
  };
  assert.deepEqual((await runAction(LIST, props)).returned, {
    digits: [
      { match: "1", startPosition: 1, endPosition: 2 },
      { match: "22", startPosition: 3, endPosition: 5 },
    ],
    letters: [
      { match: "A", startPosition: 0, endPosition: 1 },
      { match: "b", startPosition: 1, endPosition: 2 },
    ],
  });
});

Deno.test("a further key is asked for as long as the last one is given", async () => {
  const { additionalProps } = await loadAction(LIST);
  const names = (values: object) =>
    Object.keys((additionalProps as () => object).call(values));
  assert.deepEqual(names({}), ["key_1"]);
  assert.deepEqual(names({ key_0: "a", key_1: "b" }), [
    ...["key_1", "input_1", "regex_1", "key_2"],
  ]);
});

Deno.test("random numbers are within their bounds, which are reached", async () => {
  const key = "pipedream_utils-random-integer";
  const numbers = new Set<number>();
  for (let i = 0; i < 300; i++) {
    numbers.add((await runAction(key, { min: 2, max: 4 })).returned);
  }
  assert.deepEqual([...numbers].sort(), [2, 3, 4]);
  const { returned } = await runAction(key);
  assert.ok(Number.isInteger(returned) && returned >= 0 && returned <= 10_000);
  assert.match(
    (await failureOf(key, { min: 5, max: 4 })).message,
    /`min` \(5\) is above/,
  );
});

Deno.test("items are chosen without choosing one twice, and the list stays", async () => {
  const key = "pipedream_utils-random-item-from-list";
  const list = ["a", "b", "c"];
  const { returned } = await runAction(key, { list, quantity: 3 });
  assert.deepEqual(returned.toSorted(), list);
  assert.deepEqual(list, ["a", "b", "c"]);
  assert.equal((await runAction(key, { list })).returned.length, 1);
  const error = await failureOf(key, { list, quantity: 4 });
  assert.equal(error.name, "ConfigurationError");
  assert.match(error.message, /the list has 3 items/);
});

Deno.test("the memory is told in megabytes", async () => {
  const { returned } = await runAction("pipedream_utils-debug-memory-usage");
  assert.deepEqual(Object.keys(returned), [
    ...["totalHeapSize", "totalHeapSizeExecutable", "totalPhysicalSize"],
    ...["totalAvailableSize", "usedHeapSize", "heapSizeLimit"],
  ]);
  assert.match(returned.usedHeapSize, /^[1-9]\d*\.\d\d MB$/);
});

Deno.test("HTML becomes the markup of Slack", async () => {
  for (
    const [html, expected] of [
      ["<p>a <b>b</b> <em>c</em> <s>d</s> &amp; e</p>", "a *b* _c_ ~d~ & e\n"],
      ["<strong> a </strong>b", " *a* b"],
      ["<b>a<br>b</b>", "*a*\n*b*"],
      ["<h1>A <b>b</b></h1>c", "*A b*\nc"],
      ['<a href="https://e.example">e</a> <a>f</a>', "<https://e.example|e> f"],
      ["<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>", "• a\n  • b\n• c\n"],
      ['<ol start="3"><li>a</li><li>b</li></ol>', "3. a\n4. b\n"],
      ["<code>a</code><pre><b>b</b>\n c</pre>", "`a````\nb\n c```\n"],
      ["<blockquote>a<br>b</blockquote>", "> a\n> b\n"],
      ['<img src="s.png" alt="A"><script>x</script>', "<Inline Image(A): s.png>"],
      [
        "<table><tr><th>ab</th><th>c</th></tr><tr><td>1</td><td>2</td></tr></table>",
        "| ab | c |\n| -- | - |\n| 1 | 2 |\n",
      ],
    ] as const
  ) {
    const key = "pipedream_utils-convert-html-to-slack-mrkdwn";
    assert.equal((await runAction(key, { html })).returned, expected, html);
  }
});

Deno.test("HTML becomes Markdown in the style that is chosen", async () => {
  const key = "pipedream_utils-html-to-markdown";
  const input = "<h1>A</h1><ul><li>b</li></ul><p><em>c</em></p>";
  const plain = await runAction(key, { input });
  assert.equal(plain.returned, "A\n=\n\n*   b\n\n_c_");
  const style = { headingStyle: "atx", bulletListMarker: "-", emDelimiter: "*" };
  const chosen = await runAction(key, { input, ...style });
  assert.equal(chosen.returned, "# A\n\n-   b\n\n*c*");
});

Deno.test("a CSV file is read into objects or lists", async () => {
  const key = "pipedream_utils-csv-file-to-objects";
  const filePath = await Deno.makeTempFile({ suffix: ".csv" });
  try {
    await Deno.writeTextFile(filePath, '\ufeffid,name\n1,"a, b"\n\n2,c\n');
    const objects = await runAction(key, { filePath, hasHeaders: true });
    assert.deepEqual(
      objects.returned.map((record: object) => ({ ...record })),
      [{ id: "1", name: "a, b" }, { id: "2", name: "c" }],
    );
    const lists = await runAction(key, { filePath });
    assert.deepEqual(lists.returned, [["id", "name"], ["1", "a, b"], ["2", "c"]]);
    await Deno.writeTextFile(filePath, "a,b\n1\n,\n2,3\n");
    const broken = {
      filePath,
      skipRecordsWithError: true,
      skipRecordsWithEmptyValues: true,
    };
    assert.deepEqual((await runAction(key, broken)).returned, [["a", "b"], ["2", "3"]]);
    await failureOf(key, { filePath });
  } finally {
    await Deno.remove(filePath);
  }
  const missing: any = await failureOf(key, { filePath: `${filePath}.gone` });
  assert.equal(missing.code, "ENOENT");
});

Deno.test("a file is downloaded into /tmp, and nowhere else", async () => {
  const key = "pipedream_utils-download-file-to-tmp";
  const bytes = new Uint8Array([0, 255, 10, 13]);
  await using server = startServer(({ path }) =>
    path === "/file" ? new Response(bytes) : new Response("no", { status: 404 })
  );
  const folder = `builtin-${crypto.randomUUID()}`;
  const filename = `${folder}/a.bin`;
  try {
    const { returned } = await runAction(key, { url: `${server.url}/file`, filename });
    assert.deepEqual(returned, [filename, `/tmp/${filename}`]);
    assert.deepEqual(await Deno.readFile(`/tmp/${filename}`), bytes);
  } finally {
    await Deno.remove(`/tmp/${folder}`, { recursive: true });
  }
  const gone = await failureOf(key, { url: `${server.url}/gone`, filename: "x" });
  assert.equal(gone.message, "Request failed with status code 404");
  for (const outside of ["../etc/x", "a/../../x", "."]) {
    const error = await failureOf(key, {
      url: `${server.url}/file`,
      filename: outside,
    });
    assert.equal(error.name, "ConfigurationError", outside);
  }
});

Deno.test("a message is handed to a task scheduler", async () => {
  await using server = startServer(() => Response.json({ id: "task" }));
  const before = Date.now();
  const { returned, exports } = await runAction(
    "pipedream_utils-schedule-task-in-future",
    {
      numSeconds: "60",
      secret: "s",
      taskSchedulerURL: `${server.url}/`,
      message: { a: 1 },
    },
  );
  assert.deepEqual(returned, { id: "task" });
  const [{ method, path, headers, body }] = server.seen as [typeof server.seen[0]];
  assert.deepEqual([method, path, headers["x-pd-secret"]], ["POST", "/schedule", "s"]);
  const { timestamp, message } = JSON.parse(body);
  assert.deepEqual(message, { a: 1 });
  assert.equal(timestamp, exports.ts);
  const moment = Date.parse(timestamp) - 60_000;
  assert.ok(before <= moment && moment <= Date.now(), timestamp);
});

Deno.test("an amount is converted at the service's rate", async () => {
  const native = globalThis.fetch;
  const asked: string[] = [];
  globalThis.fetch = (input) => {
    asked.push(String(input));
    const isNames = String(input).endsWith("/currencies");
    return Promise.resolve(
      Response.json(isNames ? { EUR: "Euro" } : { amount: 10, rates: { USD: 11.5 } }),
    );
  };
  try {
    const key = "pipedream_utils-convert-currency";
    const props = { fromCurrency: "EUR", toCurrency: "USD", value: "10" };
    const { returned, exports } = await runAction(key, props);
    assert.deepEqual(returned, { amount: 10, rates: { USD: 11.5 } });
    assert.equal(exports.$summary, "10 EUR = 11.5 USD");
    assert.match(asked[0]!, /\/latest\?from=EUR&to=USD&amount=10$/);
    const { props: definitions } = await loadAction(key);
    const { fromCurrency } = definitions as Record<string, { options(): unknown }>;
    assert.deepEqual(await fromCurrency!.options(), [{ label: "Euro", value: "EUR" }]);
  } finally {
    globalThis.fetch = native;
  }
});

Deno.test("a mail is sent over one's own server", async () => {
  await using smtp = startSmtp();
  const { returned } = await runAction("pipedream_utils-send-email-with-nodemailer", {
    host: "127.0.0.1",
    port: String(smtp.port),
    from: '"Ann" <ann@example.com>',
    to: ["bob@example.com", "cem@example.com"],
    cc: "dee@example.com",
    subject: "Hello",
    text: "How are you?",
  });
  assert.deepEqual(returned.accepted, [
    ...["bob@example.com", "cem@example.com", "dee@example.com"],
  ]);
  assert.match(returned.messageId, /@example\.com>$/);
  const [mail] = smtp.mails;
  assert.equal(mail!.from, "ann@example.com");
  assert.equal(mail!.to.length, 3);
  assert.match(mail!.data, /^Subject: Hello$/m);
  assert.match(mail!.data, /How are you\?/);
});

Deno.test("what the platform sends leaves through the step", async () => {
  const mail = { subject: "S", text: "T" };
  const key = "email-send-email-to-self";
  const plain = await runAction(key, mail);
  assert.deepEqual(plain.mails, [mail]);
  const rich = await runAction(key, { ...mail, html: "<b>T</b>" });
  assert.deepEqual(rich.mails, [{ ...mail, html: "<b>T</b>" }]);
  const alone = await runAction(key, { subject: "S", html: "<b>T</b>" });
  assert.deepEqual(alone.mails, [{ subject: "S", text: "", html: "<b>T</b>" }]);
  const object = { bucket: "b", prefix: "p/", payload: { a: 1 } };
  const stored = await runAction("pipedream_utils-send-to-s3", object);
  assert.deepEqual(stored.objects, [object]);
  const called = await runAction("pipedream_utils-trigger-workflow", {
    workflowId: "p_1",
  });
  assert.deepEqual(called.triggered, [{ workflow: "p_1", event: {} }]);
  assert.equal(called.returned, "triggered");
});

Deno.test("values that cannot be used are refused by name", async () => {
  for (
    const [key, props, message] of [
      ["pipedream_utils-compare-arrays", { actionType: "sum" }, /`actionType` must be/],
      [
        "pipedream_utils-export-variables",
        { config: "a" },
        /`config` must be an object/,
      ],
      [
        "pipedream_utils-get-iso-string-n-days-ago",
        { days: "x" },
        /`days` must be a number/,
      ],
      ["email-send-email-to-self", { text: "T" }, /`subject` has no value/],
    ] as const
  ) {
    const error = await failureOf(key, props);
    assert.equal(error.name, "ConfigurationError");
    assert.match(error.message, message);
  }
});
