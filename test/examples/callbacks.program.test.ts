import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { serve } from "@hono/node-server";
import { PodPartner } from "pod-partner";
import { startEmulator } from "pod-partner/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { root, sendCallback, token } from "./process.ts";

const folder = join(root, "examples/callbacks");
const examples = readdirSync(folder);

/** An emulator with a shipped order, and the environment that an example reads. */
async function shippedOrder() {
  const emulator = await startEmulator({ seed: { orders: 1 } });
  onTestFinished(() => emulator.close());
  const { baseUrl, secretKey } = emulator;
  const [order] = await new PodPartner({ baseUrl, secretKey }).orders.list().toArray();
  const reference = order?.reference ?? expect.fail("the emulator has no order");
  emulator.ship(reference);
  const environment = { POD_PARTNER_BASE_URL: baseUrl, POD_PARTNER_SECRET_KEY: secretKey, CALLBACK_TOKEN: token };
  return { reference, environment, shown: new RegExp(`^${reference} shipped (\\d+) of \\1`) };
}

/** The lines of a process, and the next one that fits. */
function linesOf(child: ChildProcess) {
  if (child.stdout === null) throw new Error("The process has no output.");
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return async (pattern: RegExp): Promise<string> => {
    for (let line = await lines.next(); !line.done; line = await lines.next()) {
      const found = pattern.exec(line.value);
      if (found !== null) return found[1] ?? "";
    }
    return expect.fail(`no line ${pattern}`);
  };
}

describe("the examples of receivers", () => {
  it("are all run by a test", () => {
    expect(examples).toEqual(["express.ts", "fastify.ts", "hono.ts", "next-route.ts"]);
  });

  it.each(examples)("%s has less than 60 lines", (name) => {
    expect(readFileSync(join(folder, name), "utf8").split("\n").length).toBeLessThan(60);
  });

  it.each(examples.filter((name) => name !== "next-route.ts"))(
    "%s handles the callback of a shipped order over HTTP, refuses a forged one, and ends on SIGTERM",
    async (name) => {
      if (!existsSync(join(root, "dist/callbacks.js"))) throw new Error("There is no build: run `npm run build`.");
      const { reference, environment, shown } = await shippedOrder();
      const env = { ...process.env, ...environment, PORT: "0" };
      const child = spawn(process.execPath, [join(folder, name)], { env, stdio: ["ignore", "pipe", "inherit"] });
      onTestFinished(() => void child.kill("SIGKILL"));
      const exit = once(child, "exit");
      const line = linesOf(child);
      const url = `http://localhost:${await line(/^port (\d+)$/)}/callbacks/orders?token=`;

      expect(await sendCallback(`${url}${token}`, reference)).toBe(204);
      await line(shown);
      expect(await sendCallback(`${url}forged`, reference)).toBe(403);
      child.kill("SIGTERM");
      expect(await exit).toEqual([0, null]);
    },
  );

  it("next-route.ts handles the callback of a shipped order, and refuses a forged one", async () => {
    const { reference, environment, shown } = await shippedOrder();
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
    onTestFinished(() => {
      log.mockRestore();
      vi.unstubAllEnvs();
    });
    const { GET } = await import("../../examples/callbacks/next-route.ts");
    const server = serve({ fetch: GET, port: 0, hostname: "127.0.0.1" }) as Server;
    if (!server.listening) await once(server, "listening");
    onTestFinished(() => void server.close().closeAllConnections());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callbacks/orders?token=`;
    expect(await sendCallback(`${url}${token}`, reference)).toBe(204);
    expect(log.mock.calls.map((values) => values.join(" "))).toEqual([expect.stringMatching(shown)]);
    expect(await sendCallback(`${url}forged`, reference)).toBe(403);
  });
});
