import { type ConfigurationError, PodPartner, type PodPartnerOptions } from "pod-partner";
import { type NodeTransportOptions, nodeTransport } from "pod-partner/node";
import { afterEach, describe, expect, it, vi } from "vitest";
import { secretKey } from "../support/partner.ts";

const baseUrl = "https://partner.example/v2";

/** The faults of the options, as `path: message`. */
function faultsOf(make: () => unknown): readonly string[] {
  try {
    make();
  } catch (error) {
    const { name, issues } = error as ConfigurationError;
    expect(name).toBe("ConfigurationError");
    return issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  }
  return [];
}

describe("the client's option `transport`", () => {
  const given = (options: object) => faultsOf(() => new PodPartner({ baseUrl, secretKey, ...options }));

  it("accepts the result of nodeTransport", () => {
    expect(given({ transport: nodeTransport() })).toEqual([]);
    expect(nodeTransport().kind).toBe("node");
  });

  it("refuses anything else", () => {
    for (const transport of [null, "node", {}, fetch, nodeTransport, { send: 1 }] as unknown[])
      expect(given({ transport } as PodPartnerOptions)).toEqual([expect.stringMatching(/^transport: .*nodeTransport/)]);
  });

  it("refuses `fetch` beside it", () => {
    expect(given({ transport: nodeTransport(), fetch })).toEqual([expect.stringMatching(/^fetch: .*`transport`/)]);
  });
});

describe("the options of nodeTransport", () => {
  const given = (options: unknown) => faultsOf(() => nodeTransport(options as NodeTransportOptions));
  afterEach(() => void vi.unstubAllEnvs());

  it.each([
    [{ maxSockets: 0 }, /^maxSockets: /],
    [{ maxSockets: 1.5 }, /^maxSockets: /],
    [{ connectTimeout: -1 }, /^connectTimeout: /],
    [{ ca: "no certificate" }, /^ca: .*PEM/],
    [{ ca: [] }, /^ca: .*PEM/],
    [{ proxy: "proxy.example:3128" }, /^proxy: .*http:\/\//],
    [{ proxy: "socks5://proxy.example" }, /^proxy: .*http:\/\//],
    [{ maxSocket: 1 }, /^maxSocket: .*maxSockets/],
    [null, /expected/],
  ])("refuse %j", (options, fault) => {
    expect(given(options)).toEqual([expect.stringMatching(fault)]);
  });

  it("accept each documented value", () => {
    expect(given({ maxSockets: 8, connectTimeout: 500, proxy: "http://user:word@proxy.example:3128" })).toEqual([]);
    expect(given({ proxy: true, ca: "-----BEGIN CERTIFICATE-----" })).toEqual([]);
    expect(given({ proxy: false, ca: [Buffer.from("-----BEGIN CERTIFICATE-----")] })).toEqual([]);
  });

  it("say that a proxy needs a newer Node, also if only the environment asks for one", () => {
    const version = Object.getOwnPropertyDescriptor(process, "versions");
    try {
      for (const node of ["22.12.0", "22.20.9", "23.11.0", "24.4.1"]) {
        Object.defineProperty(process, "versions", { value: { ...process.versions, node }, configurable: true });
        expect(given({ proxy: true })).toEqual([expect.stringMatching(`^proxy: needs Node .* is Node ${node}`)]);
        vi.stubEnv("NODE_USE_ENV_PROXY", "1");
        expect(given({})).toEqual([expect.stringMatching(/^proxy: .*NODE_USE_ENV_PROXY/)]);
        expect(given({ proxy: false })).toEqual([]);
        vi.unstubAllEnvs();
        expect(given({})).toEqual([]);
      }
    } finally {
      if (version !== undefined) Object.defineProperty(process, "versions", version);
    }
  });

  it("say that Bun and Deno need the default transport", () => {
    const version = Object.getOwnPropertyDescriptor(process, "versions");
    try {
      Object.defineProperty(process, "versions", { value: { ...process.versions, deno: "2.9.6" }, configurable: true });
      expect(given({})).toEqual([expect.stringMatching(/needs Node/)]);
    } finally {
      if (version !== undefined) Object.defineProperty(process, "versions", version);
    }
  });
});
