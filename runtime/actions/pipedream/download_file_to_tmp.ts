/**
 * `pipedream_utils-download-file-to-tmp`: a file of the web in the run's `/tmp`.
 *
 * Not responsible for how long `/tmp` is kept.
 */

import { createWriteStream, mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { configurationError } from "../configuration_error.ts";
import { send } from "../http_client.ts";
import { textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";

const FOLDER = "/tmp";

interface Props {
  url: unknown;
  filename: unknown;
}

export default {
  key: "pipedream_utils-download-file-to-tmp",
  name: "Download File To /tmp",
  version: "0.0.2",
  type: "action",
  description: "Download a file into `/tmp`, where later steps find it.",
  props: {
    url: {
      type: "string",
      label: "URL",
      description: "The URL of the file.",
    },
    filename: {
      type: "string",
      label: "File name",
      description: "The name that the file gets in `/tmp`.",
    },
    syncDir: { type: "dir", accessMode: "write", sync: true, optional: true },
  },
  async run(this: Props, { $ }: StepArguments) {
    const name = textOf("filename", this.filename);
    const path = pathOf(name);
    const response = await send({ url: textOf("url", this.url) });
    mkdirSync(dirname(path), { recursive: true });
    const body = response.body ?? new Blob([]).stream();
    await pipeline(Readable.fromWeb(body as any), createWriteStream(path));
    $.export("$summary", `Downloaded the file to ${path}`);
    return [name, path];
  },
};

function pathOf(name: string): string {
  const path = resolve(FOLDER, `./${name}`);
  if (path.startsWith(`${FOLDER}/`)) return path;
  throw configurationError(
    `\`filename\` must be a name within ${FOLDER}, not \`${name}\``,
  );
}
