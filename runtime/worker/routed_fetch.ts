/**
 * `fetch` to hosts that have a route.
 *
 * Deno's own `fetch` accepts a socket. It does not accept an address without losing the
 * name for TLS, so that such a request goes through Node's functions instead, whose
 * connections are routed. Other hosts are reached through Deno's own.
 */

import { fetchOverNode } from "./fetch_over_node.ts";
import { CALL_HEADER } from "./invocation.ts";
import type { Route, RouteTable, SocketRoute } from "./routes.ts";
import { currentInvocation } from "./scope.ts";

export function routeFetch(routes: RouteTable<Route>): void {
  if (routes.isEmpty) return;
  const native = globalThis.fetch;
  const clients = new Map<string, Deno.HttpClient>();
  const clientOf = ({ socket: path }: SocketRoute): Deno.HttpClient => {
    let client = clients.get(path);
    if (client === undefined) {
      client = Deno.createHttpClient({ proxy: { transport: "unix", path } });
      clients.set(path, client);
    }
    return client;
  };
  globalThis.fetch = function fetch(input, init) {
    const route = routes.of(hostOf(input));
    if (route === undefined) return native(input, init);
    if (!("socket" in route)) return overNode(input, init);
    const client = clientOf(route);
    const call = currentInvocation()?.call;
    if (call === undefined) return native(input, { ...init, client });
    const request = new Request(input, init);
    request.headers.set(CALL_HEADER, call);
    return native(request, { client });
  };
}

async function overNode(
  input: RequestInfo | URL,
  init: RequestInit | undefined,
): Promise<Response> {
  return await fetchOverNode(new Request(input, init));
}

function hostOf(input: RequestInfo | URL): string | undefined {
  const url = input instanceof Request ? input.url : String(input);
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}
