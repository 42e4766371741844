import { createEmulator, startEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";

const local = [
  "localhost",
  "localhost.",
  "api.localhost",
  "127.0.0.1",
  "127.8.9.1",
  "0x7f.1",
  "0.0.0.0",
  "10.1.2.3",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.0.9",
  "[::1]",
  "[::]",
  "[fd12:3456::1]",
  "[fc00::1]",
  "shop",
  "shop_api",
  "host.docker.internal",
  "metadata-service",
  "shop-metadata.internal",
  "[fd00:ec3::254]",
  "shop.test",
  "SHOP.TEST.",
  "tunnel.example",
  "printer.local",
  "none.invalid",
];

const remote = [
  "api.shop.com",
  "shop.example.com",
  "test.shop.com",
  "localhost.shop.com",
  "127.0.0.1.nip.io",
  "10.0.0.1.shop.com",
  "shop.testing",
  "shop.localdomain",
  "8.8.8.8",
  "11.0.0.1",
  "100.64.0.1",
  "172.15.0.1",
  "172.32.0.1",
  "192.169.0.1",
  "[2001:db8::1]",
  "[fe80::1]",
  "[fc::1]",
  "[::ffff:8.8.8.8]",
  "134744072",
  "bücher.de",
];

/** Hosts where clouds serve credentials of a machine. */
const metadata = [
  "metadata.google.internal",
  "METADATA.google.internal.",
  "metadata",
  "metadata.azure.internal",
  "metadata.goog",
  "instance-data",
  "instance-data.ec2.internal",
  "169.254.169.254",
  "2852039166",
  "0xa9fea9fe",
  "169.254.170.2",
  "100.100.100.200",
  "[fd00:ec2::254]",
  "[fd00:ec2::23]",
  "[fd20:ce::254]",
  "[::ffff:169.254.169.254]",
  "[::ffff:a9fe:a9fe]",
  "[0:0:0:0:0:ffff:169.254.169.254]",
  "[64:ff9b::169.254.169.254]",
  "[::ffff:100.100.100.200]",
];

describe("a host of this machine, of a private network, or reserved", () => {
  it.each(local)("%s is taken in each URL", (host) => {
    const callbackUrl = `http://${host}:8080/callback`;
    const emulator = createEmulator({ baseUrl: `http://${host}:8080/v2`, callbackUrl });
    emulator.setCallbackUrl(emulator.demo.stores.api, `${callbackUrl}?a=1`);
    expect(emulator.world().organizations[0]?.stores[0]?.callbackUrl).toBe(`${callbackUrl}?a=1`);
  });
});

describe("a metadata host of a cloud", () => {
  it.each(metadata)("%s is refused in each URL", (host) => {
    const message = `${new URL(`http://${host}`).hostname} is a host where clouds serve the credentials of a machine`;
    expect(() => createEmulator({ baseUrl: `http://${host}/v2` })).toThrow(`baseUrl: ${message}`);
    expect(() => createEmulator({ callbackUrl: `http://${host}/latest/` })).toThrow(`callbackUrl: ${message}`);
    const emulator = createEmulator();
    expect(() => emulator.setCallbackUrl(emulator.demo.stores.api, `http://${host}/`)).toThrow(`url: ${message}`);
    const saved = emulator.world();
    const [demo] = saved.organizations;
    const [store] = demo?.stores ?? [];
    if (store !== undefined) store.callbackUrl = `http://${host}/`;
    expect(() => emulator.load(saved)).toThrow(message);
  });
});

describe("a host that looks real", () => {
  it.each(remote)("%s is refused in each URL", (host) => {
    const { hostname } = new URL(`http://${host}`);
    const message = `${hostname} looks like a real service`;
    expect(() => createEmulator({ baseUrl: `https://${host}/v2` })).toThrow(`baseUrl: ${message}`);
    expect(() => createEmulator({ callbackUrl: `https://${host}/` })).toThrow(`callbackUrl: ${message}`);
    const emulator = createEmulator();
    const set = () => emulator.setCallbackUrl(emulator.demo.stores.api, `https://${host}/`);
    expect(set).toThrow(`url: ${message}`);
    expect(emulator.world().organizations[0]?.stores[0]?.callbackUrl).toBeNull();
  });

  it("is refused for a store of another organization", () => {
    const stores = [{ name: "Shop", legacyCode: "SHOP", callbackUrl: "https://shop.com/" }];
    const organizations = [{ name: "Other", keys: [{ secretKey: "key-of-other" }], stores }];
    const message = "organizations.Other.SHOP.callbackUrl: shop.com looks like a real service";
    expect(() => createEmulator({ organizations })).toThrow(message);
  });

  it.each([{ publicUrl: "https://abc.tunnel.dev" }, { host: "8.8.8.8" }, { callbackUrl: "https://shop.com/" }])(
    "%j is refused before a port is open",
    async (options) => {
      const open = () => process.getActiveResourcesInfo().filter((name) => name === "TCPServerWrap").length;
      const before = open();
      const [option] = Object.keys(options);
      await expect(startEmulator(options)).rejects.toThrow(new RegExp(`${option}: .+ looks like a real service`));
      expect(open()).toBe(before);
    },
  );

  it("is refused in a saved world, and the state stays as it was", () => {
    const saved = createEmulator({ callbackUrl: "https://shop.com/", allowRemote: true, seed: { orders: 1 } }).world();
    const emulator = createEmulator();
    const before = emulator.world();
    expect(() => emulator.load(saved)).toThrow(
      /world\.organizations\.0\.stores\.2\.callbackUrl: shop\.com looks like a real service/,
    );
    expect(emulator.world().organizations).toEqual(before.organizations);
  });
});

describe("allowRemote", () => {
  it("allows public hosts in options, controls and worlds", async () => {
    const emulator = createEmulator({ allowRemote: true, baseUrl: "https://api.shop.com/v2" });
    expect(emulator.baseUrl).toBe("https://api.shop.com/v2");
    emulator.setCallbackUrl(emulator.demo.stores.api, "https://shop.com/callback");
    const other = createEmulator({ allowRemote: true });
    other.load(emulator.world());
    expect(other.world().organizations[0]?.stores[0]?.callbackUrl).toBe("https://shop.com/callback");
    await using running = await startEmulator({ allowRemote: true, publicUrl: "https://abc.tunnel.dev" });
    expect(running.baseUrl).toBe("https://abc.tunnel.dev/v2");
  });

  it("applies to isolated worlds, too", async () => {
    await using emulator = await startEmulator();
    expect(() => emulator.worlds.create({ callbackUrl: "https://shop.com/" })).toThrow("looks like a real service");
    using world = emulator.worlds.create({ callbackUrl: "https://shop.com/", allowRemote: true });
    expect(world.world().organizations[0]?.stores[0]?.callbackUrl).toBe("https://shop.com/");
  });
});
