import { execFile } from "node:child_process";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
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

/** A test of a page, in which uploads of its own `Blob` and `File` arrive. */
const uploadsOf = (head: string) => `${head}
test("a page uploads its own blob and file", async () => {
  const emulator = createEmulator();
  const partner = new PodPartner({ ...emulator.clientOptions, dangerouslyAllowBrowser: true });
  const picture = sampleImage("a picture of a page");
  const { reference } = await partner.images.upload(Uint8Array.from(picture));
  const sources = [new Blob([picture]), new File([picture], "design.png", { type: "image/png" })];
  for (const source of sources) {
    expect(await partner.images.upload(source)).toEqual({ reference });
    expect((await partner.images.uploadOnce(source)).reference).toBe(reference);
  }
  const controller = new AbortController();
  const stopped = partner.orders.list({ signal: controller.signal }).toArray();
  controller.abort();
  await expect(stopped).rejects.toMatchObject({ name: "AbortError" });
  expect((await partner.orders.ensure(validOrder(emulator, { customIdentifier: "shop-1" }))).existed).toBe(false);
});
`;
const names = "createEmulator, sampleImage, validOrder";
const modules = `import { PodPartner } from "pod-partner";
import { ${names} } from "pod-partner/testing";
import { expect, test } from "vitest";`;

/** As vitest's own, which would look for the package beside vitest. */
const environmentOf = (tool: string, make: string) => `
import { populateGlobal } from "vitest/runtime";
const tool = await import(${JSON.stringify(pathToFileURL(tool).href)});
export default {
  name: "page",
  viteEnvironment: "client",
  setup(global) {
    const { keys, originals } = populateGlobal(global, ${make}, { bindFunctions: true });
    return {
      teardown(global) {
        for (const key of keys) delete global[key];
        for (const [name, value] of originals) global[name] = value;
      },
    };
  },
};
`;
const environments: Readonly<Record<string, string>> = {
  jsdom: environmentOf(
    join(toolOf("jsdom") ?? "", "lib/api.js"),
    'new tool.default.JSDOM("<!doctype html>", { url: "http://localhost:3000", runScripts: "dangerously" }).window',
  ),
  "happy-dom": environmentOf(
    join(toolOf("happy-dom") ?? "", "lib/index.js"),
    'new tool.Window({ url: "http://localhost:3000" })',
  ),
};

describe("a test of a page", () => {
  for (const environment of ["jsdom", "happy-dom"]) {
    it.skipIf(toolOf(environment) === undefined)(`uploads in vitest's ${environment}`, async () => {
      const folder = await installedProject();
      await symlink(join(root, "node_modules/vitest"), join(folder, "node_modules/vitest"), "dir");
      await writeFile(join(folder, "page.mjs"), environments[environment] ?? "");
      await writeFile(join(folder, "page.test.js"), uploadsOf(`// @vitest-environment ./page.mjs\n${modules}`));
      const output = await start([join(root, "node_modules/vitest/vitest.mjs"), "run", "--root", folder], folder);
      expect(output).toContain("Tests  1 passed (1)");
    });
  }
});

describe("the test of docs/testing.md", () => {
  it("passes in vitest", async () => {
    const folder = await installedProject();
    await symlink(join(root, "node_modules/vitest"), join(folder, "node_modules/vitest"), "dir");
    await writeFile(join(folder, "shop.test.js"), testFor("vitest"));
    const output = await start([join(root, "node_modules/vitest/vitest.mjs"), "run", "--root", folder], folder);
    expect(output).toContain("Tests  1 passed (1)");
  });

  const jest = toolOf("jest");
  it.skipIf(jest === undefined)("passes in Jest", async () => {
    const folder = await installedProject();
    await writeFile(join(folder, "shop.test.js"), testFor("jest"));
    await writeFile(join(folder, "package.json"), "{}");
    expect(await start([join(jest ?? "", "bin/jest.js")], folder)).toContain("Tests:       1 passed, 1 total");
  });
});
