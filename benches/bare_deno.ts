/**
 * The reference for `customResponse`: Deno's own server doing the same JSON work.
 *
 * Prints its address, then serves until it is killed. Not responsible for anything that a
 * platform adds: no sandbox, no isolation, no attribution.
 */

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ hostname, port }) => console.log(`ready on ${hostname}:${port}`),
}, async (request) => {
  const body = await request.json();
  return Response.json({ hello: body.name, n: body.n + 1 });
});
