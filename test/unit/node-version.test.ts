import { PodPartner } from "pod-partner";
import { createEmulator } from "pod-partner/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { secretKey } from "../support/partner.ts";

const makes: readonly [string, () => unknown][] = [
  ["a client", () => new PodPartner({ baseUrl: "https://partner.example/v2", secretKey })],
  ["an emulator", () => createEmulator()],
];

describe.each(makes)("making %s", (_, make) => {
  afterEach(() => void vi.unstubAllGlobals());
  const on = (versions: object) => vi.stubGlobal("process", { ...process, env: {}, versions });

  it.each(["20.19.0", "22.11.0", "18.0.0"])("reports in one line that Node %s is too old", (node) => {
    on({ node });
    expect(make).toThrow(`pod-partner needs Node 22.12 or newer; this is Node ${node}.`);
  });

  it.each([
    { node: "22.12.0" },
    { node: "24.0.0" },
    { node: "22.6.0", bun: "1.2.0" },
    { node: "20.11.1", deno: "2.0.0" },
  ])("works with %j", (versions) => {
    on(versions);
    expect(make).not.toThrow();
  });
});
