/**
 * Errors about values that somebody has to change before the step can work.
 *
 * The platform knows them by their name and never retries them. Not imported from
 * `@pipedream/platform`, whose loading costs more than most of these actions. Not for
 * failures of services, which pass.
 */

export function configurationError(message: string): Error {
  const error = new Error(message);
  error.name = "ConfigurationError";
  return error;
}
