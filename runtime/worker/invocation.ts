/**
 * One run of a component's code: its effects and its outcome.
 *
 * Responsible for attributing effects to the run, for refusing them once it has ended
 * and for sending exactly one outcome. Not responsible for calling the component
 * (`entry.ts`) nor for validating its arguments (`emit.ts`, `respond.ts`).
 */

import { normalizeEmitOptions, reservedChannel } from "./emit.ts";
import { finalize, OwnMap } from "./intrinsics.ts";
import { toJson } from "./json.ts";
import type { KeyValueMap } from "./key_value.ts";
import { LogBudget } from "./log_budget.ts";
import type { Outbox, Outcome } from "./outbox.ts";
import type { LogLevel, ReplyFrame, StoreRequest, WireError } from "./protocol.ts";
import { normalizeResponse } from "./respond.ts";
import { withoutStreams } from "./stream_shapes.ts";

/** The host's answer to a request. */
export type Answer = Pick<ReplyFrame, "value" | "error">;

export interface InvocationHost {
  outbox: Outbox;
  /** The number of the component that the run is of. */
  component: number;
  keyValues: KeyValueMap;
  ended(id: number): void;
  describe(thrown: unknown): WireError;
}

export class Invocation {
  // A component that gets hold of its run could give a field the number of another one.
  #id: number;
  #host: InvocationHost;
  #logs: LogBudget;
  #hasEnded = false;
  #hasResponded = false;
  #stray: WireError | undefined;
  #cancelTimers: OwnMap<() => void, true> | undefined;
  #requests: OwnMap<number, (answer: Answer) => void> | undefined;
  #lastRequest = 0;

  constructor(id: number, logLimitBytes: number, host: InvocationHost) {
    this.#id = id;
    this.#host = host;
    this.#logs = new LogBudget(logLimitBytes);
  }

  get component(): number {
    return this.#host.component;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  emit(event: unknown, options: unknown): void {
    if (this.#refuse("$emit")) return;
    const wireOptions = normalizeEmitOptions(options, (text) => this.log("warn", text));
    const refusal = reservedChannel(wireOptions.name);
    if (refusal !== undefined) return this.failLater(this.#host.describe(refusal));
    this.#host.outbox.emit(this.#id, toJson(event, "$emit: event"), wireOptions);
  }

  respond(response: unknown): void {
    if (this.#refuse("respond")) return;
    const wireResponse = normalizeResponse(response);
    if (this.#hasResponded) {
      this.log("warn", "respond was called more than once; only the first call counts");
      return;
    }
    this.#hasResponded = true;
    this.#host.outbox.respond(this.#id, wireResponse);
  }

  export(name: unknown, value: unknown): void {
    if (this.#refuse("$.export")) return;
    if (typeof name !== "string" || name === "") {
      throw new TypeError("$.export: the first argument must be a name");
    }
    const json = withoutStreams(toJson(value, `$.export: "${name}"`));
    this.#host.outbox.exported(this.#id, name, json);
  }

  /** The run continues to its end, but later steps of a workflow do not run. */
  exit(reason: unknown): void {
    if (this.#refuse("$.flow.exit")) return;
    this.#host.outbox.exited(this.#id, reason === undefined ? "" : String(reason));
  }

  getValue(key: unknown): unknown {
    return this.#host.keyValues.get(String(key));
  }

  setValue(key: unknown, value: unknown): void {
    if (this.#refuse("db.set")) return;
    const name = String(key);
    const json = toJson(value, `db.set: value of "${name}"`);
    const seq = this.#host.keyValues.set(name, json);
    const { component, outbox } = this.#host;
    outbox.kv({ id: this.#id, component, seq, key: name, value: json });
  }

  /** Sends the host a request; the promise resolves with its answer, even an error. */
  askStore(asked: StoreRequest): Promise<Answer> {
    if (this.#hasEnded) {
      const error = `${asked.op} was called after the run had ended and did nothing`;
      return Promise.resolve({ error });
    }
    const request = ++this.#lastRequest;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    this.#requests ??= new OwnMap();
    this.#requests.set(request, resolve);
    this.#host.outbox.dataStore(this.#id, request, asked);
    return promise;
  }

  answered(reply: ReplyFrame): void {
    this.#requests?.get(reply.request)?.(reply);
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

  addTimer(cancel: () => void): void {
    (this.#cancelTimers ??= new OwnMap()).set(cancel, true);
  }

  removeTimer(cancel: () => void): void {
    this.#cancelTimers?.delete(cancel);
  }

  /** Ends the run; only the first call has an effect. */
  end(outcome: Outcome): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#cancelTimers !== undefined) {
      this.#cancelTimers.forEach((_, cancel) => cancel());
    }
    const isStray = this.#stray !== undefined && "value" in outcome;
    this.#host.outbox.outcome(this.#id, isStray ? { error: this.#stray! } : outcome);
    this.#host.ended(this.#id);
  }

  #refuse(call: string): boolean {
    if (!this.#hasEnded) return false;
    this.log("warn", `${call} was called after the run had ended and did nothing`);
    return true;
  }
}

finalize(Invocation);
