import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
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
  ])(
    "finds nothing in the worker of the example in %s",
    async (_, program) => {
      const { code, report, rows } = await verify(
        "again,order-lost,order-502,order-late,order-cut,killed,storm,unstable,rate",
        program,
      );
      expect(rows).toEqual({
        again: "passed",
        "order-lost-after": "passed",
        "order-lost-before": "passed",
        "order-502": "passed",
        "order-late": "passed",
        "order-cut": "passed",
        "order-lost-blind": "passed",
        "killed-after": "passed",
        "killed-during": "passed",
        "killed-later": "passed",
        storm: "passed",
        unstable: "passed",
        "rate-limited": "passed",
        "rate-limited-bare": "passed",
      });
      expect({ code, ok: report.ok, orders: report.orders }).toEqual({ code: 0, ok: true, orders: 5 });
    },
    90_000,
  );

  it("finds where a client that only retries orders twice, and writes the reports", async () => {
    const [junit, html] = [join(folder, "report.xml"), join(folder, "report.html")];
    const { code, rows } = await verify("again,order-lost,order-late,killed,claim", broken, [
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
        "killed-after": "failed: made twice: shop-1",
        "killed-during": "failed: made twice: shop-1",
        "killed-later": "failed: made twice: shop-1, shop-2",
        "claim-lost": "skipped",
      },
    });
    expect(readFileSync(junit, "utf8")).toMatch(
      /<testsuite name="pod-partner verify" tests="9" failures="6" skipped="1"/,
    );
    expect(readFileSync(junit, "utf8")).toContain('<failure type="doubled" message="made twice: shop-1">');
    expect(readFileSync(html, "utf8")).toContain("<li>made twice: shop-1</li>");
  }, 60_000);

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
  ])(
    "finds a program that %s",
    async (name, row, code, finding) => {
      const program = programOf(
        `${name.replaceAll(" ", "-")}.mjs`,
        `${listing} for (let n = 0; n < 9; n += 1) { ${code} }`,
      );
      const { code: exit, rows } = await verify(row, program, ["--timeout", "4000"]).catch((error: Error) => ({
        code: 1,
        rows: { [row]: error.message },
      }));
      expect(exit).toBe(1);
      expect(rows[row]).toMatch(finding);
    },
    30_000,
  );

  it.each([
    ["fails without a fault", "process.exit(4);", /fails without a fault: it ended with exit code 4/],
    ["ignores the emulator", "", /it sent no request: it must use POD_PARTNER_BASE_URL/],
  ])("says that a program %s", async (name, code, message) => {
    const program = programOf(`${name.replaceAll(" ", "-")}.mjs`, code);
    const { code: exit, output, errors } = await runCli(["verify", "--json", "--", ...program]);
    expect({ exit, output }).toEqual({ exit: 1, output: "" });
    expect(errors).toMatch(message);
  });

  it("finds a claim that is filed twice, whatever the identifier of its order", async () => {
    const program = programOf(
      "claims.mjs",
      `${listing}
      const post = async (path, body) => {
        for (let attempt = 1; ; attempt += 1) {
          const headers = { "X-Service-Secret-Key": key, "Content-Type": "application/json" };
          const response = await get(path, { method: "POST", headers, body: JSON.stringify(body) }).catch(() => {});
          if (response?.ok) return response.json();
          if (attempt === 3) throw new Error(path);
        }
      };
      const storeReference = (await (await get("/stores")).json()).stores.find(({ integration }) => integration === "api").reference;
      const { products } = await (await get("/products")).json();
      // A product without print needs no image.
      for (const { reference: productReference } of products) {
        const order = { customIdentifier: "random-" + Math.random(), storeReference, shippingKind: "combined", orderlines: [{ productReference, quantity: 2 }] };
        const made = await post("/orders", { order }).catch(() => {});
        if (made === undefined) continue;
        const orderReference = made.order.reference;
        const control = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ orders: orderReference }) };
        const shipmentReference = (await (await fetch(new URL("/_emulator/ship", url), control)).json()).result;
        const { claimcategories } = await (await get("/claimcategories")).json();
        const category = claimcategories.find(({ evidenceRequired, name }) => !evidenceRequired && name !== "Package missing");
        const claimlines = [{ orderlineIndex: 1, quantity: 1, claimcategoryReference: category.reference }];
        await post("/claim-item-issues", { claim: { orderReference, shipmentReference, claimlines } });
        break;
      }`,
    );
    const { rows } = await verify("again,claim-lost", program);
    expect(rows).toEqual({
      again: "passed",
      "claim-lost": expect.stringMatching(/made twice: the claim about random-/),
    });
  });

  it("checks a server, and what it does with callbacks", async () => {
    const port = await freePort();
    const server = programOf(
      "server.mjs",
      `import { createServer } from "node:http";
      ${listing}
      let checked = process.argv[2] === "checks";
      createServer(async (request, response) => {
        const { pathname, searchParams } = new URL(request.url, "http://server");
        if (pathname === "/callback") {
          if (checked && searchParams.get("token") !== "0123456789abcdef") return response.writeHead(403).end();
          if (checked) await get("/orders/" + searchParams.get("order_reference_v2"));
        }
        if (pathname === "/order") {
          const { stores } = await (await get("/stores")).json();
          const storeReference = stores.find(({ integration }) => integration === "api").reference;
          const { products } = await (await get("/products")).json();
          const productReference = products.find(({ status }) => status === "launched").reference;
          const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
          const headers = { "X-Service-Secret-Key": key, "Content-Type": "application/octet-stream" };
          const { image } = await (await get("/images", { method: "POST", headers, body: png })).json();
          const orderlines = [{ productReference, imageReference: image.reference, quantity: 1 }];
          const order = { customIdentifier: "web-1", storeReference, shippingKind: "combined", orderlines };
          const body = JSON.stringify({ order });
          await get("/orders", { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body });
          await new Promise((resolve) => setTimeout(resolve, 500));
        }
        response.end("ok");
      }).listen(${port});`,
    );
    const origin = `http://127.0.0.1:${port}`;
    const drive = `${process.execPath} -e "fetch('${origin}/order').then(({ ok }) => process.exit(ok ? 0 : 1))"`;
    const options = [
      "--ready",
      origin,
      "--drive",
      drive,
      "--callback-url",
      `${origin}/callback?token=0123456789abcdef`,
    ];
    const good = await verify("again,callbacks", [...server, "checks"], options);
    expect(good.rows).toEqual({ again: "passed", "callbacks-twice": "passed", "callbacks-forged": "passed" });
    const bad = await runCli(["verify", "--only", "callbacks-forged", ...options, "--", ...server]);
    expect(bad.errors).toContain("orders that were not read after their callback: 1");
  }, 60_000);

  it("ends what it started when it is ended", async () => {
    const program = programOf(
      "sleeps.mjs",
      `${listing} await get("/stores"); console.log("up"); setInterval(() => {}, 1_000);`,
    );
    const running = startCli(["verify", "--", ...program]);
    await running.until(/pod-partner verify/);
    running.kill("SIGINT");
    expect(await running.ended).toMatchObject({ code: 130 });
  });
});
