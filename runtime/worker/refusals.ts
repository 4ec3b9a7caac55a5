/**
 * Refusals of the sandbox, worded for the author of a component.
 *
 * Deno's advice is for the person who starts the process. Not responsible for the
 * refusals themselves.
 */

const ADVICE = /, run again with the --allow-(\w+) flag/g;

const ALLOWED: Record<string, string> = {
  net:
    ", which is refused: it is a private address that the node does not allow; its " +
    "--allow-private-network can name its range",
  read: ", which is not allowed here: components read their own code and /tmp",
  write: ", which is not allowed here: components write to /tmp",
};

/** Text without advice on flags. */
export function withoutAdvice(text: string): string {
  if (!text.includes("--allow-")) return text;
  return text.replace(
    ADVICE,
    (_, flag: string) => ALLOWED[flag] ?? ", which is not allowed here",
  );
}

/** The same error with a message and a stack that `say` has changed. */
export function retold(thrown: unknown, say: (text: string) => string): unknown {
  if (!(thrown instanceof Error)) return thrown;
  for (const field of ["message", "stack", "path", "dest"] as const) {
    const text = (thrown as unknown as Record<string, unknown>)[field];
    if (typeof text !== "string") continue;
    const changed = say(text);
    if (changed === text) continue;
    Object.defineProperty(thrown, field, {
      value: changed,
      writable: true,
      configurable: true,
      enumerable: field === "path" || field === "dest",
    });
  }
  return thrown;
}

/** The same error without advice on flags, its cause likewise. */
export function inOurWords(thrown: unknown): unknown {
  if (thrown instanceof Error && thrown.cause !== undefined) {
    retold(thrown.cause, withoutAdvice);
  }
  return retold(thrown, withoutAdvice);
}
