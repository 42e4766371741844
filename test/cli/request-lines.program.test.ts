import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { type Environment, type Running, start, startCli } from "./process.ts";

const headers = { "X-Service-Secret-Key": "emulator-secret-key" };
const escapeSequence = "\x1b[";

async function originOf(running: Running): Promise<string> {
  const [, origin = ""] = await running.until(/(http:\/\/127\.0\.0\.1:\d+)\/v2[\s\S]*Ctrl-C/);
  return origin;
}

async function startEmulator(args: readonly string[] = [], environment: Environment = {}) {
  const running = startCli(["emulator", "--port", "0", ...args], environment);
  return { ...running, origin: await originOf(running) };
}

describe("the line of a request", () => {
  it("has method, status, duration and path", async () => {
    const { origin, until } = await startEmulator();
    await fetch(`${origin}/v2/orders?cursor=`, { headers });
    await until(/^\d\d:\d\d:\d\d {2}GET +\d{3} +\d+ ms {2}\/v2\/orders\?cursor=/m);
    await fetch(`${origin}/v2/stores`);
    await until(/ {2}GET +401 +\d+ ms {2}\/v2\/stores {2}\w+$/m);
    await fetch(`${origin}/v2/orders`, { method: "POST", headers, body: "{}" });
    await until(/ {2}POST +400 +\d+ ms {2}\/v2\/orders {2}unknown_input_error$/m);
  });

  it("says which fault applied, and has a form of its own for a control; the page's own requests have none", async () => {
    const { origin, until, output } = await startEmulator();
    await fetch(`${origin}/`);
    await fetch(`${origin}/_emulator/requests`);
    const body = JSON.stringify({ fault: { on: "organization.stores.list", fault: "status", status: 503 } });
    await fetch(`${origin}/_emulator/faults.add`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
    });
    await until(/ {2}control +200 +\d+ ms {2}faults\.add$/m);
    await fetch(`${origin}/v2/stores`, { headers });
    await until(/ {2}GET +503 +\d+ ms {2}\/v2\/stores {2}fault status$/m);
    expect(output()).not.toMatch(/^\d\d:.*(_emulator|GET +200)/m);
  });

  it("says that the connection ended before the response", async () => {
    const { origin, until } = await startEmulator();
    const socket = connect(Number(new URL(origin).port), "127.0.0.1");
    await once(socket, "connect");
    const head = `POST /v2/images HTTP/1.1\r\nHost: a\r\nX-Service-Secret-Key: emulator-secret-key\r\nContent-Type: application/octet-stream\r\n`;
    socket.write(`${head}Content-Length: 9\r\nExpect: 100-continue\r\n\r\n`);
    // The server has read the head when it asks for the body.
    await once(socket, "data");
    socket.resetAndDestroy();
    await until(/ {2}POST +lost +\d+ ms {2}\/v2\/images$/m);
  });

  it("is not printed with --quiet", async () => {
    const { origin, output, kill, ended } = await startEmulator(["--quiet"]);
    expect((await fetch(`${origin}/v2/stores`, { headers })).status).toBe(200);
    kill("SIGINT");
    await ended;
    expect(output()).not.toContain("GET");
  });
});

describe("colours", () => {
  const program = new URL("../../dist/cli.js", import.meta.url).pathname;
  /** Runs the emulator on a pseudo terminal. */
  const onTerminal = (environment: Environment) =>
    start("script", ["-qfec", `${process.execPath} ${program} emulator --port 0`, "/dev/null"], {
      TERM: "xterm-256color",
      ...environment,
    });

  it("are printed on a terminal, also in the lines of requests", async () => {
    const running = onTerminal({});
    const origin = await originOf(running);
    await fetch(`${origin}/v2/stores`, { headers });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence is the expectation.
    await running.until(/\x1b\[32m200 /);
  });

  it("are not printed with NO_COLOR", async () => {
    const running = onTerminal({ NO_COLOR: "1" });
    await originOf(running);
    expect(running.output()).not.toContain(escapeSequence);
  });

  it("are not printed into a pipe", async () => {
    const { output } = await startEmulator();
    expect(output()).not.toContain(escapeSequence);
  });
});
