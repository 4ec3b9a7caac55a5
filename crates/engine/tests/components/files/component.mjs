import fs from "node:fs";
import { word } from "./node_modules/word/index.mjs";

export default {
  name: "Files",
  version: "0.0.1",
  run() {
    fs.writeFileSync("/tmp/kept.txt", word);
    return fs.readFileSync("/tmp/kept.txt", "utf8");
  },
};
