import { isFunction, propertyOf } from "./foreign.ts";

/** The version in package.json; a test compares the two. */
export const version = "1.0.0";

/** Whether this is a page in a browser, where visitors can read the code and the memory. */
export const inBrowser = () => "window" in globalThis && "document" in globalThis;

/** Node is last, because Bun and Deno also name a version of Node. */
const runtimes = ["bun", "deno", "node"] as const;

/** The `User-Agent`, for example `pod-partner/1.0.0 node/24.9.0`; undefined in a browser, which sends its own. */
export function userAgent(): string | undefined {
  const versions: Readonly<Record<string, string | undefined>> = globalThis.process?.versions ?? {};
  const runtime = runtimes.find((name) => versions[name] !== undefined);
  return runtime === undefined || inBrowser() ? undefined : `pod-partner/${version} ${runtime}/${versions[runtime]}`;
}

/** The built-in modules that the package uses where they exist. */
interface BuiltIns {
  "node:buffer": typeof import("node:buffer");
  "node:async_hooks": typeof import("node:async_hooks");
  "node:crypto": typeof import("node:crypto");
  "node:diagnostics_channel": typeof import("node:diagnostics_channel");
  "node:fs": typeof import("node:fs");
  "node:net": typeof import("node:net");
  "node:os": typeof import("node:os");
  "node:path": typeof import("node:path");
  "node:sqlite": typeof import("node:sqlite");
  "node:timers": typeof import("node:timers");
  "node:url": typeof import("node:url");
  "node:util": typeof import("node:util");
}

/**
 * Returns a built-in module; undefined on a runtime without it. An `import` would break the program, or its build, on Workers and edge
 * runtimes. The edge runtime of Next.js has a `getBuiltinModule` that throws.
 */
export function builtIn<Name extends keyof BuiltIns>(name: Name): BuiltIns[Name] | undefined {
  try {
    return globalThis.process?.getBuiltinModule?.(name) as BuiltIns[Name] | undefined;
  } catch {
    return undefined;
  }
}

/** Returns WebCrypto: the global one, or Node's if a program has replaced or removed the global one, as jsdom does. Throws without either. */
export function webCrypto(): typeof globalThis.crypto {
  const isComplete = (given: unknown): given is typeof globalThis.crypto =>
    ["randomUUID", "getRandomValues"].every((name) => isFunction(propertyOf(given, name))) &&
    isFunction(propertyOf(propertyOf(given, "subtle"), "digest"));
  const found = [globalThis.crypto, builtIn("node:crypto")?.webcrypto].find(isComplete);
  if (found !== undefined) return found;
  throw new Error(
    "This platform has no WebCrypto: the global `crypto` needs `randomUUID`, `getRandomValues` and `subtle`.",
  );
}

/** Returns the modules for files and paths. Throws on a runtime without a file system. */
export function fileModules() {
  const [fs, path] = [builtIn("node:fs"), builtIn("node:path")];
  if (fs === undefined || path === undefined) {
    const message = "This platform has no file system: use bytes or a stream.";
    throw Object.assign(new Error(message), { code: "ERR_POD_PARTNER_NO_FILE_SYSTEM" });
  }
  return { fs: fs.promises, path };
}

/** Throws on an unsupported version of Node. The entry points call it, so that the import fails. */
export function assertRuntime(): void {
  const { node, bun, deno } = globalThis.process?.versions ?? {};
  // Bun and Deno name a version of Node without being it.
  if (node === undefined || bun !== undefined || deno !== undefined) return;
  const [major = 0, minor = 0] = node.split(".").map(Number);
  if (major < 22 || (major === 22 && minor < 12)) {
    const message = `pod-partner needs Node 22.12 or newer; this is Node ${node}.`;
    throw Object.assign(new Error(message), { code: "ERR_POD_PARTNER_NODE_VERSION" });
  }
}
