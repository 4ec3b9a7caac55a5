/** Code of a component that records the values which the runtime passes to built-ins. */

import { TOKEN } from "./spawned_worker.ts";

/**
 * Replaces every method and accessor of the intrinsics that lie between a frame and its
 * bytes. `seen` lists those that were passed the token or an object of the runtime.
 */
export const SPIES = `
  const { apply, ownKeys, getOwnPropertyDescriptor, defineProperty, getPrototypeOf } = Reflect;
  const Typed = getPrototypeOf(Uint8Array.prototype), Native = Uint8Array, Texts = String;
  const getter = (owner, name) => { const { get } = getOwnPropertyDescriptor(owner, name); return (self) => apply(get, self, []); };
  const bufferOf = getter(Typed, "buffer"), sizeOf = getter(ArrayBuffer.prototype, "byteLength"), includes = Texts.prototype.includes;
  const isBuffer = (value) => { try { sizeOf(value); return true; } catch { return false; } };
  const token = "${TOKEN}", bytes = [];
  for (let i = 0; i < token.length; i += 2) bytes[i / 2] = parseInt(token.slice(i, i + 2), 16);
  const holdsToken = (memory) => {
    const view = new Native(memory), end = sizeOf(memory) - 16;
    for (let at = 0; at <= end; at++) {
      let same = 0;
      while (same < 16 && view[at + same] === bytes[same]) same++;
      if (same === 16) return true;
    }
    const hex = 32;
    for (let at = 0; at <= end + 16 - hex; at++) {
      let same = 0;
      while (same < hex && view[at + same] === token.codePointAt(same)) same++;
      if (same === hex) return true;
    }
    return false;
  };
  const seen = {}; let isOff = true, isLooking = false, calls = 0;
  const isOurs = (value) => { try { return "failLater" in value || "writeNow" in value || "dataStore" in value && "exited" in value; } catch { return false; } };
  const look = (where, value) => {
    if (isOff || isLooking) return;
    isLooking = true;
    calls++;
    try {
      if (typeof value === "string") { if (apply(includes, value, [token])) seen[where] = "hex"; return; }
      if (typeof value !== "object" || value === null) return;
      if (isOurs(value)) seen[where] = "runtime";
      let memory;
      try { memory = bufferOf(value); } catch { if (isBuffer(value)) memory = value; }
      if (memory !== undefined && holdsToken(memory)) seen[where] = "bytes";
    } finally { isLooking = false; }
  };
  const watched = (where, native) => function (...args) {
    look(where, this);
    for (let i = 0; i < args.length; i++) look(where, args[i]);
    const value = apply(native, this, args);
    look(where, value);
    return value;
  };
  const spyOn = (name, owner) => {
    for (const key of ownKeys(owner)) {
      const descriptor = getOwnPropertyDescriptor(owner, key);
      if (key === "constructor" || !descriptor.configurable && !descriptor.writable) continue;
      // A class has more than being called.
      if (name === "global" && !/^[a-z]/.test(Texts(key))) continue;
      const where = name + "." + Texts(key);
      for (const kind of ["get", "set", "value"]) {
        if (typeof descriptor[kind] === "function") descriptor[kind] = watched(where, descriptor[kind]);
      }
      try { defineProperty(owner, key, descriptor); } catch {}
    }
  };
  const iteratorOf = (value) => getPrototypeOf(value[Symbol.iterator]());
  const intrinsics = { Typed, Bytes: Uint8Array.prototype, Memory: ArrayBuffer.prototype, DataView: DataView.prototype, JSON,
    TextEncoder: TextEncoder.prototype, TextDecoder: TextDecoder.prototype, Promise: Promise.prototype, PromiseClass: Promise,
    Array: Array.prototype, Map: Map.prototype, Set: Set.prototype, WeakMap: WeakMap.prototype, String: Texts.prototype,
    RegExp: RegExp.prototype, Function: Function.prototype, Object, Reflect, ArrayIterator: iteratorOf([]), MapIterator: iteratorOf(new Map()),
    Encoded: Uint8Array, global: globalThis };
`;
