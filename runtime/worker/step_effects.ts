/**
 * The effects that only steps of workflows have: pauses, more time, sends, their response,
 * and requests to the host's services.
 *
 * Responsible for sending them as frames while the step runs, and for letting no more
 * than one response count. Not responsible for the arguments of components (`flow.ts`,
 * `sends.ts`, `step_response.ts`).
 */

import { finalize } from "./intrinsics.ts";
import { toJson } from "./json.ts";
import type { Outbox, ResponseManner } from "./outbox.ts";
import type {
  Answer,
  HttpResponse,
  LogLevel,
  Pause,
  SendKind,
  Service,
  WireError,
} from "./protocol.ts";

const now = performance.now.bind(performance);

/** The run that the effects are of. */
export interface StepRun {
  readonly hasEnded: boolean;
  /** Whether the run has ended; tells in its log that the call came too late. */
  refuses(call: string): boolean;
  /** Has a request sent with a number; the promise resolves with the host's answer. */
  request(call: string, send: (request: number) => void): Promise<Answer>;
  describe(thrown: unknown): WireError;
  log(level: LogLevel, text: string): void;
}

export class StepEffects {
  #id: number;
  #outbox: Outbox;
  #run: StepRun;
  #beganAt = now();
  #hasResponded = false;
  /** Whether parts of the response's body are still to come. */
  #isResponding = false;

  constructor(id: number, outbox: Outbox, run: StepRun) {
    this.#id = id;
    this.#outbox = outbox;
    this.#run = run;
  }

  skip(): void {
    if (!this.#run.refuses("skip")) this.#outbox.skipped(this.#id);
  }

  pause(asked: Pause): void {
    if (this.#run.refuses(`$.flow.${asked.op}`)) return;
    this.#outbox.paused(this.#id, asked);
  }

  /** Has the time limit begin anew; the milliseconds since the step began, or undefined if it has ended. */
  refreshTimeout(): number | undefined {
    if (this.#run.refuses("$.flow.refreshTimeout")) return undefined;
    this.#outbox.refreshTimeout(this.#id);
    return now() - this.#beganAt;
  }

  send(kind: SendKind, value: unknown): void {
    const call = `$.send.${kind}`;
    if (this.#run.refuses(call)) return;
    this.#outbox.send(this.#id, kind, toJson(value, call) ?? "null");
  }

  /** Sends a request; the promise resolves with its answer, even an error. */
  ask(service: Service, operation: string, given: unknown): Promise<Answer> {
    const call = `${service} ${operation}`;
    const what = service === "workflows" ? "$.flow.trigger: the payload" : call;
    const json = toJson(given, what) ?? "null";
    return this.#run.request(call, (request) => {
      this.#outbox.ask(this.#id, request, { service, operation, json });
    });
  }

  /** Whether this response is the first one, and counts. */
  beginResponse(): boolean {
    if (this.#run.refuses("$.respond")) return false;
    if (this.#hasResponded) {
      const text = "$.respond was called more than once; only the first call counts";
      this.#run.log("warn", text);
      return false;
    }
    this.#hasResponded = true;
    return true;
  }

  respond(response: HttpResponse, manner: ResponseManner): void {
    if (this.#run.hasEnded) return;
    this.#isResponding = manner.hasMore;
    this.#outbox.respondInStep(this.#id, response, manner);
  }

  /** Sends a further part of the response's body, as base64. */
  respondBody(body: string, hasMore: boolean): void {
    if (this.#run.hasEnded) return;
    this.#isResponding = hasMore;
    this.#outbox.respondBody(this.#id, body, hasMore);
  }

  /** Tells that the response, or the rest of its body, does not come. */
  refuseResponse(thrown: unknown): void {
    if (this.#run.hasEnded) return;
    this.#isResponding = false;
    const { message } = this.#run.describe(thrown);
    this.#outbox.respondRefused(this.#id, message);
  }

  /** Tells what the step leaves unfinished. */
  end(isRunning: boolean): void {
    if (this.#isResponding) {
      const text = "the step ended before the response's body was complete";
      this.#outbox.respondRefused(this.#id, text);
    }
    if (isRunning) {
      this.#run.log("warn", "Code was still running when the step ended");
    }
  }
}

finalize(StepEffects);
