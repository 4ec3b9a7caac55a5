/** The paths that are mapped to a component's own temporary folder. */

import assert from "node:assert/strict";
import { mapped } from "../worker/tmp_paths.ts";

const map = (path: unknown) => mapped(path, "/tmp/w/tmp", ["/tmp/w/code/"]);

Deno.test("paths under /tmp move, others stay", () => {
  assert.equal(map("/tmp"), "/tmp/w/tmp");
  assert.equal(map("/tmp/a/b"), "/tmp/w/tmp/a/b");
  assert.equal(map(new URL("file:///tmp/a%20b")), "/tmp/w/tmp/a b");
  for (const path of ["/tmpfile", "/etc/tmp/x", "tmp/x", "", 3, undefined]) {
    assert.equal(map(path), path);
  }
});

Deno.test("paths already in the worker's folders stay", () => {
  for (const path of ["/tmp/w/tmp", "/tmp/w/tmp/x", "/tmp/w/code/data.json"]) {
    assert.equal(map(path), path);
  }
});
