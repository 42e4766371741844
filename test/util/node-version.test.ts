import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

const entryPoints: readonly [string, () => Promise<unknown>][] = [
  ["pod-partner", () => import("pod-partner")],
  ["pod-partner/testing", () => import("pod-partner/testing")],
];

describe.each(entryPoints)("the import of %s", (_, load) => {
  beforeEach(() => void vi.resetModules());
  afterEach(() => void vi.unstubAllGlobals());
  const on = (versions: object) => vi.stubGlobal("process", { ...process, env: {}, versions });

  it.each(["20.19.0", "22.11.0", "18.0.0"])(
    "fails with one line and a code on Node %s, which is too old",
    async (node) => {
      on({ node });
      await expect(load()).rejects.toMatchObject({
        message: `pod-partner needs Node 22.12 or newer; this is Node ${node}.`,
        code: "ERR_POD_PARTNER_NODE_VERSION",
      });
    },
  );

  it.each([
    { node: "22.12.0" },
    { node: "24.0.0" },
    { node: "22.6.0", bun: "1.2.0" },
    { node: "20.11.1", deno: "2.0.0" },
  ])("works with %j", async (versions) => {
    on(versions);
    await expect(load()).resolves.toBeDefined();
  });
});
