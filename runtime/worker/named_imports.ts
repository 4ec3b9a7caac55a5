/**
 * Makes functions that components import from built-ins by name the replaced ones.
 *
 * The import map names the modules that re-export them. They are loaded here, once
 * everything is replaced and before the component: what the runtime has loaded a
 * component may import, while the sandbox lets it read no file of the runtime.
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
