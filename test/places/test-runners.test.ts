import { execFile } from "node:child_process";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { testFor } from "../examples/blocks.ts";
import { installedProject, root } from "../package/tarball.ts";
import { toolOf } from "./places.ts";

const { NODE_OPTIONS: _, VITEST: __, NODE_ENV: ___, ...rest } = process.env;

/** Runs a program, and resolves to what it prints; rejects with it when it fails. */
async function start(args: readonly string[], cwd: string): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, {
    cwd,
    env: { ...rest, NO_COLOR: "1" },
  });
  return stdout + stderr;
}

describe("the test of docs/testing.md", () => {
  it("passes in vitest", async () => {
    const folder = await installedProject();
    await symlink(join(root, "node_modules/vitest"), join(folder, "node_modules/vitest"), "dir");
    await writeFile(join(folder, "shop.test.js"), testFor("vitest"));
    const output = await start([join(root, "node_modules/vitest/vitest.mjs"), "run", "--root", folder], folder);
    expect(output).toContain("Tests  1 passed (1)");
  });

  it("passes in node:test", async () => {
    const folder = await installedProject();
    await writeFile(join(folder, "shop.test.mjs"), testFor("node"));
    expect(await start(["--test", "--test-reporter=tap"], folder)).toContain("# pass 1");
  });

  const jest = toolOf("jest");
  it.skipIf(jest === undefined)("passes in Jest", async () => {
    const folder = await installedProject();
    await writeFile(join(folder, "shop.test.js"), testFor("jest"));
    await writeFile(join(folder, "package.json"), "{}");
    expect(await start([join(jest ?? "", "bin/jest.js")], folder)).toContain("Tests:       1 passed, 1 total");
  });
});
