import { createServer as createTlsServer } from "node:https";
import { startEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { selfSigned } from "../runtimes/self-signed.ts";
import { freePort } from "../support/port.ts";
import { listen } from "../support/raw-server.ts";
import { startStubService } from "../support/stub-service.ts";
import { runMain } from "./main.ts";
import type { Environment } from "./process.ts";

const secretKey = "live-key-5up3r53cr3t-4d5f6";

/** Runs the doctor on a base URL. The key is set. */
const examine = (baseUrl: string, environment: Environment = {}, args: readonly string[] = []) =>
  runMain(["doctor", "--base-url", baseUrl, ...args], { POD_PARTNER_SECRET_KEY: secretKey, ...environment });

describe("doctor on a wrong base URL", () => {
  it.each([
    ["https://partner.example/v3", /must end in\n? +\/v2.*\n +→ Try https:\/\/partner\.example\/v2$/m],
    ["https://partner.example", /must end in\n? +\/v2.*\n +→ Try https:\/\/partner\.example\/v2$/m],
    ["partner.example/v2", /✗ {2}Base URL {6}The value is not valid: expected a URL/],
    ["https://user:pa55word@partner.example/v2", /must not contain credentials/],
  ])("says what is wrong with %s, and sends nothing", async (baseUrl, message) => {
    const { code, output, errors } = await examine(baseUrl);
    expect({ code, errors }).toEqual({ code: 1, errors: "" });
    expect(output).toMatch(message);
    expect(output.match(/^ – .+Not checked: needs a valid base URL$/gm)).toHaveLength(8);
    expect(output).not.toContain("pa55word");
  });

  it("says which environment variables are missing", async () => {
    const { code, output } = await runMain(["doctor"]);
    expect(code).toBe(1);
    expect(output).toMatch(/✗ {2}Base URL {6}No base URL is set\.\n +→ Set POD_PARTNER_BASE_URL/);
    expect(output).toMatch(/✗ {2}Key {11}POD_PARTNER_SECRET_KEY is not set\.\n +→ Make a v2 key/);
    expect(output).toMatch(/\n2 problems\.\n$/);
  });

  it("uses --base-url before the environment variable", async () => {
    await using emulator = await startEmulator();
    const { output } = await examine(emulator.baseUrl, {
      POD_PARTNER_BASE_URL: "https://partner.example/v2",
      POD_PARTNER_SECRET_KEY: emulator.secretKey,
    });
    expect(output).toMatch(/Everything is fine/);
  });
});

describe("doctor on an unusual key", () => {
  it.each(["short", `${secretKey}\n`, `"${secretKey} "`])(
    "refuses the form of %j, and does not print it",
    async (key) => {
      await using emulator = await startEmulator();
      const { code, output } = await examine(emulator.baseUrl, { POD_PARTNER_SECRET_KEY: key });
      expect(code).toBe(1);
      expect(output).toMatch(/✗ {2}Key {11}POD_PARTNER_SECRET_KEY is not a key: (expected|it has quotes)/);
      expect(output).toMatch(/✓ {2}Connection/);
      expect(output).not.toContain(key.trim());
      expect(emulator.requests).toEqual([{ method: "POST", path: "/auth/validate", status: 401 }]);
    },
  );

  it("prints no key that is a part of the base URL", async () => {
    const { output } = await examine(`http://127.0.0.1:${await freePort()}/${secretKey}/v2`);
    expect(output).toMatch(/\/\[secret key\]\/v2/);
    expect(output).not.toContain(secretKey);
  });
});

describe("doctor on a service that cannot be reached", () => {
  it("says that no program listens", async () => {
    const { code, output } = await examine(`http://127.0.0.1:${await freePort()}/v2`);
    expect(code).toBe(1);
    expect(output).toMatch(/✗ {2}Connection {4}No program listens at 127\.0\.0\.1:\d+\.\n +→ Check host and port, /);
    expect(output.match(/Not checked: needs a connection$/gm)).toHaveLength(7);
  });

  it("says that the host name is unknown", async () => {
    const { code, output } = await examine("https://no-such-host.invalid/v2");
    expect(code).toBe(1);
    expect(output).toMatch(/The host name of no-such-host\.invalid is unknown/);
  });

  it("says that the certificate is not accepted", async () => {
    await using server = await listen(createTlsServer(selfSigned), "https");
    const { code, output } = await examine(`${server.origin}/v2`);
    expect(code).toBe(1);
    expect(output).toMatch(
      /✗ {2}Connection {4}The certificate or the TLS version of 127\.0\.0\.1:\d+ is not\n? +accepted\./,
    );
    expect(output).toContain("NODE_EXTRA_CA_CERTS");
  });

  it("says that the server does not speak TLS", async () => {
    await using emulator = await startEmulator();
    const { code, output } = await examine(emulator.baseUrl.replace("http:", "https:"));
    expect(code).toBe(1);
    expect(output).toMatch(/✗ {2}Connection {4}127\.0\.0\.1:\d+ does not speak TLS\./);
  });

  it("says that no response came within --timeout", async () => {
    await using emulator = await startEmulator();
    emulator.faults.add({ fault: "stall" });
    const { code, output } = await examine(emulator.baseUrl, {}, ["--timeout", "150"]);
    expect(code).toBe(1);
    expect(output).toMatch(/✗ {2}Connection {4}127\.0\.0\.1:\d+ sent no complete response within 150 ms\./);
  });
});

describe("doctor on another service", () => {
  it.each([
    [
      { status: 404, body: { message: "Not Found" } },
      /responds, but not as this API: POST\n? +\/auth\/validate returned 404/,
    ],
    [{ status: 200, headers: { "content-type": "text/html" }, body: "<html></html>" }, /responds, but not as this API/],
    [{ status: 308, headers: { location: "https://www.partner.example/v2" } }, /redirects to another address/],
    [{ status: 503, body: "upstream" }, /The service or a gateway fails with status 503\./],
  ])("says so for the response %j", async (response, message) => {
    await using service = await startStubService();
    service.respondAlways(response);
    const { code, output } = await examine(service.baseUrl);
    expect(code).toBe(1);
    expect(output.replace(/\s+/g, " ")).toMatch(new RegExp(message.source.replaceAll("\\n? +", " ")));
    expect(service.requests).toHaveLength(1);
  });

  it("warns that the key travels unencrypted to a host that is not this machine", async () => {
    const { output } = await examine("http://no-such-host.invalid/v2");
    expect(output).toMatch(/ ! {2}Base URL {6}http:\/\/no-such-host\.invalid\/v2 is not encrypted/);
  });
});
