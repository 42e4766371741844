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

/** Tests in which `simulate` finds a mistake, lets a careful program pass, and restores the platform. */
const simulation = `
const assert = require("node:assert/strict");
const nodeCrypto = require("node:crypto");
const timers = require("node:timers/promises");
const { PodPartner } = require("pod-partner");
const { simulate, validOrder } = require("pod-partner/testing");

const setUp = ({ database, emulator }) =>
  database.put("orders", "shop-1", validOrder(emulator, { customIdentifier: "shop-1" }));

const forgetful = async ({ clientOptions, database, storage }) => {
  const partner = new PodPartner({ ...clientOptions, storage });
  for (const order of await database.all("orders")) {
    if (await database.get("placed", order.customIdentifier)) continue;
    await timers.setTimeout(3_600_000);
    await new Promise((resolve) => setTimeout(resolve, 3_600_000));
    const customIdentifier = nodeCrypto.randomUUID() + Date.now() + Math.random();
    await partner.orders.create({ ...order, customIdentifier }, { signal: AbortSignal.timeout(600_000) });
    await database.put("placed", order.customIdentifier, true);
  }
};

const careful = async ({ clientOptions, database, storage }) => {
  const partner = new PodPartner({ ...clientOptions, storage });
  for (const order of await database.all("orders")) await partner.orders.ensure(order);
};

const platform = () => [
  setTimeout, clearTimeout, setInterval, clearInterval, Date, Math.random, AbortSignal.timeout, performance.now,
  crypto.randomUUID, nodeCrypto.randomUUID, timers.setTimeout, process.emit,
];

test("finds the same mistake each time, and leaves real timers behind", async () => {
  const before = platform();
  const find = () => simulate(forgetful, { setUp, schedules: 20 }).then(() => "nothing", (error) => error.message);
  const story = await find();
  assert.match(story, /^made twice: [^]*waits 3600 s[^]*7200\\.\\d\\d s[^]*replay: "1 \\w+:kill/);
  assert.equal(await find(), story);
  platform().forEach((value, index) => assert.equal(value, before[index]));
  const began = Date.now();
  await timers.setTimeout(20);
  assert.ok(Date.now() - began < 3_000_000);
}, 300_000);

test("lets a careful program pass", async () => {
  const { operations } = await simulate(careful, { setUp, schedules: 10 });
  assert.equal(operations.request, 2);
}, 300_000);
`;

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

describe("a test with simulate", () => {
  it("passes in node:test", async () => {
    const folder = await installedProject();
    await writeFile(join(folder, "simulate.test.cjs"), `const { test } = require("node:test");${simulation}`);
    expect(await start(["--test", "--test-reporter=tap", "simulate.test.cjs"], folder)).toContain("# pass 2");
  });

  const jest = toolOf("jest");
  it.skipIf(jest === undefined)("passes in Jest", async () => {
    const folder = await installedProject();
    await writeFile(join(folder, "simulate.test.js"), simulation);
    await writeFile(join(folder, "package.json"), "{}");
    expect(await start([join(jest ?? "", "bin/jest.js")], folder)).toContain("Tests:       2 passed, 2 total");
  });
});
