import type http from "node:http";
import type https from "node:https";

/**
 * The HTTP client of Node for a protocol. It is not imported: an import reads all exports of the module, and one of them loads the whole
 * `fetch` of Node. Its functions are read at each use, because instruments replace them.
 */
export const httpModule = (protocol: string): typeof http | typeof https =>
  process.getBuiltinModule(protocol === "https:" ? "node:https" : "node:http");
