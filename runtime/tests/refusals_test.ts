/** Refusals of the sandbox as authors of components read them. */

import assert from "node:assert/strict";
import { withoutAdvice } from "../worker/refusals.ts";

Deno.test("a refused address is told in words that hold beside allowed ranges, too", () => {
  const told = withoutAdvice(
    'Requires net access to "10.0.0.1:80", run again with the --allow-net flag',
  );
  assert.equal(
    told,
    'Requires net access to "10.0.0.1:80", which is refused: it is a private address that the node ' +
      "does not allow; its --allow-private-network can name its range",
  );
});
