/**
 * `this.<prop>` of a `data_store` prop: a key-value store that others share.
 *
 * Responsible for the methods that components call and for reading long listings in
 * pages. Not responsible for the records: every call is a request to the host, and a
 * write is durable when its promise resolves.
 */

import type { Invocation } from "./invocation.ts";
import { toJson } from "./json.ts";
import type { StoreOperation, StoreRequest } from "./protocol.ts";

/** The host's limit; a larger value would end the run instead of failing the call. */
const MAX_VALUE_BYTES = 1024 * 1024;

type Entry = [key: string, value: unknown];
type Ask = (request: Omit<StoreRequest, "store">) => Promise<unknown>;

interface Page<Item> {
  items: Item[];
  after?: string;
}

export function createDataStore(name: string, invocation: Invocation): object {
  // The error is created here so that its stack leads to the caller.
  const ask: Ask = async (request) => {
    const answer = await invocation.askStore({ store: name, ...request });
    if (answer.error === undefined) return answer.value;
    throw new Error(`data store "${name}": ${answer.error}`);
  };
  return {
    get: async (key: unknown, fallback?: unknown) => {
      const value = await ask({ op: "get", key: keyOf(key) });
      return value === undefined ? fallback : value;
    },
    has: async (key: unknown) => await ask({ op: "has", key: keyOf(key) }),
    set: async (key: unknown, value: unknown, options?: unknown) => {
      const record = { key: keyOf(key), value: valueJson(name, key, value) };
      const { ttl } = Object(options ?? {});
      await ask({ op: "set", ...record, ttl: secondsOf(ttl) });
    },
    setTtl: async (key: unknown, ttl: unknown) =>
      await ask({ op: "set_ttl", key: keyOf(key), ttl: secondsOf(ttl) }),
    delete: async (key: unknown) => await ask({ op: "delete", key: keyOf(key) }),
    clear: async () => void await ask({ op: "clear" }),
    size: async () => await ask({ op: "size" }),
    keys: () => new Listing(() => pages<string>(ask, "keys")),
    entries: () => new Listing(() => pages<Entry>(ask, "entries")),
    values: () => new Listing(() => valuesOf(pages<Entry>(ask, "entries"))),
    [Symbol.asyncIterator]: () => pages<Entry>(ask, "entries"),
  };
}

/** A promise of all items that can also be iterated, which reads page by page. */
class Listing<Item> implements PromiseLike<Item[]> {
  #read: () => AsyncGenerator<Item>;

  constructor(read: () => AsyncGenerator<Item>) {
    this.#read = read;
  }

  then(...callbacks: any[]): Promise<any> {
    return this.#all().then(...callbacks);
  }

  catch(onRejected: (reason: unknown) => unknown): Promise<unknown> {
    return this.#all().catch(onRejected);
  }

  finally(onFinally: () => void): Promise<unknown> {
    return this.#all().finally(onFinally);
  }

  [Symbol.asyncIterator](): AsyncGenerator<Item> {
    return this.#read();
  }

  async #all(): Promise<Item[]> {
    const items: Item[] = [];
    for await (const item of this.#read()) items.push(item);
    return items;
  }
}

async function* pages<Item>(ask: Ask, op: StoreOperation): AsyncGenerator<Item> {
  let after: string | undefined;
  do {
    const page = await ask({ op, key: after }) as Page<Item>;
    yield* page.items;
    after = page.after;
  } while (after !== undefined);
}

async function* valuesOf(entries: AsyncGenerator<Entry>): AsyncGenerator<unknown> {
  for await (const [, value] of entries) yield value;
}

function keyOf(key: unknown): string {
  if (typeof key === "string") return key;
  if (typeof key === "number" || typeof key === "bigint") return String(key);
  throw new TypeError(`a data store's key must be a string, not ${typeof key}`);
}

/** A value without JSON, like `undefined`, is stored as null, so that the key exists. */
function valueJson(store: string, key: unknown, value: unknown): string {
  const json = toJson(value, `data store "${store}": the value of "${key}"`) ?? "null";
  if (json.length <= MAX_VALUE_BYTES) return json;
  throw new RangeError(
    `data store "${store}": the value of "${key}" is ${json.length} bytes; ` +
      `a record may have at most ${MAX_VALUE_BYTES}`,
  );
}

/** Nothing and 0 mean that the record never expires. */
function secondsOf(ttl: unknown): number | undefined {
  if (ttl === undefined || ttl === null) return undefined;
  const seconds = Number(ttl);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds || undefined;
  throw new TypeError(`a data store's ttl must be a number of seconds, not ${ttl}`);
}
