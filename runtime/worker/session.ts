/**
 * The worker's life: one component, many invocations.
 *
 * Responsible for answering the host's frames in order and for knowing which runs are
 * in flight. Not responsible for bytes, nor for how a component is called.
 */

import { setImmediate } from "node:timers";
import { installChildProcesses } from "./child_processes.ts";
import {
  type Component,
  importComponent,
  installDefineFunctions,
} from "./component.ts";
import { installConsole } from "./console.ts";
import { describeComponent } from "./describe.ts";
import { callEntry, resultJson } from "./entry.ts";
import { enterEnvironment } from "./environment.ts";
import { installExitGuard } from "./exit_guard.ts";
import { FailureFormat } from "./failure.ts";
import { InstanceFactory } from "./instance.ts";
import { finalize, OwnMap, promiseThen } from "./intrinsics.ts";
import { Invocation, type InvocationHost } from "./invocation.ts";
import { currentInvocation, runWithin } from "./invocation_context.ts";
import { KeyValueMap } from "./key_value.ts";
import { loadNamedImports } from "./named_imports.ts";
import { installNodeFetch } from "./node_fetch.ts";
import { installNodeGlobals } from "./node_globals.ts";
import { installNodeLikeness } from "./node_likeness.ts";
import type { Outbox, Outcome } from "./outbox.ts";
import type { HostFrame, InvokeFrame, LoadFrame, LogLevel } from "./protocol.ts";
import { installRoutes } from "./routes.ts";
import { installStandardStreams } from "./standard_streams.ts";
import { installStrayFailures } from "./stray_failures.ts";
import { installTimers } from "./timers.ts";
import { installTmpPaths } from "./tmp_paths.ts";

interface Loaded {
  component: Component;
  instances: InstanceFactory;
}

export class Session {
  #outbox: Outbox;
  #failures = new FailureFormat();
  #inFlight = new OwnMap<number, Invocation>();
  #loaded: Loaded | undefined;
  #host: InvocationHost;

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
    this.#host = {
      outbox,
      keyValues: new KeyValueMap(),
      ended: (invocation) => this.#inFlight.delete(invocation.id),
      describe: (thrown) => this.#failures.describe(thrown),
    };
  }

  /** Puts the runtime between component code and the process. */
  install(): void {
    const log = (level: LogLevel, text: string) => this.#log(level, text);
    installDefineFunctions();
    installChildProcesses();
    installNodeLikeness();
    installConsole(log);
    installStandardStreams(log);
    installTimers((invocation, thrown) =>
      invocation.failLater(this.#failures.describe(thrown))
    );
    installExitGuard((call) => this.#exitCalled(call));
    installStrayFailures((thrown) => this.#strayFailure(thrown));
    installNodeFetch();
    installNodeGlobals();
  }

  /** Returns a promise only for the frame that others have to wait for. */
  handle(frame: HostFrame): void | Promise<void> {
    switch (frame.type) {
      case "load":
        return this.#load(frame);
      case "describe":
        return this.#describe();
      case "invoke":
        return this.#invoke(frame);
      case "reply":
        return this.#inFlight.get(frame.id)?.answered(frame);
      case "hello":
        throw new Error("hello came twice");
    }
  }

  async #load(frame: LoadFrame): Promise<void> {
    try {
      this.#failures.setEntry(frame.entry);
      this.#host.keyValues.load(frame.kv ?? {}, frame.kv_limit_bytes);
      enterEnvironment(frame.entry, frame.env ?? {});
      installTmpPaths(frame.entry);
      installRoutes(frame.routes ?? []);
      await loadNamedImports();
      const component = await importComponent(frame.entry);
      this.#loaded = { component, instances: new InstanceFactory(component) };
      this.#outbox.loaded();
    } catch (thrown) {
      this.#outbox.loadFailed(this.#failures.describe(thrown));
    }
  }

  #describe(): void {
    try {
      this.#outbox.described(describeComponent(this.#component().component));
    } catch (thrown) {
      this.#outbox.describeFailed(this.#failures.describe(thrown));
    }
  }

  #invoke(frame: InvokeFrame): void {
    const invocation = new Invocation(frame.id, frame.log_limit_bytes, this.#host);
    this.#inFlight.set(frame.id, invocation);
    promiseThen(
      runWithin(invocation, () => this.#run(invocation, frame)),
      // Rejections that nobody handles come up between the run's last step and the next turn.
      (outcome: Outcome) => setImmediate(() => invocation.end(outcome)),
    );
  }

  async #run(invocation: Invocation, frame: InvokeFrame): Promise<Outcome> {
    try {
      const { component, instances } = this.#component();
      const instance = instances.create(invocation, frame.props);
      const value = await callEntry(component, instance, invocation, frame);
      return { value: resultJson(value, component, frame) };
    } catch (thrown) {
      return { error: this.#failures.describe(thrown) };
    }
  }

  #component(): Loaded {
    if (this.#loaded === undefined) throw new Error("no component is loaded");
    return this.#loaded;
  }

  #log(level: LogLevel, text: string): void {
    const invocation = currentInvocation();
    const clean = this.#failures.clean(text);
    if (invocation === undefined) this.#outbox.log(null, level, clean);
    else invocation.log(level, clean);
  }

  #exitCalled(call: string): never {
    const error = new Error(`${call} was called`);
    this.#responsibleInvocation()?.end({ error: this.#failures.describe(error) });
    throw error;
  }

  #strayFailure(thrown: unknown): void {
    const error = this.#failures.describe(thrown);
    const invocation = this.#responsibleInvocation();
    if (invocation !== undefined) invocation.failLater(error);
    else this.#outbox.log(null, "error", `Uncaught ${error.stack || error.message}`);
  }

  /** The run that the current code belongs to, or the only one it can belong to. */
  #responsibleInvocation(): Invocation | undefined {
    const current = currentInvocation();
    if (current !== undefined || this.#inFlight.size !== 1) return current;
    let only: Invocation | undefined;
    this.#inFlight.forEach((invocation) => only = invocation);
    return only;
  }
}

finalize(Session);
