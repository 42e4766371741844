import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { freePort } from "../support/port.ts";
import { runCli, startCli } from "./process.ts";

const example = (name: string): string => fileURLToPath(new URL(`../../examples/verify/${name}`, import.meta.url));
const worker = [process.execPath, example("worker.ts")];
const broken = [process.execPath, example("plain-fetch.mjs")];

interface Outcome {
  readonly id: string;
  readonly status: string;
  readonly findings: readonly { readonly kind: string; readonly text: string }[];
}

/** Runs the rows and returns what came of each. */
async function verify(only: string, program: readonly string[], options: readonly string[] = []) {
  const { code, output, errors } = await runCli(["verify", "--json", "--only", only, ...options, "--", ...program]);
  if (output === "") throw new Error(errors);
  const report = JSON.parse(output) as { ok: boolean; orders: number; outcomes: readonly Outcome[] };
  const rows = Object.fromEntries(
    report.outcomes.map(({ id, status, findings }) => [id, [status, ...findings.map(({ text }) => text)].join(": ")]),
  );
  return { code, report, rows };
}

// Each row starts programs, which can take long on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

describe("pod-partner verify", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "verify-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** A program of one file. */
  const programOf = (name: string, code: string): readonly string[] => {
    const path = join(folder, name);
    writeFileSync(path, code);
    return [process.execPath, path];
  };

  it.each([
    ["the SDK", worker],
    ["Python", ["python3", example("worker.py")]],
  ])("finds nothing in the worker of the example in %s", async (_, program) => {
    const { code, report, rows } = await verify(
      "again,twice-at,order-lost,order-502,order-late,order-very-late,order-cut,killed,storm,unstable,rate,small",
      program,
    );
    expect(rows).toEqual({
      again: "passed",
      "order-lost-after": "passed",
      "order-lost-before": "passed",
      "order-502": "passed",
      "order-late": "passed",
      "order-very-late": "passed",
      "order-cut": "passed",
      "order-lost-blind": "passed",
      "twice-at-once": "passed",
      "killed-before": "passed",
      "killed-after": "passed",
      "killed-during": "passed",
      "killed-later": "passed",
      "killed-last": "passed",
      "killed-claim": "skipped",
      "killed-cancel": "skipped",
      "callbacks-killed": "skipped",
      storm: "passed",
      unstable: "passed",
      "small-bucket": "passed",
      "rate-limited": "passed",
      "rate-limited-bare": "passed",
    });
    expect({ code, ok: report.ok, orders: report.orders }).toEqual({ code: 0, ok: true, orders: 5 });
  });

  it("runs no two processes with `--parallel 1`, and says so", async () => {
    const { output } = await runCli(["verify", "--only", "again,twice-at", "--parallel", "1", "--", ...broken]);
    expect(output).toMatch(/–\s+Two processes do the same work at once \(needs --parallel 2\)/);
  });

  it("finds where a client that only retries orders twice, and writes the reports", async () => {
    const [junit, html] = [join(folder, "report.xml"), join(folder, "report.html")];
    const { code, rows } = await verify("again,twice-at,order-lost,order-late,killed,claim", broken, [
      "--junit",
      junit,
      "--html",
      html,
    ]);
    expect({ code, rows }).toEqual({
      code: 1,
      rows: {
        again: "passed",
        "order-lost-after": "failed: made twice: shop-1",
        "order-lost-before": "passed",
        "order-late": "failed: made twice: shop-1",
        "order-lost-blind": "failed: made twice: shop-1",
        "twice-at-once": "failed: made twice: shop-1, shop-2, shop-3 and 2 more",
        "killed-before": "passed",
        "killed-after": "failed: made twice: shop-1",
        "killed-during": "failed: made twice: shop-1",
        "killed-later": "failed: made twice: shop-1, shop-2",
        "killed-last": "failed: made twice: shop-1, shop-2, shop-3 and 2 more",
        "claim-lost": "skipped",
        "killed-claim": "skipped",
        "killed-cancel": "skipped",
        "callbacks-killed": "skipped",
      },
    });
    expect(readFileSync(junit, "utf8")).toMatch(
      /<testsuite name="pod-partner verify" tests="15" failures="8" skipped="4"/,
    );
    expect(readFileSync(junit, "utf8")).toContain('name="order-late: A gateway gives up');
    expect(readFileSync(junit, "utf8")).toContain('<failure type="doubled" message="made twice: shop-1">');
    expect(readFileSync(html, "utf8")).toContain("<li>made twice: shop-1</li>");
  });

  const listing = `
    const { POD_PARTNER_BASE_URL: url, POD_PARTNER_SECRET_KEY: key } = process.env;
    const get = (path, init = {}) => fetch(url + path, { headers: { "X-Service-Secret-Key": key }, ...init });
  `;

  it.each([
    ["hammers", "small-bucket", "while (!(await get('/stores')).ok);", /requests before the time of Retry-After/],
    [
      "never ends",
      "storm",
      "await get('/stores').then(({ ok }) => ok || new Promise(() => setInterval(() => {}, 1e3)));",
      /not finished after 4 s/,
    ],
    ["ends with an error", "storm", "if (!(await get('/stores')).ok) process.exit(9);", /ended with exit code 9/],
    ["puts the key into a URL", "again", "await get('/stores?key=' + key);", /the key is in the URL or body of GET/],
  ])("finds a program that %s", async (name, row, code, finding) => {
    const program = programOf(
      `${name.replaceAll(" ", "-")}.mjs`,
      `${listing} for (let n = 0; n < 9; n += 1) { ${code} }`,
    );
    const { code: exit, rows } = await verify(row, program, ["--timeout", "4000"]);
    expect(exit).toBe(1);
    expect(Object.values(rows).join()).toMatch(finding);
  });

  it.each([
    ["fails without a fault", "process.exit(4);", /fails without a fault: the program ended with exit code 4/],
    ["ignores the emulator", "", /the program sent no request: it must use POD_PARTNER_BASE_URL/],
  ])("says that a program %s, also in the reports", async (name, code, message) => {
    const program = programOf(`${name.replaceAll(" ", "-")}.mjs`, code);
    const junit = join(folder, "calm.xml");
    const { code: exit, output, errors } = await runCli(["verify", "--json", "--junit", junit, "--", ...program]);
    expect(exit).toBe(1);
    expect(errors).toMatch(message);
    const { ok, outcomes } = JSON.parse(output) as { ok: boolean; outcomes: readonly Outcome[] };
    expect({ ok, outcomes }).toMatchObject({ ok: false, outcomes: [{ id: "calm", status: "failed" }] });
    expect(`fails without a fault: ${outcomes[0]?.findings[0]?.text}`).toMatch(message);
    expect(readFileSync(junit, "utf8")).toContain('tests="1" failures="1"');
  });

  it("lists the rows of --only, which may be repeated", async () => {
    const { output } = await runCli(["verify", "--list", "--only", "storm,slow", "--only", "claim"]);
    const listed = output.trim().split("\n");
    // `slow` is a row, and a part of order-slow.
    expect(listed.map((line) => line.split(" ")[0])).toEqual(["claim-lost", "killed-claim", "storm", "slow"]);
  });

  it("keeps the reports of the rows that have ended when it is interrupted", async () => {
    const junit = join(folder, "interrupted.xml");
    const hang = 'if (process.env.POD_PARTNER_VERIFY_ROW === "storm") setInterval(() => {});';
    const program = programOf("hangs.mjs", `${listing} await get("/stores"); ${hang}`);
    const running = startCli(["verify", "--json", "--only", "again,storm", "--junit", junit, "--", ...program]);
    await expect.poll(() => existsSync(junit) && readFileSync(junit, "utf8"), { timeout: 20_000 }).toContain("again:");
    running.kill("SIGINT");
    expect(await running.ended).toMatchObject({ code: 130 });
    const { ok, planned, outcomes } = JSON.parse(running.output());
    expect({ ok, planned, rows: outcomes.map(({ id }: Outcome) => id) }).toEqual({
      ok: false,
      planned: 2,
      rows: ["again"],
    });
  });

  it("says that a run has more requests than it can read", async () => {
    const many = "const some = () => Promise.all(Array.from({ length: 100 }, () => get('/utilities/none')));";
    const program = programOf("many.mjs", `${listing} ${many} for (let n = 0; n <= 100; n += 1) await some();`);
    const { errors } = await runCli(["verify", "--", ...program]);
    expect(errors).toContain("fails without a fault: 10100 requests are more than verify can read");
  });

  /** What several programs begin with: `post`, the store of the API, and a product without print, which needs no image. */
  const ordering = `${listing}
    const post = async (path, body) => {
      for (let attempt = 1; ; attempt += 1) {
        const headers = { "X-Service-Secret-Key": key, "Content-Type": "application/json" };
        const response = await get(path, { method: "POST", headers, body: JSON.stringify(body) }).catch(() => {});
        if (response?.ok) return response.json().catch(() => {});
        if (attempt === 3) throw new Error(path);
      }
    };
    const storeReference = (await (await get("/stores")).json()).stores.find(({ integration }) => integration === "api").reference;
    const { products } = await (await get("/products")).json();
    const place = async (customIdentifier, quantity) => {
      for (const { reference: productReference } of products) {
        const orderlines = [{ productReference, quantity }];
        const order = { customIdentifier, storeReference, shippingKind: "combined", orderlines };
        const made = await post("/orders", { order }).catch(() => {});
        if (made !== undefined) return made.order.reference;
      }
    };
    const find = async (customIdentifier) => {
      const found = await get("/utilities/lookup-order-reference-by-custom-identifier?customIdentifier=" + customIdentifier);
      return found.ok ? (await found.json()).orderReference : undefined;
    };
  `;

  it("names what was made twice among equal orders, and counts no order that the service refused", async () => {
    const program = programOf(
      "equal.mjs",
      `${ordering}
      for (const id of ["shop-1", "shop-2"]) if ((await find(id)) === undefined) await place(id, 1);
      if (process.env.POD_PARTNER_VERIFY_ROW === "again") await place("shop-1", 1);`,
    );
    const { report, rows } = await verify("again,killed-after,killed-later,killed-last", program);
    expect(report.orders).toBe(2);
    expect(rows).toEqual({
      again: "failed: made twice: shop-1",
      "killed-after": "passed",
      "killed-later": "passed",
      "killed-last": "skipped",
    });
  });

  it("finds a claim that is filed twice, whatever the identifier of its order", async () => {
    const program = programOf(
      "claims.mjs",
      `${ordering}
      const orderReference = await place("random-" + Math.random(), 2);
      const control = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ orders: orderReference }) };
      const shipmentReference = (await (await fetch(new URL("/_emulator/ship", url), control)).json()).result;
      const { claimcategories } = await (await get("/claimcategories")).json();
      const category = claimcategories.find(({ evidenceRequired, name }) => !evidenceRequired && name !== "Package missing");
      const claimlines = [{ orderlineIndex: 1, quantity: 1, claimcategoryReference: category.reference }];
      await post("/claim-item-issues", { claim: { orderReference, shipmentReference, claimlines } });`,
    );
    const { rows } = await verify("again,claim-lost,killed-claim", program);
    expect(rows).toEqual({
      again: "passed",
      "claim-lost": expect.stringMatching(/made twice: the claim about random-/),
      "killed-claim": expect.stringMatching(/made twice: the claim about random-/),
    });
  });

  it.each([
    ["cancels one more after a restart", "line.canceledQuantity + 1", /not as in the run without a fault: shop-1/],
    ["cancels up to a total", "1", /^passed$/],
  ])("judges a program that is killed while it cancels, and %s", async (name, total, result) => {
    const program = programOf(
      `${name.replaceAll(" ", "-")}.mjs`,
      `${ordering}
        const reference = (await find("shop-1")) ?? (await place("shop-1", 3));
        const [line] = (await (await get("/orders/" + reference)).json()).order.orderlines;
        await post("/orders/" + reference + "/cancel", { orderlines: [{ index: 1, canceledQuantity: ${total} }] });`,
    );
    const { rows } = await verify("again,killed-cancel", program);
    expect(rows).toEqual({ again: "passed", "killed-cancel": expect.stringMatching(result) });
  });

  describe("a server", () => {
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
    const fetching = (url: string): string =>
      `${process.execPath} -e "fetch('${url}').then(({ ok }) => process.exit(ok ? 0 : 1))"`;
    const optionsOf = (port: number): readonly string[] => {
      const origin = `http://127.0.0.1:${port}`;
      const drive = fetching(`${origin}/order`);
      return ["--ready", origin, "--drive", drive, "--callback-url", `${origin}/callback?token=${token}`];
    };
    const checks = "if (isForged) return accept(403);";
    const unread = "failed: orders that were not read since they shipped: 2";

    const all = ["twice", "parts", "late", "reversed", "killed", "never", "forged"];

    // The first server plays all rows. Each of the others plays one row that it passes, and those that it fails.
    it.each([
      [
        "reads each order first",
        `${checks} accept((await read()) ? 204 : 503);`,
        all,
        { "callbacks-never": "skipped" },
      ],
      ["accepts first", `${checks} accept(204); await read();`, ["parts", "killed"], { "callbacks-killed": unread }],
      [
        "handles an order once",
        `${checks} if (!seen.has(order) && !(await read())) return accept(503); seen.add(order); accept(204);`,
        ["twice", "parts"],
        { "callbacks-parts": unread },
      ],
      [
        "knows its orders only in memory",
        `${checks} if (!known.has(searchParams.get("custom_reference"))) return accept(204); accept((await read()) ? 204 : 503);`,
        ["reversed", "late", "killed"],
        { "callbacks-late": unread, "callbacks-killed": unread },
      ],
      [
        "refuses what it knows",
        `${checks} if (seen.has(request.url)) return accept(409); if (!(await read())) return accept(503); seen.add(request.url); accept(204);`,
        ["late", "twice", "parts"],
        {
          "callbacks-twice": "failed: callbacks that were never accepted: 2",
          "callbacks-parts": `failed: callbacks that were never accepted: 2: ${unread.slice(8)}`,
        },
      ],
      [
        "does not look at the token",
        "accept((await read()) ? 204 : 503);",
        ["twice", "forged"],
        {
          "callbacks-forged":
            "failed: a callback with a wrong token was accepted: a callback without a token was accepted",
        },
      ],
    ])("that %s fails only where it must", async (name, handle, played, others) => {
      const port = await freePort();
      const server = serverOf(name.replaceAll(" ", "-"), port, handle);
      const ids = played.map((row) => `callbacks-${row}`);
      const { rows } = await verify(ids.join(), server, optionsOf(port));
      expect(rows).toEqual({ ...Object.fromEntries(ids.map((id) => [id, "passed"])), ...others });
    });

    it("that sweeps finds what no callback reports", async () => {
      const port = await freePort();
      const server = serverOf("sweeps", port, `${checks} accept(204); await read();`);
      const options = (path: string) => [...optionsOf(port), "--sweep", fetching(`http://127.0.0.1:${port}${path}`)];
      const swept = await verify("callbacks-never,callbacks-killed", server, options("/sweep"));
      expect(swept.rows).toEqual({ "callbacks-killed": "passed", "callbacks-never": "passed" });
      const idle = await verify("callbacks-never", server, options("/idle"));
      expect(idle.rows).toEqual({ "callbacks-never": unread });
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

    it.each(["killed-after", "killed-later"])(
      "that is killed and right passes %s, also when the command waits for the callback",
      async (row) => {
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
        const { rows } = await verify(row, serverOf(row, port, handle), [
          ...optionsOf(port),
          "--drive",
          drive.join(" "),
        ]);
        expect(rows).toEqual({ [row]: "passed" });
      },
    );

    it("is used by two commands at once in a row of its own, and fails it when it only looks first", async () => {
      const port = await freePort();
      const server = serverOf("raced", port, `${checks} accept((await read()) ? 204 : 503);`);
      const { rows } = await verify("twice-at-once", server, optionsOf(port));
      expect(rows).toEqual({ "twice-at-once": expect.stringMatching(/^failed: made twice: web-1/) });
    });

    it("names the drive command that ended with an error", async () => {
      const port = await freePort();
      const server = serverOf("driven", port, `${checks} accept((await read()) ? 204 : 503);`);
      const { errors } = await runCli(["verify", ...optionsOf(port), "--drive", "exit 5", "--", ...server]);
      expect(errors).toContain("fails without a fault: the drive command ended with exit code 5.");
    });

    it("that never reads an order fails without a fault", async () => {
      const port = await freePort();
      const server = serverOf("blind", port, "accept(204);");
      const { errors } = await runCli(["verify", ...optionsOf(port), "--", ...server]);
      expect(errors).toContain("fails without a fault: orders that were not read since they shipped: 2");
    });

    it("that is never ready is named", async () => {
      const port = await freePort();
      const server = programOf(
        "unready.mjs",
        `import { createServer } from "node:http"; createServer((_, response) => response.writeHead(404).end()).listen(${port}, "127.0.0.1");`,
      );
      const { errors } = await runCli(["verify", "--timeout", "2000", ...optionsOf(port), "--", ...server]);
      expect(errors).toMatch(/: the program was never ready: http:\S+ did not respond with 2xx \(status 404\)\./);
      const ends = programOf("ends.mjs", "process.exit(3);");
      const early = await runCli(["verify", ...optionsOf(port), "--", ...ends]);
      expect(early.errors).toMatch(/: the program ended with exit code 3 before it was ready\./);
    });

    it("is not mistaken for another program at its port", async () => {
      const other = createServer((_, response) => response.end()).listen(0, "127.0.0.1");
      await once(other, "listening");
      const { port } = other.address() as AddressInfo;
      const { code, errors } = await runCli(["verify", ...optionsOf(port), "--", "true"]);
      other.close();
      other.closeAllConnections();
      expect({ code, errors }).toEqual({
        code: 1,
        errors: `pod-partner: Another program responds at http://127.0.0.1:${port}: end it first.\n`,
      });
    });
  });

  it("ends what it started when it is ended", async () => {
    const program = programOf(
      "sleeps.mjs",
      `${listing} await get("/stores"); console.log("up"); setInterval(() => {});`,
    );
    const running = startCli(["verify", "--", ...program]);
    await running.until(/pod-partner verify/);
    running.kill("SIGINT");
    expect(await running.ended).toMatchObject({ code: 130 });
  });
});
