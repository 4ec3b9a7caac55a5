/**
 * The wire shapes of the worker protocol, as the host defines them.
 *
 * Responsible for naming every frame and its fields. Not responsible for bytes
 * (`frame_reader.ts`, `frame_writer.ts`) nor for handling frames.
 */

import type { Route } from "./routes.ts";

export const PROTOCOL_VERSION = 5;

export type HookName = "deploy" | "activate" | "deactivate";
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Prop values by prop name: final, the host has already filled in defaults. */
export type PropValues = Record<string, unknown>;

export interface HelloFrame {
  type: "hello";
  version: number;
  token: string;
  /** The destinations of all components' connections. */
  routes: Route[];
  /** What the first component imports, and its first run would otherwise wait for. */
  shared_module?: string | null;
}

export interface LoadFrame {
  type: "load";
  /** Chosen by the host, and never reused in the same worker. */
  component: number;
  /** Empty for a component without code, on which expressions are evaluated. */
  entry: string;
  /** Whether the module's default export creates the component's exports anew at each call. */
  is_factory: boolean;
  env: Record<string, string>;
  kv: Record<string, unknown>;
  kv_limit_bytes?: number;
}

export interface UnloadFrame {
  type: "unload";
  component: number;
}

export interface DescribeFrame {
  type: "describe";
  component: number;
}

export interface OptionsEntry {
  kind: "options";
  prop: string;
  page?: number | null;
  prev_context?: unknown;
  query?: string | null;
}

/** An entry point of a component's code. */
export type ComponentEntry =
  | { kind: "run" }
  | { kind: "hook"; name: HookName }
  | OptionsEntry
  | { kind: "additional_props" };

/** A step of a workflow, or a workflow's expressions; `workflow_input.ts` has their events. */
export type WorkflowEntry = { kind: "step" } | { kind: "evaluate" };

export type Entry = ComponentEntry | WorkflowEntry;

export interface InvokeFrame {
  type: "invoke";
  id: number;
  component: number;
  entry: Entry;
  event?: unknown;
  props: PropValues;
  log_limit_bytes: number;
}

/** Answered when it is read, which is when no code of a component runs. */
export interface PingFrame {
  type: "ping";
}

/** Removes the `/tmp` of a workflow's run, if there is one. */
export interface ForgetTmpFrame {
  type: "forget_tmp";
  tmp: string;
}

/** The answer to a run's request. Without `error` and without `value`: undefined. */
export interface ReplyFrame {
  type: "reply";
  id: number;
  request: number;
  value?: unknown;
  error?: string;
}

export type Answer = Pick<ReplyFrame, "value" | "error">;

export type HostFrame =
  | HelloFrame
  | LoadFrame
  | UnloadFrame
  | DescribeFrame
  | InvokeFrame
  | PingFrame
  | ForgetTmpFrame
  | ReplyFrame;

export interface WireError {
  name: string;
  message: string;
  stack: string;
  code?: string | number;
  /** The status of the HTTP response that it is about. */
  status?: number;
}

export interface EmitOptions {
  id?: string | number;
  name?: string;
  summary?: string;
  ts?: number;
  delivery_ts?: number;
}

export type StoreOperation =
  | "get"
  | "has"
  | "set"
  | "set_ttl"
  | "delete"
  | "clear"
  | "size"
  | "keys"
  | "entries";

/** A run's request to a data store. */
export interface StoreRequest {
  store: string;
  op: StoreOperation;
  /** For listings: only keys after this one. */
  key?: string | undefined;
  /** As JSON text. */
  value?: string;
  /** Seconds. */
  ttl?: number | undefined;
}

/** A request of a step to pause. */
export interface Pause {
  op: "delay" | "suspend" | "rerun";
  after_ms: number;
  /** As JSON text. */
  context: string | undefined;
  max_retries: number | undefined;
}

export type SendKind = "http" | "email" | "s3" | "emit" | "sse";

export type Service = "files" | "workflows";

export interface HttpResponse {
  status: number;
  headers: Record<string, string | string[]>;
  body: string;
  encoding: "utf8" | "base64";
}

export interface PropDescription {
  name: string;
  type: string;
  has_options?: true;
  use_query?: boolean;
  [property: string]: unknown;
}

export interface Description {
  name: unknown;
  key?: unknown;
  version?: unknown;
  type: string;
  description?: unknown;
  dedupe?: unknown;
  props: PropDescription[];
  hooks: Record<HookName, boolean>;
  has_additional_props: boolean;
  has_run: boolean;
  sample_emit?: unknown;
}
