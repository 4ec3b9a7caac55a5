/**
 * Positions in the scripts of components, as their authors wrote them.
 *
 * Deno translates those of modules by itself. Responsible for frames in stacks only; the
 * names of functions stay.
 */

import { SourceMap } from "node:module";
import { Address, jsonParse, OwnMap, readTextFile } from "./intrinsics.ts";

/** By the URL of a script: its frames' form, and its map once it was needed. */
const scripts = new OwnMap<string, Script>();

interface Script {
  frame: RegExp;
  map?: SourceMap | undefined;
  isRead: boolean;
}

/** From now on positions in the script with this URL are translated, if a map is beside it. */
export function translatePositions(url: string): void {
  scripts.set(url, {
    frame: new RegExp(`${RegExp.escape(url)}:(\\d+):(\\d+)`, "g"),
    isRead: false,
  });
}

/** The text with the files, lines and columns that were written. */
export function withWrittenPositions(text: string): string {
  for (const [url, script] of scripts) {
    if (!text.includes(url)) continue;
    readMap(url, script);
    text = text.replace(
      script.frame,
      (frame, line, column) => written(url, script.map, +line, +column) ?? frame,
    );
  }
  return text;
}

function readMap(url: string, script: Script): void {
  if (script.isRead) return;
  script.isRead = true;
  try {
    script.map = new SourceMap(jsonParse(readTextFile(new Address(`${url}.map`))));
  } catch {
    // Nothing was bundled: the script is as it was written.
  }
}

function written(
  url: string,
  map: SourceMap | undefined,
  line: number,
  column: number,
): string | undefined {
  const entry = map?.findEntry(line - 1, column - 1);
  if (entry === undefined || !("originalSource" in entry)) return undefined;
  const { originalSource, originalLine, originalColumn } = entry;
  const source = new Address(originalSource, url).href;
  return `${source}:${originalLine + 1}:${originalColumn + 1}`;
}
