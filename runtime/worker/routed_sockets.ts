/**
 * Connections to hosts routed to another address.
 *
 * Every connection of Node, whether plain, TLS, HTTP or HTTP/2, ends in
 * `Socket.prototype.connect`, when the name for TLS is already set. Not responsible
 * for `fetch`, which opens its connections outside of JavaScript.
 */

import net from "node:net";
import type { AddressRoute, RouteTable } from "./routes.ts";

type Connect = (this: net.Socket, ...args: unknown[]) => net.Socket;
/** Options and callback, as Node's own functions pass them on. */
type Normalized = [options: Record<string, unknown>, callback: unknown];

const { _normalizeArgs: normalize } = net as unknown as {
  _normalizeArgs(args: unknown[]): Normalized;
};

export function routeSockets(routes: RouteTable<AddressRoute>): void {
  if (routes.isEmpty) return;
  const prototype = net.Socket.prototype as unknown as { connect: Connect };
  const native = prototype.connect;
  prototype.connect = function connect(...args) {
    const [first] = args;
    const normalized = Array.isArray(first) ? first as Normalized : normalize(args);
    const [options] = normalized;
    const route = routes.of(options.host);
    if (route !== undefined) {
      const port = route.port ?? options.port;
      normalized[0] = { ...options, host: route.address, port };
    }
    return native.call(this, normalized);
  };
}
