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
import { finalize, ownFields } from "./intrinsics.ts";
import { quote } from "./json.ts";
import type {
  EmitOptions,
  HttpResponse,
  LogLevel,
  Pause,
  SendKind,
  Service,
  StoreRequest,
  WireError,
} from "./protocol.ts";
import { PROTOCOL_VERSION } from "./protocol.ts";
import { errorJson, headersJson, optionsJson } from "./wire_json.ts";

/** A write of run `id` to its component's key-value map. */
export interface KeyValueChange {
  id: number;
  component: number;
  seq: number;
  key: string;
  /** As JSON text; without it, the key is deleted. */
  value: string | undefined;
}

/** The manner in which a step responds. */
export interface ResponseManner {
  /** At once, and not at the end of the workflow's run. */
  isImmediate: boolean;
  /** Further parts of the body follow. */
  hasMore: boolean;
}

/** A request of a step to a service of the host. */
export interface ServiceRequest {
  service: Service;
  operation: string;
  /** The arguments as JSON text. */
  json: string;
}

interface Ended {
  /** As JSON text. */
  value: string | undefined;
  error: WireError;
}

export type Outcome = Pick<Ended, "value"> | Pick<Ended, "error">;

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
    this.#writer.writeSoon(`{"type":"respond","id":${id}${responseFields(response)}}`);
  }

  respondInStep(id: number, response: HttpResponse, manner: ResponseManner): void {
    const { isImmediate, hasMore } = manner;
    this.#writer.writeNow(
      `{"type":"respond","id":${id}${
        responseFields(response)
      },"immediate":${isImmediate},"more":${hasMore}}`,
    );
  }

  refreshTimeout(id: number): void {
    this.#writer.writeNow(`{"type":"refresh_timeout","id":${id}}`);
  }

  /** A further part of the response's body, as base64. */
  respondBody(id: number, body: string, hasMore: boolean): void {
    this.#writer.writeNow(
      `{"type":"respond_body","id":${id},"body":${
        quote(body)
      },"encoding":"base64","more":${hasMore}}`,
    );
  }

  respondRefused(id: number, reason: string): void {
    this.#writer.writeNow(
      `{"type":"respond_refused","id":${id},"text":${quote(reason)}}`,
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

  skipped(id: number): void {
    this.#writer.writeNow(`{"type":"skipped","id":${id}}`);
  }

  paused(id: number, { op, after_ms, context, max_retries }: Pause): void {
    let fields = `,"op":${quote(op)},"after_ms":${after_ms}`;
    if (context !== undefined) fields += `,"context":${context}`;
    if (max_retries !== undefined) fields += `,"max_retries":${max_retries}`;
    this.#writer.writeNow(`{"type":"flow","id":${id}${fields}}`);
  }

  /** @param value as JSON text */
  send(id: number, kind: SendKind, value: string): void {
    this.#writer.writeNow(
      `{"type":"send","id":${id},"kind":${quote(kind)},"value":${value}}`,
    );
  }

  ask(id: number, request: number, asked: ServiceRequest): void {
    const { service, operation, json } = asked;
    this.#writer.writeNow(
      `{"type":"ask","id":${id},"request":${request},"service":${
        quote(service)
      },"operation":${quote(operation)},"arguments":${json}}`,
    );
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
    const { error, value } = ownFields<Partial<Ended>>(outcome);
    if (error !== undefined) field = `,"error":${errorJson(error)}`;
    else if (value !== undefined) field = `,"value":${value}`;
    this.#writer.writeSoon(`{"type":"outcome","id":${id}${field}}`);
  }
}

function responseFields({ status, headers, body, encoding }: HttpResponse): string {
  return `,"status":${status},"headers":${headersJson(headers)},"body":${
    quote(body)
  },"encoding":"${encoding}"`;
}

finalize(Outbox);
