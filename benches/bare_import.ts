/**
 * A component's own work: what evaluating its module costs in a process of its own that has
 * loaded Node's built-ins before, as a warm worker has.
 *
 * Argument: the module. Prints the milliseconds. Not responsible for calling the component.
 */

await Promise.all([
  "node:assert",
  "node:crypto",
  "node:dns",
  "node:events",
  "node:fs",
  "node:http",
  "node:http2",
  "node:https",
  "node:module",
  "node:net",
  "node:os",
  "node:path",
  "node:stream",
  "node:tls",
  "node:tty",
  "node:url",
  "node:util",
  "node:zlib",
].map((name) => import(name)));

const begun = performance.now();
await import(`file://${Deno.args[0]}`);
console.log(`took ${performance.now() - begun}`);
Deno.exit(0);
