/**
 * Frames from the worker to the host: one method each.
 *
 * Frames are joined from strings rather than stringified from objects, because a
 * component that defines `Object.prototype.toJSON` must not be able to change them.
 *
 * A run's effects (emit, kv, log) are written at once, so that they survive a run killed
 * in an endless loop; its outcome may wait for the end of the turn.
 */

import type { FrameWriter } from "./frame_writer.ts";
import { finalize, objectKeys, stringSlice } from "./intrinsics.ts";
import { quote } from "./json.ts";
import type {
  EmitOptions,
  HttpResponse,
  LogLevel,
  StoreRequest,
  WireError,
} from "./protocol.ts";
import { PROTOCOL_VERSION } from "./protocol.ts";

/** A write of run `id` to its component's key-value map. */
export interface KeyValueChange {
  id: number;
  component: number;
  seq: number;
  key: string;
  /** As JSON text; without it, the key is deleted. */
  value: string | undefined;
}

export type Outcome = { value: string | undefined } | { error: WireError };

export class Outbox {
  #writer: FrameWriter;

  constructor(writer: FrameWriter) {
    this.#writer = writer;
  }

  ready(): void {
    this.#writer.writeNow(`{"type":"ready","version":${PROTOCOL_VERSION}}`);
  }

  loaded(component: number): void {
    this.#writer.writeNow(`{"type":"loaded","component":${component}}`);
  }

  loadFailed(component: number, error: WireError): void {
    this.#writer.writeNow(
      `{"type":"load_failed","component":${component},"error":${errorJson(error)}}`,
    );
  }

  described(component: number, description: string): void {
    this.#writer.writeNow(
      `{"type":"described","component":${component},"description":${description}}`,
    );
  }

  pong(): void {
    this.#writer.writeNow(`{"type":"pong"}`);
  }

  describeFailed(component: number, error: WireError): void {
    this.#writer.writeNow(
      `{"type":"describe_failed","component":${component},"error":${errorJson(error)}}`,
    );
  }

  emit(id: number, event: string | undefined, options: EmitOptions): void {
    const eventField = event === undefined ? "" : `,"event":${event}`;
    this.#writer.writeNow(
      `{"type":"emit","id":${id}${eventField},"options":${optionsJson(options)}}`,
    );
  }

  respond(id: number, response: HttpResponse): void {
    this.#writer.writeSoon(
      `{"type":"respond","id":${id},"status":${response.status},"headers":${
        headersJson(response.headers)
      },"body":${quote(response.body)},"encoding":"${response.encoding}"}`,
    );
  }

  log(id: number, level: LogLevel, text: string): void {
    this.#writer.writeNow(
      `{"type":"log","id":${id},"level":"${level}","text":${quote(text)}}`,
    );
  }

  /** A line without a run, of which at most the component is known. */
  strayLog(component: number | undefined, level: LogLevel, text: string): void {
    const field = component === undefined ? "" : `,"component":${component}`;
    this.#writer.writeNow(
      `{"type":"log","id":null${field},"level":"${level}","text":${quote(text)}}`,
    );
  }

  kv(change: KeyValueChange): void {
    const { id, component, seq, key, value } = change;
    const valueField = value === undefined ? "" : `,"value":${value}`;
    this.#writer.writeNow(
      `{"type":"kv","id":${id},"component":${component},"seq":${seq},"key":${
        quote(key)
      }${valueField}}`,
    );
  }

  exported(id: number, name: string, value: string | undefined): void {
    const valueField = value === undefined ? "" : `,"value":${value}`;
    this.#writer.writeNow(
      `{"type":"export","id":${id},"key":${quote(name)}${valueField}}`,
    );
  }

  exited(id: number, reason: string): void {
    this.#writer.writeNow(`{"type":"exit","id":${id},"text":${quote(reason)}}`);
  }

  dataStore(id: number, request: number, asked: StoreRequest): void {
    const { store, op, key, value, ttl } = asked;
    let fields = "";
    if (key !== undefined) fields += `,"key":${quote(key)}`;
    if (value !== undefined) fields += `,"value":${value}`;
    if (ttl !== undefined) fields += `,"ttl":${ttl}`;
    this.#writer.writeNow(
      `{"type":"data_store","id":${id},"request":${request},"store":${
        quote(store)
      },"op":"${op}"${fields}}`,
    );
  }

  outcome(id: number, outcome: Outcome): void {
    let field = "";
    if ("error" in outcome) field = `,"error":${errorJson(outcome.error)}`;
    else if (outcome.value !== undefined) field = `,"value":${outcome.value}`;
    this.#writer.writeSoon(`{"type":"outcome","id":${id}${field}}`);
  }
}

function errorJson({ name, message, stack, code, status }: WireError): string {
  let codeField = "";
  if (typeof code === "string") codeField = `,"code":${quote(code)}`;
  else if (code !== undefined) codeField = `,"code":${code}`;
  const statusField = status === undefined ? "" : `,"status":${status}`;
  return `{"name":${quote(name)},"message":${quote(message)},"stack":${
    quote(stack)
  }${codeField}${statusField}}`;
}

function optionsJson(options: EmitOptions): string {
  let fields = "";
  const { id, name, summary, ts, delivery_ts } = options;
  if (typeof id === "string") fields += `,"id":${quote(id)}`;
  else if (id !== undefined) fields += `,"id":${id}`;
  if (name !== undefined) fields += `,"name":${quote(name)}`;
  if (summary !== undefined) fields += `,"summary":${quote(summary)}`;
  if (ts !== undefined) fields += `,"ts":${ts}`;
  if (delivery_ts !== undefined) fields += `,"delivery_ts":${delivery_ts}`;
  return `{${stringSlice(fields, 1)}}`;
}

function headersJson(headers: Record<string, string | string[]>): string {
  let fields = "";
  for (const name of objectKeys(headers)) {
    const value = headers[name]!;
    const json = typeof value === "string" ? quote(value) : textsJson(value);
    fields += `,${quote(name)}:${json}`;
  }
  return `{${stringSlice(fields, 1)}}`;
}

function textsJson(texts: string[]): string {
  let items = "";
  for (let i = 0; i < texts.length; i++) items += `,${quote(texts[i]!)}`;
  return `[${stringSlice(items, 1)}]`;
}

finalize(Outbox);
