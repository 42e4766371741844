import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/**
 * Reads a file of the package. The package finds itself by its name, so that its build, its sources, and a program that bundles it read
 * the same files (decision 0019).
 */
export function readPackageFile(path: string): Buffer<ArrayBuffer> {
  // A bundler that writes CommonJS leaves no URL of this module.
  const from: string = import.meta.url ?? join(process.cwd(), "any.js");
  const manifest = createRequire(from).resolve("pod-partner/package.json");
  return readFileSync(join(dirname(manifest), path));
}
