/**
 * The component's key-value map, as this worker holds it.
 *
 * Values are kept as JSON text: whoever gets one gets a copy, and changing it later
 * changes nothing here. Not responsible for durability; every change is numbered so
 * that the host can apply them in order.
 */

import { jsonParse, jsonStringify } from "./intrinsics.ts";

export class KeyValueMap {
  #values = new Map<string, string>();
  #seq = 0;

  /** Replaces everything with what the host has stored. */
  load(values: Record<string, unknown>): void {
    this.#values.clear();
    for (const key of Object.keys(values)) {
      this.#values.set(key, jsonStringify(values[key]));
    }
  }

  get(key: string): unknown {
    const json = this.#values.get(key);
    return json === undefined ? undefined : jsonParse(json);
  }

  /** Stores the value, or deletes the key without one; returns the change's number. */
  set(key: string, json: string | undefined): number {
    if (json === undefined) this.#values.delete(key);
    else this.#values.set(key, json);
    return ++this.#seq;
  }
}
