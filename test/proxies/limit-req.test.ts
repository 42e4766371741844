import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { PodPartner } from "pod-partner";
import { startEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { concurrently } from "../../src/util/concurrently.ts";
import { orderOf } from "../flows/matrix/subjects.ts";
import { secretKey } from "../support/partner.ts";

const program = "nginx";
const installed = spawnSync(program, ["-v"]).status === 0;
if (!installed) console.warn("There is no nginx on this machine: the tests of its limit_req are left out.");

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

const listens = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true));
    socket.once("error", () => resolve(false)).once("connect", () => socket.destroy());
  });

async function untilListening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if (await listens(port)) return;
    await setTimeout(50);
  }
  throw new Error("nginx does not listen.");
}

function configuration(folder: string, port: number, upstream: string, rules: string): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return `
daemon off;
worker_processes 1;
pid ${folder}/pid;
error_log ${folder}/error.log;
${process.getuid?.() === 0 ? "user root;" : ""}
events { worker_connections 4096; }
http {
  log_format statuses "$status";
  access_log ${folder}/access.log statuses;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join("\n  ")}
  limit_req_zone $binary_remote_addr zone=all:1m rate=30r/s;
  upstream service { server ${upstream}; keepalive 16; }
  server {
    listen 127.0.0.1:${port};
    location / {
      limit_req zone=all ${rules};
      proxy_pass http://service;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }
}`;
}

/** An nginx that lets 30 requests a second through. */
async function startLimit(upstream: string, rules: string) {
  const folder = await mkdtemp(join(tmpdir(), "pod-partner-limit-"));
  const port = await freePort();
  await writeFile(join(folder, "nginx.conf"), configuration(folder, port, upstream, rules));
  const child = spawn(program, ["-e", "stderr", "-c", join(folder, "nginx.conf")], { stdio: "ignore" });
  await untilListening(port);
  return {
    baseUrl: `http://127.0.0.1:${port}/v2`,
    /** How often it has answered with a status. */
    count: async (status: number) =>
      (await readFile(join(folder, "access.log"), "utf8")).split("\n").filter((line) => line === String(status)).length,
    [Symbol.asyncDispose]: async () => {
      const gone = once(child, "exit");
      child.kill("SIGTERM");
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

describe.skipIf(!installed && process.env.CI === undefined)("behind an nginx with limit_req", () => {
  it.each([
    ["a burst that it delays", "burst=20"],
    ["a burst that it passes on", "burst=20 nodelay"],
    ["no burst", ""],
  ])(
    "150 orders at once are each made once, with few refusals: %s",
    async (_, rules) => {
      await using emulator = await startEmulator({ secretKey });
      await using limit = await startLimit(new URL(emulator.baseUrl).host, rules);
      const partner = new PodPartner({ baseUrl: limit.baseUrl, secretKey });
      const orders = Array.from({ length: 150 }, (_, number) => orderOf(emulator, `shop-${number}`));
      const failures: unknown[] = [];
      for await (const outcome of concurrently(orders, 150, (order) => partner.orders.create(order)))
        if (!outcome.ok) failures.push(outcome.error);
      expect(failures).toEqual([]);
      const insider = new PodPartner({ baseUrl: emulator.baseUrl, secretKey, fetch: emulator.fetch });
      expect(await insider.orders.list().toArray()).toHaveLength(150);
      expect(await limit.count(503)).toBeLessThan(75);
    },
    90_000,
  );
});
