/**
 * The worker's life: components of one owner, and many invocations of each.
 *
 * Responsible for answering the host's frames, in order for each component, and for
 * tracking the runs in flight. Not responsible for bytes, nor for calling components.
 */

import { setImmediate } from "node:timers";
import { installChildProcesses } from "./child_processes.ts";
import { installDefineFunctions } from "./component.ts";
import { installConsole } from "./console.ts";
import { describeComponent } from "./describe.ts";
import { callEntry, resultJson } from "./entry.ts";
import { installEnvironment } from "./environment.ts";
import { installExitGuard } from "./exit_guard.ts";
import { FailureFormat } from "./failure.ts";
import { finalize, OwnMap, promiseThen } from "./intrinsics.ts";
import { Invocation } from "./invocation.ts";
import { LoadedComponent } from "./loaded_component.ts";
import { loadNamedImports } from "./named_imports.ts";
import { installNodeFetch } from "./node_fetch.ts";
import { installNodeGlobals } from "./node_globals.ts";
import { installNodeLikeness } from "./node_likeness.ts";
import type { Outbox, Outcome } from "./outbox.ts";
import { answersTo } from "./questions.ts";
import type {
  DescribeFrame,
  HelloFrame,
  HostFrame,
  InvokeFrame,
  LoadFrame,
  LogLevel,
  UnloadFrame,
  WireError,
} from "./protocol.ts";
import { installRoutes } from "./routes.ts";
import { currentComponent, currentInvocation, runWithin } from "./scope.ts";
import { installSimulatedTime } from "./simulated_time.ts";
import { installStandardStreams } from "./standard_streams.ts";
import { runStep } from "./step.ts";
import { installStrayFailures } from "./stray_failures.ts";
import { installTimers } from "./timers.ts";
import { forgetTmp, installTmpPaths } from "./tmp_paths.ts";
import { placeOf } from "./workflow_input.ts";

