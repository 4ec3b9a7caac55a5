/** Prints every message of the stream at the URL given: its type and what was emitted. Judges nothing. */

import { EventSource } from "npm:eventsource@5.1.5";

const [url] = Deno.args;
const stream = new EventSource(`${url}?last_event_id=0-0`, {
  fetch: (input, init) =>
    fetch(input, {
      ...init,
      headers: { ...init.headers, Authorization: `Bearer ${Deno.env.get("API_KEY")}` },
    }),
});
const print = ({ type, data }: MessageEvent) => console.log(type, JSON.parse(data).event);
stream.onmessage = print;
stream.addEventListener("news", print);
// The library's timer for coming again does not keep a process alive.
setInterval(() => {}, 60_000);
