/**
 * Requests of `node:http` and `node:https` to hosts routed to a socket of this machine.
 *
 * HTTP clients use the two functions through the module object, where they are replaced.
 * They send plain HTTP with the original `Host` header.
 */

import http from "node:http";
import https from "node:https";
import { urlToHttpOptions } from "node:url";
import { CALL_HEADER } from "./invocation.ts";
import type { RouteTable, SocketRoute } from "./routes.ts";
import { currentInvocation } from "./scope.ts";

type RequestOptions = Record<string, unknown>;
type RequestFunction = (this: unknown, ...args: unknown[]) => http.ClientRequest;

export function routeRequests(routes: RouteTable<SocketRoute>): void {
  if (routes.isEmpty) return;
  const plainRequest = http.request as unknown as RequestFunction;
  const modules = [[https, 443], [http, 80]] as const;
  for (const [module, defaultPort] of modules) {
    const functions = module as unknown as Record<string, unknown>;
    replaceRequest(functions, defaultPort, plainRequest, routes);
  }
}

function replaceRequest(
  module: Record<string, unknown>,
  defaultPort: number,
  plainRequest: RequestFunction,
  routes: RouteTable<SocketRoute>,
): void {
  const native = module.request as RequestFunction;
  const request: RequestFunction = function (...args) {
    const { options, callback } = readArguments(args);
    const route = routes.of(hostOf(options));
    if (route === undefined) return native.apply(this, args);
    const started = plainRequest(
      overSocket(options, defaultPort, route.socket),
      callback,
    );
    const call = currentInvocation()?.call;
    if (call !== undefined && !started.headersSent) {
      started.setHeader(CALL_HEADER, call);
    }
    return started;
  };
  module.request = request;
  module.get = function get(this: unknown, ...args: unknown[]) {
    const started = request.apply(this, args);
    started.end();
    return started;
  };
}

/** `request` takes a URL, options or both, and then a callback. */
function readArguments(
  args: unknown[],
): { options: RequestOptions; callback: unknown } {
  const rest = [...args];
  const target = rest.shift();
  const url = typeof target === "string" ? new URL(target) : target;
  if (!(url instanceof URL)) {
    return { options: { ...(url as object) }, callback: rest[0] };
  }
  const given = typeof rest[0] === "function" ? {} : rest.shift();
  const options = { ...urlToHttpOptions(url), ...(given as object | undefined) };
  return { options, callback: rest[0] };
}

function hostOf({ hostname, host }: RequestOptions): string {
  return String(hostname ?? host ?? "").replace(/:\d+$/, "");
}

function overSocket(
  options: RequestOptions,
  defaultPort: number,
  socketPath: string,
): RequestOptions {
  // Options for the original connection do not apply to this one.
  const { agent: _a, agents: _b, createConnection: _c, lookup: _d, ...kept } = options;
  return { ...kept, protocol: "http:", defaultPort, socketPath };
}
