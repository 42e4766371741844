import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { runMain } from "./main.ts";
import { startCli } from "./process.ts";
import { listing, type Outcome, ordering, useFolder, verify } from "./verify.ts";

const example = (name: string): string => fileURLToPath(new URL(`../../examples/verify/${name}`, import.meta.url));
const worker = [process.execPath, example("worker.ts")];
const broken = [process.execPath, example("plain-fetch.mjs")];

describe("pod-partner verify", () => {
  const { at, programOf } = useFolder();

  it("finds nothing in the worker of the example", async () => {
    // The test below plays the others of these kinds.
    const played = "again,twice-at,lost-after,very-late,order-cut,killed-during,killed-last,storm,unstable,rate,small";
    const { code, report, rows } = await verify(played, worker);
    expect(rows).toEqual({
      again: "passed",
      "order-lost-after": "passed",
      "order-very-late": "passed",
      "order-cut": "passed",
      "twice-at-once": "passed",
      "killed-during": "passed",
      "killed-last": "passed",
      storm: "passed",
      unstable: "passed",
      "small-bucket": "passed",
      "rate-limited": "passed",
      "rate-limited-bare": "passed",
    });
    expect({ code, ok: report.ok, orders: report.orders }).toEqual({ code: 0, ok: true, orders: 5 });
  });

  it("finds nothing in the worker of the example in Python", async () => {
    const { rows } = await verify("twice-at,order-late,killed-during", ["python3", example("worker.py")]);
    expect(rows).toEqual({ "twice-at-once": "passed", "order-late": "passed", "killed-during": "passed" });
  });

  it("runs no two processes with `--parallel 1`, and says so", async () => {
    const { output } = await runMain(["verify", "--only", "twice-at", "--parallel", "1", "--", ...broken]);
    expect(output).toMatch(/–\s+Two processes do the same work at once \(needs --parallel 2\)/);
  });

  it("says why it skips a row, also in the reports", async () => {
    const program = programOf("reads.mjs", `${listing} await get("/stores");`);
    const [junit, html] = [at("skipped.xml"), at("skipped.html")];
    const only = "order-502,killed-last,claim-lost,callbacks-twice";
    const { output } = await runMain(["verify", "--only", only, "--junit", junit, "--html", html, "--", ...program]);
    const needed = ["an order", "5 orders", "a claim", "a callback"].map((what) => `needs ${what}`);
    const skipped = [...output.replace(/\s+/g, " ").matchAll(/–[^–]+\((.+?)\)/g)].map(([, reason]) => reason);
    expect(skipped).toEqual(needed);
    for (const reason of needed) {
      expect(readFileSync(html, "utf8")).toContain(`(${reason})`);
      expect(readFileSync(junit, "utf8")).toContain(`<skipped message="${reason}"/>`);
    }
  });

  it("finds where a client that only retries orders twice, and writes the reports", async () => {
    const [junit, html] = [at("report.xml"), at("report.html")];
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

  it.each([
    ["hammers", "small-bucket", "while (!(await get('/stores')).ok);", /requests before the time of Retry-After/],
    [
      "never ends",
      "storm",
      "await get('/stores').then(({ ok }) => ok || new Promise(() => setInterval(() => {}, 1e3)));",
      /did not end within 4 s/,
    ],
    ["ends with an error", "storm", "if (!(await get('/stores')).ok) process.exit(9);", /ended with exit code 9/],
    ["puts the key into a URL", "again", "await get('/stores?key=' + key);", /the key is in the URL or body of GET/],
  ])("finds a program that %s", async (name, row, code, finding) => {
    const program = programOf(
      `${name.replaceAll(" ", "-")}.mjs`,
      `${listing} for (let n = 0; n < 9; n += 1) { ${code} }`,
    );
    const { code: exit, rows } = await verify(row, program, name === "never ends" ? ["--timeout", "4000"] : []);
    expect(exit).toBe(1);
    expect(Object.values(rows).join()).toMatch(finding);
  });

  it("counts an order for whose response the program did not wait", async () => {
    const measured = { version: 1, date: "2026-11-27T00:00:00Z", assumptions: {}, measured: {} };
    writeFileSync(at("slow.json"), JSON.stringify({ ...measured, emulator: { creationTime: 600 } }));
    const program = programOf(
      "impatient.mjs",
      `${listing}
        const store = (await (await get("/stores")).json()).stores.find(({ integration }) => integration === "api");
        const product = (await (await get("/products")).json()).products.find(({ name }) => /screen|glass/i.test(name));
        const orderlines = [{ productReference: product.reference, quantity: 1 }];
        const order = { customIdentifier: "shop-1", storeReference: store.reference, shippingKind: "combined", orderlines };
        const headers = { "X-Service-Secret-Key": key, "Content-Type": "application/json" };
        const signal = AbortSignal.timeout(300);
        await get("/orders", { method: "POST", headers, body: JSON.stringify({ order }), signal }).catch(() => {});
        setTimeout(() => {}, 1_000);`,
    );
    const { rows } = await verify("order-502", program, ["--assumptions", at("slow.json")]);
    expect(rows).toEqual({ "order-502": "passed" });
  });

  it("says what to do with a program that never ends", async () => {
    const program = programOf("endless.mjs", "setInterval(() => {}, 1_000);");
    const { code, errors } = await runMain(["verify", "--timeout", "1000", "--", ...program]);
    expect(code).toBe(1);
    expect(errors).toMatch(
      /did not end within 1 s .*must end when its work is done\. A server needs --ready .*verify\.md#my-worker-never-ends/,
    );
  });

  it.each([
    ["fails without a fault", "process.exit(4);", /fails without a fault: the program ended with exit code 4/],
    ["orders twice without a fault", `${ordering} await place("a", 1); await place("a", 2);`, /fault: made twice: a/],
    ["ignores the emulator", "", /the program sent no request: it must use POD_PARTNER_BASE_URL/],
  ])("says that a program %s, also in the reports", async (name, code, message) => {
    const program = programOf(`${name.replaceAll(" ", "-")}.mjs`, code);
    const junit = at("calm.xml");
    const { code: exit, output, errors } = await runMain(["verify", "--json", "--junit", junit, "--", ...program]);
    expect(exit).toBe(1);
    expect(errors).toMatch(message);
    const { ok, outcomes } = JSON.parse(output) as { ok: boolean; outcomes: readonly Outcome[] };
    expect({ ok, outcomes }).toMatchObject({ ok: false, outcomes: [{ id: "calm", status: "failed" }] });
    expect(`fails without a fault: ${outcomes[0]?.findings[0]?.text}`).toMatch(message);
    expect(readFileSync(junit, "utf8")).toContain('tests="1" failures="1"');
  });

  it("lists the rows of --only, which may be repeated", async () => {
    const { output } = await runMain(["verify", "--list", "--only", "storm,slow", "--only", "claim"]);
    const listed = output.trim().split("\n");
    // `slow` is a row, and a part of order-slow.
    expect(listed.map((line) => line.split(" ")[0])).toEqual(["claim-lost", "killed-claim", "storm", "slow"]);
  });

  it("takes the row of a name in --only, and each row that contains what is no name", async () => {
    const listed = async (only: string) =>
      (await runMain(["verify", "--list", "--only", only])).output.split("\n").length - 1;
    expect([await listed("rate-limited"), await listed("rate-lim")]).toEqual([1, 2]);
    const { output } = await runMain(["verify", "--help"]);
    expect(output.replace(/\s+/g, " ")).toContain("What is no name takes each row that contains it.");
  });

  it("keeps the reports of the rows that have ended when it is interrupted", async () => {
    const junit = at("interrupted.xml");
    const hang = 'if (process.env.POD_PARTNER_VERIFY_ROW === "storm") setInterval(() => {});';
    const program = programOf("hangs.mjs", `${listing} await get("/stores"); ${hang}`);
    const running = startCli(["verify", "--json", "--only", "again,storm", "--junit", junit, "--", ...program]);
    await expect.poll(() => existsSync(junit) && readFileSync(junit, "utf8")).toContain("again:");
    running.kill("SIGINT");
    expect(await running.ended).toMatchObject({ code: 130 });
    const { ok, planned, outcomes } = JSON.parse(running.output());
    expect({ ok, planned, rows: outcomes.map(({ id }: Outcome) => id) }).toEqual({
      ok: false,
      planned: 2,
      rows: ["again"],
    });
  });

  describe("ends the programs of the other rows", () => {
    /** Hangs in the row `storm`. The row `again` waits for that, and does something then. */
    const hanging = (name: string, again: string) => {
      const pid = at(`${name}.pid`);
      const code = `import { existsSync, rmSync, writeFileSync } from "node:fs";
        ${listing}
        await get("/stores");
        if (process.env.POD_PARTNER_VERIFY_ROW === "storm") {
          writeFileSync(${JSON.stringify(pid)}, String(process.pid));
          await new Promise(() => setTimeout(() => {}, 40_000));
        }
        if (process.env.POD_PARTNER_VERIFY_ROW === "again") {
          while (!existsSync(${JSON.stringify(pid)})) await new Promise((resolve) => setTimeout(resolve, 50));
          ${again}
        }`;
      const isRunning = () => {
        try {
          return process.kill(Number(readFileSync(pid, "utf8")), 0);
        } catch {
          return false;
        }
      };
      return { code, isRunning, hasBegun: () => existsSync(pid) };
    };

    it("when one cannot be started", async () => {
      const file = at("removed");
      const { code, isRunning, hasBegun } = hanging("removed", `rmSync(${JSON.stringify(file)});`);
      const [, module = ""] = programOf("removed.mjs", code);
      writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${module}'\n`, { mode: 0o755 });
      const only = "again,storm,unstable";
      const { code: exit, output, errors } = await runMain(["verify", "--parallel", "2", "--only", only, "--", file]);
      expect({ exit, errors }).toEqual({ exit: 1, errors: expect.stringContaining("cannot be started") });
      expect(output).not.toContain("✗");
      expect(hasBegun()).toBe(true);
      await expect.poll(isRunning, { timeout: 5_000 }).toBe(false);
    });

    it("when its output is closed", async () => {
      const { code, isRunning, hasBegun } = hanging(
        "closed",
        "await new Promise((resolve) => setTimeout(resolve, 1_000));",
      );
      const program = programOf("closed.mjs", code);
      const running = startCli(["verify", "--parallel", "2", "--only", "again,storm", "--", ...program]);
      await expect.poll(hasBegun).toBe(true);
      running.closeOutput();
      await running.ended;
      await expect.poll(isRunning, { timeout: 5_000 }).toBe(false);
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
      "killed-claim": expect.stringMatching(/made twice: one of the claim about random-/),
    });
  });

  it("finds a program that is killed while it cancels, and cancels one more after its restart", async () => {
    const program = programOf(
      "cancels.mjs",
      `${ordering}
        const reference = (await find("shop-1")) ?? (await place("shop-1", 3));
        const [line] = (await (await get("/orders/" + reference)).json()).order.orderlines;
        const orderlines = [{ index: 1, canceledQuantity: line.canceledQuantity + 1 }];
        await post("/orders/" + reference + "/cancel", { orderlines });`,
    );
    const { rows } = await verify("again,killed-cancel", program);
    expect(rows).toEqual({ again: "passed", "killed-cancel": expect.stringMatching(/without a fault: shop-1/) });
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
