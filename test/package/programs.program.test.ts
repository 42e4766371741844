import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "./tarball.ts";

/*
 * `programs/` has a folder for each version that is out. Its programs are never changed: what compiled with that version compiles with every
 * later one. `npm run bump` writes the names that a version exports; who adds more to the surface adds programs that use it.
 */

/** Compiles the programs as a user does, against the built package. Resolves to the errors. */
const compile = (...flags: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    const options = [
      "--noEmit",
      "--strict",
      "--skipLibCheck",
      "--ignoreConfig",
      "--module",
      "nodenext",
      "--types",
      "node",
    ];
    const libraries = ["--target", "es2023", "--lib", "es2024,esnext.disposable"];
    const files = globSync("test/package/programs/*/*.ts", { cwd: root });
    const compiler = join(root, "node_modules/typescript-native/bin/tsc");
    execFile(
      process.execPath,
      [compiler, ...options, ...libraries, ...flags, ...files],
      { cwd: root },
      (error, output) => resolve(error === null ? "" : output),
    );
  });

it.each([[[]], [["--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess"]]])(
  "the programs of every version that is out compile with %j",
  async (flags) => {
    expect(await compile(...flags)).toBe("");
  },
  300_000,
);
