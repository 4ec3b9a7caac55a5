import fs from "node:fs";

export default {
  name: "Shared /tmp",
  version: "0.0.1",
  run: () => fs.readdirSync("/tmp"),
};
