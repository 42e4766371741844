import type http from "node:http";
import type https from "node:https";

const modules = new Map<string, typeof http | typeof https>();

/**
 * The HTTP client of Node for a protocol. It is not imported: an import reads all exports of the module, and one of them loads the whole
 * `fetch` of Node. Its functions are read at each use, because instruments replace them.
 */
export function httpModule(protocol: string): typeof http | typeof https {
  let module = modules.get(protocol);
  if (module === undefined) {
    module = process.getBuiltinModule(protocol === "https:" ? "node:https" : "node:http");
    modules.set(protocol, module);
  }
  return module;
}
