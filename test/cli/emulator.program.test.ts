import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { PodPartner } from "pod-partner";
import { createEmulator, sampleImage } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { freePort } from "../support/port.ts";
import { runMain } from "./main.ts";
import { start, startCli } from "./process.ts";

const key = "emulator-secret-key";
const headers = { "X-Service-Secret-Key": key };

/** Starts the emulator on a free port. Resolves when it has printed all its lines. */
async function startEmulator(args: readonly string[] = [], environment: Record<string, string> = {}) {
  const running = startCli(["emulator", "--port", "0", ...args], environment);
  const [, baseUrl = ""] = await running.until(/Base URL +(\S+)[\s\S]*Ctrl-C/);
  return { ...running, baseUrl };
}

describe("pod-partner emulator", () => {
  it("prints addresses, key, and lines for a shell, curl and the SDK that work as they are", async () => {
    const { output, baseUrl } = await startEmulator();
    const { origin } = new URL(baseUrl);
    const lines = output().split("\n");
    expect(lines).toEqual(
      expect.arrayContaining([
        `  Base URL    ${origin}/v2`,
        `  Secret key  ${key}`,
        `  Quickstart  ${origin}/_emulator/quickstart`,
        `  Page        ${origin}/`,
      ]),
    );
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    const run = async (script: string) => {
      const shell = start("sh", ["-c", script]);
      await shell.ended;
      return shell.output();
    };
    const variables = lines.filter((line) => line.startsWith("  export ")).join("\n");
    const used = await run(`${variables}\necho "$POD_PARTNER_BASE_URL $POD_PARTNER_SECRET_KEY"`);
    expect(used).toBe(`${baseUrl} ${key}\n`);
    const [curl = ""] = /^ +curl .+\\\n.+$/m.exec(output()) ?? [];
    expect(JSON.parse(await run(`${curl} --silent`))).toMatchObject({ stores: [{ legacyCode: "DEMO" }, {}, {}] });
    const [, code = ""] = /^ +const partner = (new PodPartner\([\s\S]+?\));$/m.exec(output()) ?? [];
    const partner: PodPartner = new Function("PodPartner", `return ${code}`)(PodPartner);
    expect((await partner.auth.validate()).message).toBe("The key is valid");
  });

  it("starts with the orders of --orders, and the references of --seed, at --port", async () => {
    const port = await freePort();
    const running = startCli(["emulator", "--port", String(port), "--orders", "3", "--seed", "7"]);
    await running.until(/Ctrl-C/);
    const response = await fetch(`http://127.0.0.1:${port}/v2/orders`, { headers });
    const { orders } = (await response.json()) as { orders: { reference: string }[] };
    const referencesOf = (number: number) =>
      createEmulator({ seed: { number, orders: 3 } })
        .world()
        .organizations[0]?.orders.map(({ reference }) => reference)
        .toSorted();
    const references = orders.map(({ reference }) => reference).toSorted();
    expect(references).toEqual(referencesOf(7));
    expect(references).not.toEqual(referencesOf(8));
  });

  it("has the origin of --public-url in the base URL and in the URLs of responses", async () => {
    const port = await freePort();
    const running = startCli(["emulator", "--port", String(port), "--public-url", "https://tunnel.example"]);
    await running.until(/Base URL +https:\/\/tunnel\.example\/v2\n[\s\S]*Ctrl-C/);
    const products = await fetch(`http://127.0.0.1:${port}/v2/products`, { headers });
    const [{ reference }] = ((await products.json()) as { products: [{ reference: string }] }).products;
    const product = await fetch(`http://127.0.0.1:${port}/v2/products/${reference}`, { headers });
    expect(await product.text()).toContain('"https://tunnel.example/v2/products/');
  });
});

describe("the host", () => {
  it("is another with --host, with a warning", async () => {
    const { baseUrl, errors } = await startEmulator(["--host", "0.0.0.0"]);
    expect(baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v2$/);
    await expect.poll(errors).toMatch(/^Warning: every program that reaches 0\.0\.0\.0 can use .+\n$/);
  });

  it("can be an address of IPv6", async () => {
    const { baseUrl, errors } = await startEmulator(["--host", "::1"]);
    expect(baseUrl).toMatch(/^http:\/\/\[::1\]:\d+\/v2$/);
    expect((await fetch(`${baseUrl}/stores`, { headers })).status).toBe(200);
    expect(errors()).toBe("");
  });
});

