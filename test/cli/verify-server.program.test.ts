import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { freePort } from "../support/port.ts";
import { runMain } from "./main.ts";
import { ordering, useFolder, verify } from "./verify.ts";

describe("pod-partner verify of a server", () => {
  const { programOf } = useFolder();
  const token = "0123456789abcdef";
  /** What a server does with a callback: `accept(status)` responds, and `read()` reads the order. */
  const serverOf = (name: string, port: number, handle: string): readonly string[] =>
    programOf(
      `${name}.mjs`,
      `import { createServer } from "node:http";
      ${ordering}
      const [seen, known] = [new Set(), new Set()];
      createServer(async (request, response) => {
        const { pathname, searchParams } = new URL(request.url, "http://server");
        const order = searchParams.get("order_reference_v2");
        const accept = (status) => response.writeHead(status).end();
        const read = async () => (await get("/orders/" + order)).ok;
        const isForged = searchParams.get("token") !== "${token}";
        if (pathname === "/callback") return (async () => { ${handle} })().catch(() => accept(503));
        if (pathname === "/order") for (const id of ["web-1", "web-2"]) {
          known.add(id);
          if ((await find(id)) === undefined) await place(id, 2);
        }
        if (pathname === "/sweep") {
          const { orders } = await (await get("/orders")).json();
          for (const { reference } of orders) if ((await get("/orders/" + reference)).ok) seen.add(reference);
        }
        if (pathname === "/shipped" && seen.size < 2) return accept(404);
        response.end("ok");
      }).listen(${port}, "127.0.0.1");`,
    );
  const fetching = (url: string): string => `curl --silent --fail ${url}`;
  const optionsOf = (port: number): readonly string[] => {
    const origin = `http://127.0.0.1:${port}`;
    const drive = fetching(`${origin}/order`);
    return ["--ready", origin, "--drive", drive, "--callback-url", `${origin}/callback?token=${token}`];
  };
  const checks = "if (isForged) return accept(403);";
  const unread = "failed: orders that were not read since they shipped: 2";

  // What each row finds is in verify-callbacks.test.ts.
  it("that knows its orders only in memory fails when it is started anew", async () => {
    const port = await freePort();
    const known = `if (!known.has(searchParams.get("custom_reference"))) return accept(204);`;
    const server = serverOf("remembers", port, `${checks} ${known} accept((await read()) ? 204 : 503);`);
    const { rows } = await verify(
      "callbacks-parts,callbacks-late,callbacks-killed,callbacks-never",
      server,
      optionsOf(port),
    );
    expect(rows).toEqual({
      "callbacks-parts": "passed",
      "callbacks-late": unread,
      "callbacks-killed": unread,
      "callbacks-never": "skipped",
    });
  });

  it("may be used by a command that waits for a callback", async () => {
    const port = await freePort();
    const handle = `${checks} if (!(await read())) return accept(503); seen.add(order); accept(204);`;
    const server = serverOf("awaited", port, handle);
    const origin = `http://127.0.0.1:${port}`;
    const drive = programOf(
      "waits.mjs",
      `const get = (path) => fetch("${origin}" + path).catch(() => {});
      await get("/order");
      while (!(await get("/shipped"))?.ok) await new Promise((resolve) => setTimeout(resolve, 100));`,
    );
    const given = ["--drive", drive.join(" "), "--sweep", fetching(`${origin}/sweep`)];
    const { rows } = await verify("callbacks-killed,callbacks-never", server, [...optionsOf(port), ...given]);
    expect(rows).toEqual({ "callbacks-killed": "passed", "callbacks-never": "passed" });
  });

  it("that is killed and right passes also when the command waits for the callback", async () => {
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    // What was handled before the kill does not come again: it is stored.
    const stored = 'process.env.POD_PARTNER_VERIFY_FOLDER + "/seen"';
    const store = `(await import("node:fs")).appendFileSync(${stored}, order + "\\n");`;
    const handle = `${checks} if (!(await read())) return accept(503); ${store} accept(204);`;
    const drive = programOf(
      "waits-for-all.mjs",
      `import { readFile } from "node:fs/promises";
      await fetch("${origin}/order").catch(() => {});
      const seen = async () => new Set((await readFile(${stored}, "utf8").catch(() => "")).trim().split("\\n"));
      while ((await seen()).size < 2) await new Promise((resolve) => setTimeout(resolve, 100));`,
    );
    const given = ["--drive", drive.join(" ")];
    const { rows } = await verify("killed-later", serverOf("stores", port, handle), [...optionsOf(port), ...given]);
    expect(rows).toEqual({ "killed-later": "passed" });
  });

  it("is used by two commands at once in a row of its own, and fails it when it only looks first", async () => {
    const port = await freePort();
    const server = serverOf("raced", port, `${checks} accept((await read()) ? 204 : 503);`);
    const { rows } = await verify("twice-at-once", server, optionsOf(port));
    expect(rows).toEqual({ "twice-at-once": expect.stringMatching(/^failed: made twice: web-1/) });
  });

  it("names the drive command that ended with an error", async () => {
    const port = await freePort();
    const server = serverOf("driven", port, `${checks} accept((await read()) ? 204 : 503);`);
    const { errors } = await runMain(["verify", ...optionsOf(port), "--drive", "exit 5", "--", ...server]);
    expect(errors).toContain("fails without a fault: the drive command ended with exit code 5.");
  });

  it("that never reads an order fails without a fault", async () => {
    const port = await freePort();
    const server = serverOf("blind", port, "accept(204);");
    const { errors } = await runMain(["verify", ...optionsOf(port), "--", ...server]);
    expect(errors).toContain("fails without a fault: orders that were not read since they shipped: 2");
  });

  it("that is never ready is named", async () => {
    const port = await freePort();
    const server = programOf(
      "unready.mjs",
      `import { createServer } from "node:http"; createServer((_, response) => response.writeHead(404).end()).listen(${port}, "127.0.0.1");`,
    );
    const { errors } = await runMain(["verify", "--timeout", "2000", ...optionsOf(port), "--", ...server]);
    expect(errors).toMatch(/: the program was never ready: http:\S+ did not respond with 2xx \(status 404\)\./);
    const ends = programOf("ends.mjs", "process.exit(3);");
    const early = await runMain(["verify", ...optionsOf(port), "--", ...ends]);
    expect(early.errors).toMatch(/: the program ended with exit code 3 before it was ready\./);
  });

  it("is not mistaken for another program at its port", async () => {
    const other = createServer((_, response) => response.end()).listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const { code, errors } = await runMain(["verify", ...optionsOf(port), "--", "true"]);
    other.close();
    other.closeAllConnections();
    expect({ code, errors }).toEqual({
      code: 1,
      errors: `pod-partner: Another program responds at http://127.0.0.1:${port}: end it first.\n`,
    });
  });
});
