import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect } from "node:net";
import { createManualClock } from "pod-partner/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { selfSigned } from "../runtimes/self-signed.ts";
import { rejection } from "../support/exchange.ts";
import { combinedOrder } from "../support/orders.ts";
import { secretKey } from "../support/partner.ts";
import { type Listening, listen, listenRaw } from "../support/raw-server.ts";
import { clientOf } from "./support.ts";

const data = { message: "The key is valid" };
const { cert: ca } = selfSigned;

/** A proxy that opens tunnels, and the lines and headers of the requests for them. */
async function startProxy(status = 200): Promise<Listening & { readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
    response.setHeader("content-type", "application/json").end(JSON.stringify(data));
  });
  server.on("connect", (request, socket) => {
    asked.push(`CONNECT ${request.url} ${JSON.stringify(request.headers)}`);
    if (status !== 200) return void socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const { port } = new URL(`http://${request.url}`);
    const upstream = connect(Number(port), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    for (const each of [upstream, socket]) each.on("error", () => upstream.destroy());
    socket.on("close", () => upstream.destroy());
  });
  return { ...(await listen(server)), asked };
}

async function startService(): Promise<Listening & { readonly keys: readonly unknown[] }> {
  const keys: unknown[] = [];
  const server = createTlsServer(selfSigned, (request, response) => {
    keys.push(request.headers["x-service-secret-key"]);
    request.resume().on("end", () => response.setHeader("content-type", "application/json").end(JSON.stringify(data)));
  });
  return { ...(await listen(server, "https")), keys };
}

