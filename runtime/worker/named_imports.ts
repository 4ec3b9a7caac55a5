/**
 * Lets components import the replaced functions from built-ins by name.
 *
 * The import map names the modules that re-export them. They are loaded here, after all
 * replacements and before any component: a component may import modules that the runtime
 * has loaded, but the sandbox does not let it read the runtime's files.
 */

export async function loadNamedImports(): Promise<void> {
  await Promise.all([
    import("../builtins/child_process.ts"),
    import("../builtins/fs.ts"),
    import("../builtins/fs_promises.ts"),
    import("../builtins/http.ts"),
    import("../builtins/https.ts"),
    import("../builtins/timers.ts"),
  ]);
}
