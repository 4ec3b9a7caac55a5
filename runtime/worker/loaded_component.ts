/**
 * One component of the worker: its code's instance and everything that belongs to it alone.
 *
 * Responsible for loading the code, for frames that arrive meanwhile, and for keeping
 * its key-value map, variables, timers and the paths in its errors apart from those of
 * the other components. Not responsible for runs (`invocation.ts`) nor for calling the
 * code (`entry.ts`).
 */

import { type Component, importComponent } from "./component.ts";
import { enterEnvironment } from "./environment.ts";
import { FailureFormat } from "./failure.ts";
import { InstanceFactory } from "./instance.ts";
import { finalize, OwnMap } from "./intrinsics.ts";
import type { InvocationHost } from "./invocation.ts";
import { KeyValueMap } from "./key_value.ts";
import type { LoadFrame } from "./protocol.ts";
import { addComponent, ComponentScope, runWithin } from "./scope.ts";
import { StepProps } from "./step_props.ts";
import { enterFolders, leaveFolders } from "./tmp_paths.ts";

/** The component, and all that is prepared once for its runs. */
export class Code {
  readonly component: Component;
  readonly instances: InstanceFactory;
  #stepProps: StepProps | undefined;

  constructor(component: Component) {
    this.component = component;
    this.instances = new InstanceFactory(component);
  }

  get stepProps(): StepProps {
    return this.#stepProps ??= new StepProps(this.component);
  }
}

export class LoadedComponent {
  readonly scope: ComponentScope;
  readonly failures = new FailureFormat();
  /** The state that the component's runs share. */
  readonly host: InvocationHost;
  #code: Code | undefined;
  #entry = "";
  /** Calls to be made once it is known whether the component could be loaded. */
  #waiting: OwnMap<number, () => void> | undefined = new OwnMap();

  constructor(number: number, worker: Pick<InvocationHost, "outbox" | "ended">) {
    this.scope = new ComponentScope(number);
    this.host = {
      outbox: worker.outbox,
      ended: worker.ended,
      component: number,
      keyValues: new KeyValueMap(),
      describe: (thrown) => this.failures.describe(thrown),
    };
  }

  get number(): number {
    return this.scope.number;
  }

  /** @throws when the component cannot be loaded or has not been */
  get code(): Code {
    if (this.#code === undefined) throw new Error("no component is loaded");
    return this.#code;
  }

  /** Evaluates the component's module. */
  load(frame: LoadFrame): Promise<void> {
    addComponent(this.scope);
    return runWithin(this.scope, undefined, () => this.#load(frame));
  }

  get isLoading(): boolean {
    return this.#waiting !== undefined;
  }

  /** Calls the function after loading. */
  afterLoading(then: () => void): void {
    this.#waiting?.set(this.#waiting.size, then);
  }

  /** Ends loading, successful or not: makes the waiting calls, in order. */
  endLoading(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.forEach((then) => then());
  }

  /** Ends its timers, removes its files and forgets it; its module stays in memory. */
  unload(): void {
    this.scope.unload();
    leaveFolders(this.number, this.#entry);
  }

  async #load(frame: LoadFrame): Promise<void> {
    const { entry, env, kv, kv_limit_bytes } = frame;
    if (entry !== "") this.failures.setEntry(entry);
    this.host.keyValues.load(kv, kv_limit_bytes);
    enterEnvironment(entry, env);
    this.#entry = entry;
    enterFolders(entry);
    // Without code there are only expressions, which need no component.
    if (entry !== "") this.#code = new Code(await importComponent(frame));
  }
}

finalize(Code, LoadedComponent);
