/**
 * One run of a component's code: its effects and its outcome.
 *
 * Responsible for attributing effects to the run, for refusing them once it has ended
 * and for sending exactly one outcome. Not responsible for calling the component
 * (`entry.ts`), for validating its arguments (`emit.ts`, `respond.ts`) nor for effects
 * that only steps of workflows have (`step_effects.ts`).
 */

import { normalizeEmitOptions, reservedChannel } from "./emit.ts";
import { finalize, hasOwn, ownFields, OwnMap } from "./intrinsics.ts";
import { toJson } from "./json.ts";
import type { KeyValueMap } from "./key_value.ts";
import { LogBudget } from "./log_budget.ts";
import type { Outbox, Outcome } from "./outbox.ts";
import type {
  Answer,
  LogLevel,
  ReplyFrame,
  StoreRequest,
  WireError,
} from "./protocol.ts";
import { normalizeResponse } from "./respond.ts";
import { StepEffects } from "./step_effects.ts";
import { withoutStreams } from "./stream_shapes.ts";

/** The header of requests with the mark of their run, if it has one. */
export const CALL_HEADER = "x-headwater-call";

export interface InvocationHost {
  outbox: Outbox;
  /** The number of the component that the run is of. */
  component: number;
  keyValues: KeyValueMap;
  ended(id: number): void;
  describe(thrown: unknown): WireError;
}

/** The place of code in the run of a workflow. */
export interface WorkflowPlace {
  isStep: boolean;
  /** The folder that is `/tmp`. */
  tmp: string | undefined;
  traceId: string | undefined;
  /** The time, in tests of workflows. */
  nowMs: number | undefined;
  /** The mark of its requests, in tests of workflows. */
  call: string | undefined;
}

export class Invocation {
  // A component that gets hold of its run could give a field the number of another one.
  #id: number;
  #host: InvocationHost;
  #place: WorkflowPlace | undefined;
  #step: StepEffects | undefined;
  #logs: LogBudget;
  #hasEnded = false;
  #hasResponded = false;
  #stray: WireError | undefined;
  #timers: OwnMap<() => void, () => boolean> | undefined;
  #requests: OwnMap<number, (answer: Answer) => void> | undefined;
  #nowMs: number | undefined;
  #lastRequest = 0;

  constructor(
    id: number,
    logLimitBytes: number,
    host: InvocationHost,
    place?: WorkflowPlace,
  ) {
    this.#id = id;
    this.#host = host;
    this.#place = place;
    this.#nowMs = place?.nowMs;
    this.#logs = new LogBudget(logLimitBytes);
    if (place?.isStep) this.#step = new StepEffects(id, host.outbox, this);
  }

  /** The effects of a workflow's step; undefined for other runs. */
  get step(): StepEffects | undefined {
    return this.#step;
  }

  /** The folder that is `/tmp` to this run; undefined for the component's own. */
  get tmp(): string | undefined {
    return this.#place?.tmp;
  }

  get traceId(): string | undefined {
    return this.#place?.traceId;
  }

  /** The time that it is for its code, epoch milliseconds; undefined for the machine's. */
  get nowMs(): number | undefined {
    return this.#nowMs;
  }

