/**
 * `fetch` as servers know it from Node: its `user-agent` is `node`.
 *
 * Some APIs refuse agents that they do not know. Not responsible for where a request
 * goes (`routed_fetch.ts`).
 */

import { inOurWords } from "./refusals.ts";

export const USER_AGENT = "node";

export function installNodeFetch(): void {
  const native = globalThis.fetch;
  globalThis.fetch = async function fetch(input, init) {
    const given = init?.headers ??
      (input instanceof Request ? input.headers : undefined);
    const headers = new Headers(given);
    if (!headers.has("user-agent")) headers.set("user-agent", USER_AGENT);
    try {
      return await native(input, { ...init, headers });
    } catch (thrown) {
      throw inOurWords(thrown);
    }
  };
}