export class Session {
  #outbox: Outbox;
  #components = new OwnMap<number, LoadedComponent>();
  #inFlight = new OwnMap<number, Invocation>();
  /** For failures without a known run. */
  #failures = new FailureFormat();

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
  }

  /** Puts the runtime between component code and the process. */
  async install({ routes, shared_module }: HelloFrame): Promise<void> {
    const log = (level: LogLevel, text: string) => this.#log(level, text);
    const strayFailure = (thrown: unknown) => this.#strayFailure(thrown);
    installDefineFunctions();
    installChildProcesses();
    installNodeLikeness();
    installConsole(log);
    installStandardStreams(log);
    installTimers(strayFailure);
    installExitGuard((call) => this.#exitCalled(call));
    installStrayFailures(strayFailure);
    installNodeFetch();
    installNodeGlobals();
    installTmpPaths();
    installEnvironment();
    installRoutes(routes);
    await loadNamedImports();
    if (shared_module) await evaluate(shared_module);
  }

  handle(frame: HostFrame): void {
    switch (frame.type) {
      case "load":
        return void this.#load(frame);
      case "unload":
      case "describe":
      case "invoke":
        return this.#handleLoaded(frame);
      case "reply":
        return this.#inFlight.get(frame.id)?.answered(frame);
      case "forget_tmp":
        return forgetTmp(frame.tmp);
      case "ping":
        return this.#outbox.pong();
      case "hello":
        throw new Error("hello came twice");
    }
  }

  async #load(frame: LoadFrame): Promise<void> {
    const loaded = new LoadedComponent(frame.component, {
      outbox: this.#outbox,
      ended: (id) => this.#inFlight.delete(id),
    });
    this.#components.set(frame.component, loaded);
    try {
      await loaded.load(frame);
      this.#outbox.loaded(frame.component);
    } catch (thrown) {
      this.#outbox.loadFailed(frame.component, loaded.failures.describe(thrown));
    }
    loaded.endLoading();
  }

  /** Frames for a component wait until that is loaded; others do not. */
  #handleLoaded(frame: UnloadFrame | DescribeFrame | InvokeFrame): void {
    const loaded = this.#components.get(frame.component);
    if (loaded === undefined) {
      throw new Error(
        `${frame.type} of component ${frame.component}, which is not loaded`,
      );
    }
    if (loaded.isLoading) loaded.afterLoading(() => this.#handle(frame, loaded));
    else this.#handle(frame, loaded);
  }

  #handle(
    frame: UnloadFrame | DescribeFrame | InvokeFrame,
    loaded: LoadedComponent,
  ): void {
    switch (frame.type) {
      case "unload":
        return this.#unload(loaded);
      case "describe":
        return this.#describe(loaded);
      case "invoke":
        return this.#invoke(frame, loaded);
    }
  }

  #unload(loaded: LoadedComponent): void {
    this.#components.delete(loaded.number);
    loaded.unload();
  }

  #describe(loaded: LoadedComponent): void {
    const { number, scope, failures } = loaded;
    try {
      const describe = () => describeComponent(loaded.code.component);
      this.#outbox.described(number, runWithin(scope, undefined, describe));
    } catch (thrown) {
      this.#outbox.describeFailed(number, failures.describe(thrown));
    }
  }

  #invoke(frame: InvokeFrame, loaded: LoadedComponent): void {
    const { id, entry, event, log_limit_bytes } = frame;
    const place = placeOf(entry, event);
    const invocation = new Invocation(id, log_limit_bytes, loaded.host, place);
    this.#inFlight.set(id, invocation);
    if (invocation.nowMs !== undefined) installSimulatedTime();
    promiseThen(
      runWithin(loaded.scope, invocation, () => this.#run(invocation, loaded, frame)),
      // Unhandled rejections surface between the run's last step and the next turn.
      (outcome: Outcome) => setImmediate(() => invocation.end(outcome)),
    );
  }

  async #run(
    invocation: Invocation,
    loaded: LoadedComponent,
    frame: InvokeFrame,
  ): Promise<Outcome> {
    try {
      const { entry, event, props } = frame;
      if (entry.kind === "evaluate") return { value: await answersTo(event) };
      const { code } = loaded;
      if (entry.kind === "step") {
        return { value: await runStep(code, invocation, props, event) };
      }
      const { component } = code;
      const instance = code.instances.create(invocation, props);
      const value = await callEntry(component, instance, invocation, entry, event);
      return { value: resultJson(value, component, entry) };
    } catch (thrown) {
      return { error: loaded.failures.describe(thrown) };
    }
  }

  #log(level: LogLevel, text: string): void {
    const current = this.#current();
    const clean = (current?.failures ?? this.#failures).clean(text);
    const invocation = currentInvocation();
    if (invocation !== undefined) invocation.log(level, clean);
    else this.#outbox.strayLog(current?.number, level, clean);
  }

  #exitCalled(call: string): never {
    const error = new Error(`${call} was called`);
    this.#responsibleInvocation()?.end({ error: this.#described(error) });
    throw error;
  }

  #strayFailure(thrown: unknown): void {
    const error = this.#described(thrown);
    const invocation = this.#responsibleInvocation();
    if (invocation !== undefined) return invocation.failLater(error);
    const text = `Uncaught ${error.stack || error.message}`;
    this.#outbox.strayLog(this.#current()?.number, "error", text);
  }

  #described(thrown: unknown): WireError {
    return (this.#current()?.failures ?? this.#failures).describe(thrown);
  }

  /** The component whose code is running. A scope forged by a component counts as none. */
  #current(): LoadedComponent | undefined {
    const scope = currentComponent();
    if (scope === undefined) return undefined;
    const loaded = this.#components.get(scope.number);
    return loaded?.scope === scope ? loaded : undefined;
  }

  /** The run that the current code belongs to, or the only one of its component. */
  #responsibleInvocation(): Invocation | undefined {
    const current = currentInvocation();
    const component = this.#current()?.number;
    if (current !== undefined || component === undefined) return current;
    let only: Invocation | undefined;
    let count = 0;
    this.#inFlight.forEach((invocation) => {
      if (invocation.component !== component) return;
      count++;
      only = invocation;
    });
    return count === 1 ? only : undefined;
  }
}

/** The module's default export evaluates what it defines. */
async function evaluate(sharedModule: string): Promise<void> {
  try {
    const { default: evaluatePackage } = await import(sharedModule);
    evaluatePackage?.();
  } catch {
    // The component that imports it says why that fails.
  }
}

finalize(Session);
