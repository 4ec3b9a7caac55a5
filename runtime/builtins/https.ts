/**
 * HTTPS request functions imported by name, through the runtime's routes.
 *
 * Bindings of a built-in module cannot be replaced; the import map sends components
 * here instead. Evaluated after the runtime has replaced the functions on the module
 * object, which are exported over the module's own. Not responsible for their behaviour.
 */

import https from "node:https";

export * from "node:https";
export default https;

export const { get, request } = https;
