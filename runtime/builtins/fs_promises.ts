/**
 * Promise file functions imported by name, with the worker's own folder as `/tmp`.
 *
 * Bindings of a built-in module cannot be replaced; the import map sends components
 * here instead. Evaluated after the runtime has replaced the functions on the module
 * object, which are exported over the module's own. Not responsible for their behaviour.
 */

import fsPromises from "node:fs/promises";

export * from "node:fs/promises";
export default fsPromises;

export const {
  access,
  appendFile,
  chmod,
  chown,
  copyFile,
  cp,
  lchmod,
  lchown,
  link,
  lstat,
  lutimes,
  mkdir,
  mkdtemp,
  open,
  opendir,
  readFile,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  statfs,
  symlink,
  truncate,
  unlink,
  utimes,
  watch,
  writeFile,
} = fsPromises;
