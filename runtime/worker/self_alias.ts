/**
 * Host names that mean this very node.
 *
 * Components that call the public API of the platform they were written for reach the
 * node's own API instead, over a socket on the same machine: plain HTTP with the Host
 * header they meant. Covers `fetch` and the request functions of `node:http` and
 * `node:https`, which HTTP clients use through the module object. Not responsible for
 * authentication.
 */

import http from "node:http";
import https from "node:https";
import { urlToHttpOptions } from "node:url";

type RequestOptions = Record<string, unknown>;
type RequestFunction = (this: unknown, ...args: unknown[]) => http.ClientRequest;

interface Alias {
  hosts: Set<string>;
  socket: string;
}

export function installSelfAlias(hosts: string[], socket: string | null | undefined) {
  if (hosts.length === 0 || !socket) return;
  const alias = { hosts: new Set(hosts.map((host) => host.toLowerCase())), socket };
  const plainRequest = http.request as unknown as RequestFunction;
  aliasFetch(alias);
  aliasModule(https as unknown as Record<string, unknown>, 443, plainRequest, alias);
  aliasModule(http as unknown as Record<string, unknown>, 80, plainRequest, alias);
}

function aliasFetch({ hosts, socket }: Alias): void {
  const native = globalThis.fetch;
  const client = Deno.createHttpClient({ proxy: { transport: "unix", path: socket } });
  globalThis.fetch = function fetch(input, init) {
    const url = input instanceof Request ? input.url : String(input);
    const isAliased = URL.canParse(url) && hosts.has(new URL(url).hostname);
    return native(input, isAliased ? { ...init, client } : init);
  };
}

function aliasModule(
  module: Record<string, unknown>,
  defaultPort: number,
  plainRequest: RequestFunction,
  alias: Alias,
): void {
  const native = module.request as RequestFunction;
  const request: RequestFunction = function (...args) {
    const { options, callback } = readArguments(args);
    if (!alias.hosts.has(hostOf(options))) return native.apply(this, args);
    return plainRequest(overSocket(options, defaultPort, alias.socket), callback);
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
  return String(hostname ?? host ?? "").replace(/:\d+$/, "").toLowerCase();
}

function overSocket(
  options: RequestOptions,
  defaultPort: number,
  socketPath: string,
): RequestOptions {
  // What belongs to the connection the caller had in mind does not fit this one.
  const { agent: _a, agents: _b, createConnection: _c, lookup: _d, ...kept } = options;
  return { ...kept, protocol: "http:", defaultPort, socketPath };
}
