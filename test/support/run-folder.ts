import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder that the test files of a run share. */
    readonly runFolder: string;
  }
}

/** Makes a folder for what many test files need and one of them can make: the tarball, and the compiled code of the programs that they start. */
export default (project: TestProject) => {
  const folder = mkdtempSync(join(tmpdir(), "pod-partner-run-"));
  project.provide("runFolder", folder);
  process.env.NODE_COMPILE_CACHE ??= join(folder, "compiled");
  project.onTestsRerun(() => rmSync(join(folder, "packed.json"), { force: true }));
  return () => rmSync(folder, { recursive: true, force: true });
};
