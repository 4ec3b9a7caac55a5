// Everything here is to be refused; the answer is how.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import net from "node:net";
import path from "node:path";

const outcome = async (attempt) => {
  try {
    return { got: String(await attempt()).slice(0, 200) };
  } catch (error) {
    return { refused: `${error?.name} ${error?.code ?? error?.cause?.code ?? ""} ${error?.message}` };
  }
};

const socket = (host, port) =>
  new Promise((resolve, reject) => {
    const connection = net.connect({ host, port }, () => resolve("connected"));
    connection.on("error", reject);
  });

const request = (host, port) =>
  new Promise((resolve, reject) => {
    http.get({ host, port, path: "/" }, (response) => resolve(response.statusCode)).on("error", reject);
  });

const deeds = {
  files: () => [
    () => fs.readFileSync("/etc/passwd", "utf8"),
    () => fs.readFileSync("../../../../../../../../etc/passwd", "utf8"),
    () => fs.readFileSync("/proc/self/environ", "utf8"),
    () => Deno.readTextFileSync("/proc/self/mem"),
    () => fs.readdirSync(path.resolve("../..")).join(),
    () => fs.writeFileSync("component.mjs", "changed"),
    () => fs.symlinkSync("/etc/passwd", "leak"),
    () => import("file:///etc/hostname", { with: { type: "json" } }),
  ],
  processes: () => [
    () => new Deno.Command("/bin/true").outputSync().code,
    () => {
      const { error, status } = spawnSync("/bin/true");
      if (status !== 0) throw error ?? new Error("nothing was started");
      return status;
    },
    () => Deno.dlopen("libc.so.6", {}),
    () => Deno.networkInterfaces().length,
  ],
  network: ({ port }) => {
    const hosts = ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433", "[::ffff:a9fe:a9fe]"];
    const bare = hosts.map((host) => host.replace(/[[\]]/g, ""));
    return [
      ...hosts.map((host) => () => fetch(`http://${host}:${port}/`).then((response) => response.status)),
      ...bare.map((host) => () => socket(host, port)),
      ...bare.map((host) => () => request(host, port)),
      () => Deno.connect({ hostname: "fd00::1", port }),
      () => Deno.connect({ transport: "unix", path: "/var/run/docker.sock" }),
    ];
  },
};

export default {
  name: "Escape",
  version: "0.0.1",
  run(event) {
    return Promise.all(deeds[event.deed](event).map(outcome));
  },
};