describe("a proxy", () => {
  afterEach(() => void vi.unstubAllEnvs());

  it("gets a tunnel for reads and one for each write, and never the key", async () => {
    await using service = await startService();
    await using proxy = await startProxy();
    const partner = clientOf(service.origin, {}, { ca, proxy: proxy.origin.replace("//", "//user:word@") });
    for (const method of ["GET", "GET", "POST", "POST"] as const)
      expect(await partner.request(method, "/things")).toEqual(data);
    expect(service.keys).toEqual(Array.from({ length: 4 }, () => secretKey));
    expect(proxy.asked).toHaveLength(3);
    for (const asked of proxy.asked) {
      expect(asked).toContain(`CONNECT 127.0.0.1:${service.port}`);
      expect(asked).toContain(`Basic ${Buffer.from("user:word").toString("base64")}`);
      expect(asked).not.toContain(secretKey);
    }
  });

  it("that refuses a tunnel leaves the request unsent, and its password out of the error", async () => {
    await using service = await startService();
    await using proxy = await startProxy(407);
    const partner = clientOf(service.origin, {}, { ca, proxy: proxy.origin.replace("//", "//user:pa55word@") });
    for (const call of [partner.organization.get(), partner.orders.create(combinedOrder)]) {
      const error = await rejection(call);
      expect(error).toMatchObject({ name: "ConnectionError", sent: false });
      expect(String(error)).toContain("407");
      expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain("pa55word");
    }
    expect(service.keys).toEqual([]);
  });

  it("that breaks the connection leaves the request unsent", async () => {
    await using service = await startService();
    await using proxy = await listenRaw((socket) => socket.destroy());
    const partner = clientOf(service.origin, {}, { ca, proxy: proxy.origin });
    expect(await rejection(partner.orders.create(combinedOrder))).toMatchObject({
      name: "ConnectionError",
      sent: false,
    });
  });

  describe.each([
    ["does not answer", ""],
    ["opens a tunnel in which no handshake ends", "HTTP/1.1 200 Connection established\r\n\r\n"],
  ])("that %s", (_, answer) => {
    const startSilent = () =>
      listenRaw((socket, data) => void (String(data).startsWith("CONNECT") && socket.write(answer)));

    it("leaves the request unsent after `connectTimeout`, and no connection", async () => {
      await using proxy = await startSilent();
      for (const call of ["organization.get", "orders.create"] as const) {
        const clock = createManualClock();
        const partner = clientOf("https://service.test", { clock }, { proxy: proxy.origin, connectTimeout: 5_000 });
        const failure = rejection(
          call === "orders.create" ? partner.orders.create(combinedOrder) : partner.organization.get(),
        );
        await expect.poll(() => proxy.sockets.size).toBe(1);
        await clock.advance(5_000);
        const error = await failure;
        expect(error).toMatchObject({ name: "ConnectionError", sent: false });
        expect(String(error)).toContain("no connection within 5000 ms");
        await expect.poll(() => proxy.sockets.size).toBe(0);
      }
    });

    it("leaves no connection after an abort", async () => {
      await using proxy = await startSilent();
      const partner = clientOf("https://service.test", {}, { proxy: proxy.origin });
      for (const method of ["GET", "POST"] as const) {
        const controller = new AbortController();
        const failure = rejection(partner.request(method, "/things", { signal: controller.signal }));
        await expect.poll(() => proxy.sockets.size).toBe(1);
        controller.abort("stop");
        expect(await failure).toBe("stop");
        await expect.poll(() => proxy.sockets.size).toBe(0);
      }
    });
  });

  it("of the environment is used for `true`, and by default as NODE_USE_ENV_PROXY says", async () => {
    await using service = await startService();
    await using proxy = await startProxy();
    vi.stubEnv("HTTPS_PROXY", proxy.origin);
    vi.stubEnv("NO_PROXY", "");
    const ask = (option: boolean | undefined) =>
      clientOf(service.origin, {}, { ca, ...(option !== undefined && { proxy: option }) }).request("GET", "/things");
    await ask(undefined);
    await ask(false);
    expect(proxy.asked).toHaveLength(0);
    await ask(true);
    expect(proxy.asked).toHaveLength(1);
    vi.stubEnv("NODE_USE_ENV_PROXY", "1");
    await ask(undefined);
    expect(proxy.asked).toHaveLength(2);
    await ask(false);
    vi.stubEnv("NO_PROXY", "127.0.0.1");
    await ask(true);
    expect(proxy.asked).toHaveLength(2);
    expect(service.keys).toHaveLength(6);
  });

  it.each(["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])(
    "of the environment is used in each form that has a host: %s",
    async (variable) => {
      await using proxy = await startProxy();
      const host = `127.0.0.1:${proxy.port}`;
      const forms = [
        host,
        `${host}/`,
        ` ${host}\n`,
        `user:word@${host}`,
        `http://${host}`,
        `HTTP://${host}`,
        `http:/${host}`,
      ];
      for (const form of forms) {
        vi.stubEnv(variable, form);
        const partner = clientOf("http://service.test", {}, { proxy: true });
        expect(await partner.auth.validate()).toEqual(data);
      }
      expect(proxy.asked).toHaveLength(forms.length);
    },
  );

  it.each([
    ["service.test", true],
    [".service.test", true],
    [".test", true],
    ["*.test", true],
    ["other.test service.test", true],
    ["*", true],
    [".vice.test", false],
    [".", false],
    ["..", false],
    [",", false],
    ["*.", false],
    ["**", false],
    ["test", false],
    ["10.0.0.0/8", false],
    ["", false],
  ])("of the environment is bypassed for the hosts of NO_PROXY only: %j, %s", async (hosts, isBypassed) => {
    await using proxy = await startProxy();
    vi.stubEnv("HTTP_PROXY", `127.0.0.1:${proxy.port}`);
    vi.stubEnv("NO_PROXY", hosts);
    const partner = clientOf("http://service.test", { retry: false }, { proxy: true });
    await partner.auth.validate().catch(() => undefined);
    expect(proxy.asked).toHaveLength(isBypassed ? 0 : 1);
  });

  it("of the environment that is malformed lets no byte past it: it is used, refused, or the call fails", async () => {
    await using proxy = await startProxy(502);
    let reached = 0;
    const server = createServer().on("connection", () => {
      reached += 1;
    });
    await using service = await listen(server);
    const host = `127.0.0.1:${proxy.port}`;
    const forms = [
      `http:${host}`,
      `http:/${host}`,
      `//${host}`,
      `http//${host}`,
      `http:\\\\${host}`,
      `:${proxy.port}`,
      `::1:${proxy.port}`,
      `"${host}"`,
      `“${host}”`,
      `\uFEFF${host}`,
      `${host}\n`,
      `127.0.0.1\n:${proxy.port}`,
      `${host};`,
      `${host},${host}`,
      `http=${host}`,
      `PROXY ${host}`,
      `u:p@ss@${host}`,
      `u:p%zz@${host}`,
      `@${host}`,
      "@",
      "0",
      ":",
      "http://",
      "http://127.0.0.1:",
      `${host}:1`,
      `${host}x`,
      `tcp://${host}`,
      `socks5://${host}`,
      `ws://${host}`,
      `file:///${host}`,
      `https://${host}`,
    ];
    for (const form of forms) {
      for (const [variable, scheme] of [
        ["HTTP_PROXY", "http"],
        ["https_proxy", "https"],
        ["ALL_PROXY", "http"],
        ["all_proxy", "https"],
      ]) {
        vi.stubEnv(variable ?? "", form);
        const call = async () => {
          await clientOf(`${scheme}://127.0.0.1:${service.port}`, { retry: false }, { proxy: true }).auth.validate();
        };
        await call().catch(() => undefined);
        expect(reached, `${variable}=${form}`).toBe(0);
        vi.unstubAllEnvs();
      }
    }
  });

  it("gets the whole request of a service without TLS", async () => {
    await using proxy = await startProxy();
    const partner = clientOf("http://service.test", {}, { proxy: proxy.origin });
    expect(await partner.auth.validate()).toEqual(data);
    expect(proxy.asked).toEqual([expect.stringContaining("POST http://service.test/v2/auth/validate")]);
  });
});
