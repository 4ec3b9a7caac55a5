/**
 * `fetch` with the `user-agent` of Node, `node`.
 *
 * Some APIs refuse unknown agents. Not responsible for routing requests
 * (`routed_fetch.ts`).
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
