/**
 * Loads the modules that nearly every component imports, before a component is loaded.
 *
 * The first import of a Node built-in initialises a good part of the compatibility
 * layer; a pooled worker has paid for it when its first invocation comes.
 */

import "node:assert";
import "node:async_hooks";
import "node:buffer";
import "node:child_process";
import "node:crypto";
import "node:dns";
import "node:events";
import "node:fs";
import "node:fs/promises";
import "node:http";
import "node:http2";
import "node:https";
import "node:module";
import "node:net";
import "node:os";
import "node:path";
import "node:process";
import "node:querystring";
import "node:stream";
import "node:stream/promises";
import "node:string_decoder";
import "node:timers";
import "node:tls";
import "node:tty";
import "node:url";
import "node:util";
import "node:zlib";
