/**
 * Timer functions imported by name, owned by the run that starts them.
 *
 * Bindings of a built-in module cannot be replaced; the import map sends components
 * here instead. Evaluated after the runtime has replaced the functions on the module
 * object, which are exported over the module's own. Not responsible for their behaviour.
 */

import timers from "node:timers";

export * from "node:timers";
export default timers;

export const { setImmediate, setInterval, setTimeout } = timers;
