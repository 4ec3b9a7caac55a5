/**
 * The remaining log budget of one run.
 *
 * Counts UTF-8 bytes, cuts the line that crosses the limit at a character and adds one
 * notice about it. Not responsible for sending the lines.
 */

import { Bytes, encodeInto, encodeUtf8 } from "./intrinsics.ts";
import type { LogLevel } from "./protocol.ts";

export interface LogLine {
  level: LogLevel;
  text: string;
}

export class LogBudget {
  #limitBytes: number;
  #leftBytes: number;
  #isExhausted = false;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
    this.#leftBytes = limitBytes;
  }

  /** The lines to send for this one: itself, or its beginning and a last notice. */
  admit(level: LogLevel, text: string): LogLine[] {
    if (this.#isExhausted) return [];
    const left = this.#leftBytes;
    // A text has at least as many bytes as characters: no need to encode a huge one.
    const bytes = text.length > left ? Infinity : encodeUtf8(text).length;
    if (bytes <= left) {
      this.#leftBytes = left - bytes;
      return [{ level, text }];
    }
    this.#isExhausted = true;
    const notice =
      `logs truncated: the run's limit of ${this.#limitBytes} bytes is used up`;
    const kept = beginning(text, left);
    const lines: LogLine[] = [{ level: "warn", text: notice }];
    return kept === "" ? lines : [{ level, text: kept }, ...lines];
  }
}

function beginning(text: string, bytes: number): string {
  return text.slice(0, encodeInto(text, new Bytes(Math.max(bytes, 0))).read);
}
