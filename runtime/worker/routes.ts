/**
 * Host names whose requests are routed to another address.
 *
 * A route leads to a Unix socket of this machine, where the node's own API answers in
 * plain HTTP, or to an address, where everything else is as if the name had resolved to
 * it: TLS names and `Host` stay. Responsible for the type of a route and the lookup by
 * host. Not responsible for routing connections (`routed_*.ts`), nor for permission to
 * reach an address, which the sandbox decides.
 */

import { routeFetch } from "./routed_fetch.ts";
import { routeRequests } from "./routed_requests.ts";
import { routeSockets } from "./routed_sockets.ts";

export interface SocketRoute {
  host: string;
  socket: string;
}

export interface AddressRoute {
  host: string;
  address: string;
  /** The port in place of the caller's; without it, the caller's. */
  port?: number;
}

export type Route = SocketRoute | AddressRoute;

/** In place of a host: every host without a route of its own. */
const EVERY_HOST = "*";

/** The routes of one kind, by host name. */
export class RouteTable<Kind extends Route = Route> {
  #byHost: Map<string, Kind>;

  constructor(routes: Kind[]) {
    this.#byHost = new Map(routes.map((route) => [normalized(route.host), route]));
  }

  of(host: unknown): Kind | undefined {
    if (typeof host !== "string" || host === "") return undefined;
    return this.#byHost.get(normalized(host)) ?? this.#byHost.get(EVERY_HOST);
  }

  get isEmpty(): boolean {
    return this.#byHost.size === 0;
  }
}

export function installRoutes(routes: Route[]): void {
  if (routes.length === 0) return;
  routeSockets(new RouteTable(routes.filter((route) => "address" in route)));
  routeRequests(new RouteTable(routes.filter((route) => "socket" in route)));
  // Last: it sends some of its requests through the functions replaced above.
  routeFetch(new RouteTable(routes));
}

function normalized(host: string): string {
  return host.toLowerCase();
}
