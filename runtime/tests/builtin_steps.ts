/**
 * Built-in actions run in a step that records what they ask for.
 *
 * Responsible for loading an action by its key as the index names it, and for its
 * props' defaults, as the host applies them. Not responsible for assertions.
 */

import index from "../actions/index.json" with { type: "json" };
import type { Mail, Response, StepArguments } from "../actions/step.ts";
import type { Component } from "../worker/component.ts";

interface Entry {
  path: string;
  version: string;
  aliases: string[];
}

export const INDEX: Record<string, Entry> = index;

export interface Ran {
  returned: any;
  exports: Record<string, any>;
  /** The reasons of `$.flow.exit`. */
  exits: unknown[];
  responses: Response[];
  delays: number[];
  mails: Mail[];
  objects: unknown[];
  triggered: unknown[];
}

export async function loadAction(key: string): Promise<Component> {
  const { path } = INDEX[key]!;
  return (await import(new URL(`../actions/${path}`, import.meta.url).href)).default;
}

/** Runs the action with these props, and the defaults of the others. */
export async function runAction(
  key: string,
  props: Record<string, unknown> = {},
  steps: Record<string, unknown> = {},
): Promise<Ran> {
  const action = await loadAction(key);
  const ran: Ran = {
    returned: undefined,
    exports: {},
    exits: [],
    responses: [],
    delays: [],
    mails: [],
    objects: [],
    triggered: [],
  };
  const run = action.run as (this: unknown, step: StepArguments) => unknown;
  const instance = { ...defaultsOf(action), ...props };
  ran.returned = await run.call(instance, { steps, $: recording(ran) });
  return ran;
}

/** The error that the action ends with. */
export async function failureOf(
  key: string,
  props: Record<string, unknown> = {},
  steps: Record<string, unknown> = {},
): Promise<Error> {
  try {
    await runAction(key, props, steps);
  } catch (error) {
    return error as Error;
  }
  throw new Error(`${key} does not fail`);
}

function recording(ran: Ran): StepArguments["$"] {
  return {
    export: (name, value) => void (ran.exports[name] = value),
    respond: (response) => Promise.resolve(ran.responses.push(response)),
    flow: {
      exit: (reason) => void ran.exits.push(reason),
      delay: (milliseconds) => {
        ran.delays.push(milliseconds);
        return { resume_url: "resume", cancel_url: "cancel" };
      },
      trigger: (workflow, event) => {
        ran.triggered.push({ workflow, event });
        return Promise.resolve("triggered");
      },
    },
    send: {
      email: (mail) => void ran.mails.push(mail),
      s3: (object) => void ran.objects.push(object),
    },
  };
}

function defaultsOf({ props = {} }: Component): Record<string, unknown> {
  const definitions = Object.entries(props as Record<string, { default?: unknown }>);
  return Object.fromEntries(
    definitions
      .filter(([, definition]) => definition.default !== undefined)
      .map(([name, definition]) => [name, definition.default]),
  );
}

export interface Seen {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** A server on this machine that records requests, and the answer to each. */
export function startServer(answer: (request: Seen) => globalThis.Response) {
  const seen: Seen[] = [];
  const handler = async (request: Request) => {
    const { pathname, search } = new URL(request.url);
    const one = {
      method: request.method,
      path: pathname + search,
      headers: Object.fromEntries(request.headers),
      body: await request.text(),
    };
    seen.push(one);
    return answer(one);
  };
  const options = { port: 0, hostname: "127.0.0.1", onListen() {} };
  const server = Deno.serve(options, handler);
  return {
    seen,
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
