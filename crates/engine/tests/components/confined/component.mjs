// Asks for what belongs to the machine or to other sources; tells what came of it.
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import process from "node:process";

const outcome = async (attempt) => {
  try {
    return { got: String(await attempt()) };
  } catch (error) {
    return { refused: `${error?.name} ${error?.message}` };
  }
};

const connected = (path) =>
  new Promise((resolve, reject) => {
    const socket = net.connect(path, () => resolve("connected"));
    socket.on("error", reject);
  });

const listening = (path) =>
  new Promise((resolve, reject) => {
    const server = net.createServer().listen(path, () => resolve("listening"));
    server.on("error", reject);
  });

// What a web worker says, whose global object nobody has prepared.
const inWebWorker = (expression) =>
  new Promise((resolve, reject) => {
    const code = `try { postMessage({ got: String(${expression}) }); } catch (error) { postMessage({ refused: String(error) }); }`;
    const worker = new Worker(`data:text/javascript,${encodeURIComponent(code)}`, { type: "module" });
    worker.onmessage = ({ data }) => data.refused ? reject(new Error(data.refused)) : resolve(data.got);
    worker.onerror = (event) => reject(new Error(event.message));
  });

const caught = async (text) => {
  const cache = await caches.open("shared");
  const address = "https://example.com/";
  if (text) await cache.put(address, new Response(text));
  return await (await cache.match(address)).text();
};

const deeds = {
  connect: ({ name }) => [
    () => connected(`\0${name}`),
    () => Deno.connect({ transport: "unix", path: `\0${name}` }).then(() => "connected"),
  ],
  listen: ({ name }) => [
    () => listening(`\0${name}`),
    () => Deno.listen({ transport: "unix", path: `\0${name}-2` }).addr.path,
  ],
  keep: ({ text }) => [
    () => localStorage.setItem("k", text),
    () => caught(text),
    () => inWebWorker(`localStorage.setItem("k", ${JSON.stringify(text)})`),
  ],
  find: () => [
    () => localStorage.getItem("k"),
    () => caught(),
    () => inWebWorker('localStorage.getItem("k")'),
  ],
  graphics: () => [
    async () => (await navigator.gpu.requestAdapter()).info.description,
    () => inWebWorker("(await navigator.gpu.requestAdapter()).info.description"),
  ],
  paths: () => [
    () => os.tmpdir(),
    () => fs.realpathSync(os.tmpdir()),
    () => process.cwd(),
    () => import.meta.url,
    () => fs.mkdtempSync("/tmp/a-"),
    () => {
      fs.writeFileSync("/tmp/there", "1");
      return fs.readdirSync(os.tmpdir()).includes("there");
    },
  ],
  identity: () => [
    () => Deno.uid(),
    () => process.memoryUsage().rss > 0,
    () => os.cpus().length > 0,
    () => new Date(0).getTimezoneOffset(),
  ],
};

export default {
  name: "Confined",
  version: "0.0.1",
  run(event) {
    return Promise.all(deeds[event.deed](event).map(outcome));
  },
};
