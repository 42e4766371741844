import { createEmulator, type SavedWorld, startEmulator } from "pod-partner/testing";
import { afterEach, describe, expect, it, vi } from "vitest";

afterEach(() => vi.unstubAllEnvs());

const looksReal = /looks like one of the real service: .+ If you mean it, set `allowRemote: true`/;

describe("a key that looks like one of production is refused, without being shown", () => {
  it.each(["sk_live_4eC39HqLyjWDarjtT1", "prod-4eC39HqLyjWDarjtT1", "pp.PRODUCTION.1f2e3d"])("%s", (secretKey) => {
    const stores: never[] = [];
    for (const options of [
      { secretKey },
      { keys: [{ secretKey }] },
      { organizations: [{ name: "Other", keys: [{ secretKey }], stores }] },
    ]) {
      expect(() => createEmulator(options)).toThrow(looksReal);
      expect(() => createEmulator(options)).not.toThrow(new RegExp(secretKey.replaceAll(".", "\\.")));
      expect(() => createEmulator({ ...options, allowRemote: true })).not.toThrow();
    }
  });

  it("also in an isolated world and in a world that is loaded", async () => {
    await using emulator = await startEmulator();
    expect(() => emulator.worlds.create({ secretKey: "sk_live_1" })).toThrow(looksReal);
    const saved = createEmulator({ keys: [{ secretKey: "sk_live_1" }], allowRemote: true }).world();
    expect(() => emulator.load(structuredClone(saved) as SavedWorld)).toThrow(
      /world\.organizations\.0\.keys\.1\.secretKey: the key looks like one of the real service/,
    );
    createEmulator({ allowRemote: true }).load(saved);
  });
});

describe("the key of the environment", () => {
  it("is refused when the environment names a public host", () => {
    vi.stubEnv("POD_PARTNER_SECRET_KEY", "4eC39HqLyjWDarjtT1zdp7dc");
    vi.stubEnv("POD_PARTNER_BASE_URL", "https://api.shop.com/v2");
    const secretKey = "4eC39HqLyjWDarjtT1zdp7dc";
    expect(() => createEmulator({ secretKey })).toThrow(/POD_PARTNER_BASE_URL names a public host/);
    expect(createEmulator().secretKey).toBe("emulator-secret-key");
    vi.stubEnv("POD_PARTNER_BASE_URL", "http://127.0.0.1:4010/v2");
    expect(createEmulator({ secretKey }).secretKey).toBe(secretKey);
  });
});

it.each(["delivery", "olive", "prodigy", "a1b2c3d4e5f6a7b8c9d0", "emulator-secret-key"])(
  "the key %s is accepted: it has no such word",
  (secretKey) => expect(createEmulator({ secretKey }).secretKey).toBe(secretKey),
);