describe("an emulator that cannot start", () => {
  it("says that the port is in use, and which option chooses another", async () => {
    const { baseUrl } = await startEmulator();
    const port = Number(new URL(baseUrl).port);
    const { code, output, errors } = await runMain(["emulator", "--port", String(port)]);
    expect({ code, output }).toEqual({ code: 1, output: "" });
    expect(errors).toMatch(
      /^pod-partner: Port \d+ of 127\.0\.0\.1 is in use\. .+: --port \d+ \(0 is any free port\)\.\n$/,
    );
  });

  it("says that the host is not an address of the machine", async () => {
    const { code, errors } = await runMain(["emulator", "--host", "10.255.255.254"]);
    expect(code).toBe(1);
    expect(errors).toMatch(/^pod-partner: 10\.255\.255\.254 is not an address of this machine\. .+\n$/);
  });
});

describe("an address that looks real", () => {
  it.each(["--host=8.8.8.8", "--public-url=https://abc.tunnel.dev", "--callback-url=https://shop.com/callback"])(
    "is refused in %s, with the flag that allows it",
    async (flag) => {
      const { code, output, errors } = await runMain(["emulator", "--port", "0", flag]);
      expect({ code, output }).toEqual({ code: 2, output: "" });
      const name = flag.slice(0, flag.indexOf("="));
      expect(errors).toMatch(
        new RegExp(`^pod-partner: ${name}: \\S+ looks like a real service: .+, add --allow-remote\\.`),
      );
    },
  );

  it("is used with --allow-remote", async () => {
    const { baseUrl } = await startEmulator(["--public-url", "https://abc.tunnel.dev", "--allow-remote"]);
    expect(baseUrl).toBe("https://abc.tunnel.dev/v2");
  });
});

describe("the end of the emulator", () => {
  it.each(["SIGINT", "SIGTERM"] as const)("is clean after %s, also with an open connection", async (signal) => {
    const running = await startEmulator();
    const socket = connect(Number(new URL(running.baseUrl).port), "127.0.0.1");
    socket.on("error", () => undefined).resume();
    await once(socket, "connect");
    socket.write(
      `POST /v2/images HTTP/1.1\r\nHost: localhost\r\nX-Service-Secret-Key: ${key}\r\nContent-Length: 9\r\n\r\n`,
    );
    const closed = new Promise((resolve) => socket.once("close", resolve));
    running.kill(signal);
    expect(await running.ended).toEqual({ code: 0, signal: null });
    await closed;
    expect(running.errors()).toBe("");
  });

  it("says what is lost, and nothing when nothing was made", async () => {
    const running = await startEmulator(["--orders", "5"]);
    const image = { method: "POST", headers: { ...headers, "Content-Type": "application/octet-stream" } };
    await fetch(`${running.baseUrl}/images`, { ...image, body: sampleImage("one") });
    running.kill("SIGINT");
    expect(await running.ended).toMatchObject({ code: 0 });
    expect(running.output()).toMatch(
      /\nEnded\. 1 upload of this run is gone; keep a world with --save world\.json\.\n$/,
    );
    const idle = await startEmulator(["--orders", "5"]);
    idle.kill("SIGINT");
    await idle.ended;
    expect(idle.output()).not.toContain("Ended");
  });

  it("is at once at the second signal", async () => {
    const running = start(process.execPath, [fileURLToPath(new URL("until-signal.ts", import.meta.url))]);
    await running.until(/ready/);
    running.kill("SIGINT");
    await running.until(/stopping/);
    running.kill("SIGINT");
    expect(await running.ended).toEqual({ code: null, signal: "SIGINT" });
  });

  it("is clean when the reader of the output has gone", async () => {
    const running = await startEmulator();
    running.closeOutput();
    await fetch(`${running.baseUrl}/stores`, { headers }).catch(() => undefined);
    expect(await running.ended).toEqual({ code: 0, signal: null });
    expect(running.errors()).toBe("");
  });
});

it.skipIf(!existsSync("/dev/full"))("says in one line that the output cannot be written", async () => {
  const running = start("sh", ["-c", `'${process.execPath}' dist/cli.js --help > /dev/full`]);
  expect(await running.ended).toMatchObject({ code: 1 });
  expect(running.errors()).toMatch(/^pod-partner: The output cannot be written: .*ENOSPC.*\.\n$/);
});
