import fs from "node:fs";
import { word } from "./linked/index.mjs";

export default {
  name: "Files",
  version: "0.0.1",
  run() {
    fs.writeFileSync("/tmp/kept.txt", word);
    return fs.readFileSync("/tmp/kept.txt", "utf8");
  },
};
