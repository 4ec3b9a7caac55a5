/**
 * Unhandled rejections and exceptions thrown in callbacks.
 *
 * They must not end the worker, which other runs share. Not responsible for finding the
 * run they belong to.
 */

export type StrayFailureHandler = (thrown: unknown) => void;

export function installStrayFailures(onFailure: StrayFailureHandler): void {
  addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    onFailure(event.reason);
  });
  addEventListener("error", (event) => {
    event.preventDefault();
    onFailure(event.error);
  });
}
