/**
 * The arguments of an action's `run`, as far as the built-in actions use them.
 *
 * Types only. Not responsible for the behaviour, which is the worker's.
 */

export interface Response {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

export interface Mail {
  subject: string;
  text: string;
  html?: string;
}

export interface Step {
  export(name: string, value: unknown): void;
  respond(response: Response): Promise<unknown>;
  flow: {
    exit(reason?: string): unknown;
    delay(milliseconds: number): unknown;
    trigger(workflow: string, event: unknown): Promise<unknown>;
  };
  send: {
    email(mail: Mail): void;
    s3(object: { bucket: string; prefix: string; payload: unknown }): void;
  };
}

export interface StepArguments {
  steps: Record<string, any>;
  $: Step;
}
