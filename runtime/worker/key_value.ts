/**
 * The component's key-value map, as this worker holds it.
 *
 * Values are kept as JSON text: a read returns a copy, and later changes of it have no
 * effect here. All keys and values together have a bound, which the host
 * holds again when it commits. Not responsible for durability; every change is numbered
 * so that the host can apply them in order.
 */

import {
  byteLength,
  finalize,
  jsonParse,
  jsonStringify,
  objectKeys,
  OwnMap,
  stringSlice,
} from "./intrinsics.ts";

export class KeyValueMap {
  #values = new OwnMap<string, string>();
  #bytes = 0;
  #limitBytes = Infinity;
  #seq = 0;

  /** Replaces the map with the host's, even if that is beyond the bound. */
  load(values: Record<string, unknown>, limitBytes = Infinity): void {
    this.#values.clear();
    this.#bytes = 0;
    this.#limitBytes = limitBytes;
    for (const key of objectKeys(values)) {
      const json = jsonStringify(values[key]);
      this.#values.set(key, json);
      this.#bytes += sizeOf(key, json);
    }
  }

  get(key: string): unknown {
    const json = this.#values.get(key);
    return json === undefined ? undefined : jsonParse(json);
  }

  /**
   * Stores the value, or deletes the key without one; returns the change's number. A
   * map that is beyond the bound may shrink.
   */
  set(key: string, json: string | undefined): number {
    const former = this.#values.get(key);
    const before = former === undefined ? 0 : sizeOf(key, former);
    const after = json === undefined ? 0 : sizeOf(key, json);
    const bytes = this.#bytes - before + after;
    if (after > before && bytes > this.#limitBytes) {
      throw new RangeError(
        `db.set: with "${
          shown(key)
        }", the keys and values of the source would take ${bytes} ` +
          `bytes; the limit is ${this.#limitBytes}: delete some, or keep them in a data store`,
      );
    }
    this.#bytes = bytes;
    if (json === undefined) this.#values.delete(key);
    else this.#values.set(key, json);
    return ++this.#seq;
  }
}

function sizeOf(key: string, json: string): number {
  return byteLength(key) + byteLength(json);
}

function shown(key: string): string {
  return key.length > 100 ? `${stringSlice(key, 0, 100)}…` : key;
}

finalize(KeyValueMap);