  /** Moves its own time on, if it has one, never back. */
  moveTo(nowMs: number): void {
    if (this.#nowMs !== undefined && nowMs > this.#nowMs) this.#nowMs = nowMs;
  }

  /** The mark of its requests over routes to a socket; undefined for none. */
  get call(): string | undefined {
    return this.#place?.call;
  }

  get component(): number {
    return this.#host.component;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  emit(event: unknown, options: unknown): void {
    if (this.refuses("$emit")) return;
    const wireOptions = normalizeEmitOptions(options, (text) => this.log("warn", text));
    const refusal = reservedChannel(wireOptions.name);
    if (refusal !== undefined) return this.failLater(this.#host.describe(refusal));
    this.#host.outbox.emit(this.#id, toJson(event, "$emit: event"), wireOptions);
  }

  respond(response: unknown): void {
    if (this.refuses("respond")) return;
    const wireResponse = normalizeResponse(response);
    if (this.#hasResponded) {
      this.log("warn", "respond was called more than once; only the first call counts");
      return;
    }
    this.#hasResponded = true;
    this.#host.outbox.respond(this.#id, wireResponse);
  }

  export(name: unknown, value: unknown): void {
    if (this.refuses("$.export")) return;
    if (typeof name !== "string" || name === "") {
      throw new TypeError("$.export: the first argument must be a name");
    }
    const json = withoutStreams(toJson(value, `$.export: "${name}"`));
    this.#host.outbox.exported(this.#id, name, json);
  }

  /** The run continues to its end, but later steps of a workflow do not run. */
  exit(reason: unknown): void {
    if (this.refuses("$.flow.exit")) return;
    this.#host.outbox.exited(this.#id, reason === undefined ? "" : String(reason));
  }

  /** Whether the run has ended; tells in its log that the call came too late. */
  refuses(call: string): boolean {
    if (!this.#hasEnded) return false;
    this.log("warn", `${call} was called after the run had ended and did nothing`);
    return true;
  }

  describe(thrown: unknown): WireError {
    return this.#host.describe(thrown);
  }

  getValue(key: unknown): unknown {
    return this.#host.keyValues.get(String(key));
  }

  setValue(key: unknown, value: unknown): void {
    if (this.refuses("db.set")) return;
    const name = String(key);
    const json = toJson(value, `db.set: value of "${name}"`);
    const seq = this.#host.keyValues.set(name, json);
    const { component, outbox } = this.#host;
    outbox.kv({ id: this.#id, component, seq, key: name, value: json });
  }

  /** Sends the host a request; the promise resolves with its answer, even an error. */
  askStore(asked: StoreRequest): Promise<Answer> {
    return this.request(asked.op, (request) => {
      this.#host.outbox.dataStore(this.#id, request, asked);
    });
  }

  /** Has a request sent with a number; the promise resolves with the host's answer. */
  request(call: string, send: (request: number) => void): Promise<Answer> {
    if (this.#hasEnded) {
      const error = `${call} was called after the run had ended and did nothing`;
      return Promise.resolve({ error });
    }
    const request = ++this.#lastRequest;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    this.#requests ??= new OwnMap();
    this.#requests.set(request, resolve);
    send(request);
    return promise;
  }

  answered(reply: ReplyFrame): void {
    this.#requests?.get(reply.request)?.(ownFields(reply));
    this.#requests?.delete(reply.request);
  }

  log(level: LogLevel, text: string): void {
    if (this.#hasEnded) {
      this.#host.outbox.strayLog(this.#host.component, level, text);
      return;
    }
    for (const line of this.#logs.admit(level, text)) {
      this.#host.outbox.log(this.#id, line.level, line.text);
    }
  }

  /** Records a failure outside the awaited path: the run may continue but cannot succeed. */
  failLater(error: WireError): void {
    if (this.#hasEnded) {
      this.log(
        "error",
        `failed after the run had ended: ${error.stack || error.message}`,
      );
      return;
    }
    this.#stray ??= error;
  }

  addTimer(cancel: () => void, isPending: () => boolean): void {
    (this.#timers ??= new OwnMap()).set(cancel, isPending);
  }

  removeTimer(cancel: () => void): void {
    this.#timers?.delete(cancel);
  }

  /** Ends the run; only the first call has an effect. */
  end(outcome: Outcome): void {
    if (this.#hasEnded) return;
    this.#step?.end(hasOwn(outcome, "value") && this.#isRunning());
    this.#hasEnded = true;
    this.#timers?.forEach((_, cancel) => cancel());
    const isStray = this.#stray !== undefined && hasOwn(outcome, "value");
    this.#host.outbox.outcome(this.#id, isStray ? { error: this.#stray! } : outcome);
    this.#host.ended(this.#id);
  }

  /** Whether something that the code waits for has not come; more is not known. */
  #isRunning(): boolean {
    let isRunning = (this.#requests?.size ?? 0) > 0;
    this.#timers?.forEach((isPending) => isRunning ||= isPending());
    return isRunning;
  }
}

finalize(Invocation);
