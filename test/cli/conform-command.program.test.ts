import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { MeasuredAssumptions } from "pod-partner";
import { type RunningEmulator, type StartEmulatorOptions, startEmulator } from "pod-partner/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { rows } from "../../src/cli/conform-rows.ts";
import { runMain } from "./main.ts";
import { runCli, startCli } from "./process.ts";

const worker = fileURLToPath(new URL("../../examples/verify/worker.ts", import.meta.url));

/** What the service of these tests does otherwise. */
const assumptions = {
  customIdentifierParameter: "identifier",
  orderReferenceField: "found",
  noOrder: ["bare-404"],
  errorField: "error",
} as const;

async function useEmulator(options: StartEmulatorOptions = {}): Promise<RunningEmulator> {
  const emulator = await startEmulator({ seed: { orders: 60 }, assumptions, ...options });
  onTestFinished(() => emulator.close());
  return emulator;
}

function useFolder() {
  const folder = mkdtempSync(join(tmpdir(), "conform-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return (name: string) => join(folder, name);
}

const environmentOf = ({ baseUrl, secretKey }: RunningEmulator) => ({
  POD_PARTNER_BASE_URL: baseUrl,
  POD_PARTNER_SECRET_KEY: secretKey,
});

const openOrders = (emulator: RunningEmulator) =>
  (emulator.world().organizations[0]?.orders ?? [])
    .slice(60)
    .filter(({ lines }) => lines.some(({ quantity, canceledQuantity }) => canceledQuantity < quantity));

describe("pod-partner conform", () => {
  it("sends nothing without the flag, without a terminal to ask on, and to a host of production", async () => {
    const emulator = await useEmulator();
    const environment = environmentOf(emulator);
    const refused = await runMain(["conform", "--yes"], environment);
    expect(refused.code).toBe(2);
    expect(refused.errors).toContain("add --test-environment");
    const unasked = await runMain(["conform", "--test-environment"], environment);
    expect(unasked.code).toBe(2);
    expect(unasked.output).toMatch(/at most about \d+ requests[\s\S]*no rendertokens/);
    expect(unasked.output).toMatch(new RegExp(`${rows.length} rows against .+\\n.* because they need an option: 8\\n`));
    expect(unasked.errors).toContain("add --yes");
    const POD_PARTNER_BASE_URL = "https://api.prod.example/v2";
    const production = await runMain(["conform", "--test-environment", "--yes"], {
      ...environment,
      POD_PARTNER_BASE_URL,
    });
    expect(production.code).toBe(2);
    expect(production.errors).toContain("looks like production");
    const argument = await runMain(["conform", "--secret-key", emulator.secretKey], environment);
    expect(argument.code).toBe(2);
    expect(emulator.requests.length).toBe(0);
  });

  it("says that it could not run: no service, a wrong key, a file that is not its own", async () => {
    const emulator = await useEmulator();
    const environment = environmentOf(emulator);
    const at = useFolder();
    const run = (changes: Readonly<Record<string, string>>, ...args: readonly string[]) =>
      runMain(["conform", "--test-environment", "--yes", "--journal", at("j"), ...args], {
        ...environment,
        ...changes,
      });
    const noKey = await run({ POD_PARTNER_SECRET_KEY: "short" });
    expect(noKey.code).toBe(2);
    expect(noKey.errors).toMatch(/^pod-partner: POD_PARTNER_SECRET_KEY: expected at least 12 characters.*\.\n$/);
    const wrongKey = await run({ POD_PARTNER_SECRET_KEY: "another-secret-key" });
    expect(wrongKey.code).toBe(2);
    expect(wrongKey.errors).toContain("refuses the key (401)");
    writeFileSync(
      at("wrong.json"),
      '{ "version": 1, "date": "2026-01-01T00:00:00Z", "assumptions": { "noOrder": ["405"] } }',
    );
    const wrongFile = await run({}, "--compare", at("wrong.json"));
    expect(wrongFile.code).toBe(2);
    expect(wrongFile.errors).toMatch(/wrong\.json assumptions noOrder 0: /);
  });

  it("writes the file and the reports, and with the file all is as assumed and verify passes", async () => {
    const emulator = await useEmulator();
    const at = useFolder();
    const { POD_PARTNER_BASE_URL, POD_PARTNER_SECRET_KEY } = environmentOf(emulator);
    writeFileSync(
      at("env"),
      `POD_PARTNER_BASE_URL=${POD_PARTNER_BASE_URL}\nPOD_PARTNER_SECRET_KEY=${POD_PARTNER_SECRET_KEY}\n`,
    );
    const common = ["conform", "--test-environment", "--yes", "--env-file", at("env"), "--journal", at("journal")];
    const files = { out: at("assumptions.json"), html: at("report.html"), junit: at("report.xml") };
    const flags = Object.entries(files).flatMap(([name, path]) => [`--${name}`, path]);
    const first = await runMain([...common, ...flags]);
    expect(first.errors).toBe("");
    expect(first.code).toBe(1);
    expect(first.output).toMatch(
      /✗ {2}Parameter of the look-up by identifier\n +identifier; assumed: customIdentifier\./,
    );
    expect(first.output).toContain("Left behind:");
    const { date, measured, ...file } = JSON.parse(readFileSync(files.out, "utf8")) as MeasuredAssumptions;
    expect(file).toEqual({
      version: 1,
      assumptions: { customIdentifierParameter: "identifier", orderReferenceField: "found", noOrder: ["bare-404"] },
      emulator: { errorField: "error" },
    });
    expect(Date.parse(date)).not.toBeNaN();
    expect(measured["lookup-none"]).toBe("bare-404");
    expect(readFileSync(files.junit, "utf8")).toContain('failures="3"');
    const texts = [first.output, ...Object.values(files).map((path) => readFileSync(path, "utf8"))];
    for (const text of texts) expect(text).not.toContain(POD_PARTNER_SECRET_KEY);
    expect(openOrders(emulator)).toEqual([]);
    expect(existsSync(at("journal"))).toBe(false);

    const second = await runMain([...common, "--json", "--compare", files.out]);
    expect(second.code).toBe(0);
    expect(JSON.parse(second.output)).toMatchObject({ ok: true });
    const program = ["--", process.execPath, worker];
    const verified = await runMain([
      "verify",
      "--only",
      "order-lost-after,again",
      "--assumptions",
      files.out,
      ...program,
    ]);
    expect(verified.output).toContain("0 rows failed, 2 passed");
    expect(verified.code).toBe(0);
  });

  it("refuses files that it cannot write, and production by its host or path, before it sends anything", async () => {
    const emulator = await useEmulator();
    const at = useFolder();
    const environment = environmentOf(emulator);
    const run = (args: readonly string[], changes: Readonly<Record<string, string>> = {}) =>
      runMain(["conform", "--test-environment", "--yes", "--out", at("a.json"), "--journal", at("j"), ...args], {
        ...environment,
        ...changes,
      });
    for (const flag of ["--out", "--html", "--junit", "--journal"]) {
      const refused = await run([flag, at("missing/file")]);
      expect(refused.code).toBe(2);
      expect(refused.errors).toMatch(/^pod-partner: The file .*missing\/file cannot be written: ENOENT.*\n$/);
    }
    expect((await run(["--env-file", at("missing")])).code).toBe(2);
    for (const url of ["https://prod1.example/v2", "https://api_live.example/v2", "https://api.example/prd/v2"]) {
      const refused = await run([], { POD_PARTNER_BASE_URL: url });
      expect([refused.code, refused.errors]).toEqual([2, expect.stringContaining("looks like production")]);
    }
    expect(emulator.requests.length).toBe(0);
  });

  it("cancels what it placed when the reader of its output has gone", async () => {
    const emulator = await useEmulator();
    const at = useFolder();
    const running = startCli(
      ["conform", "--test-environment", "--yes", "--out", at("a.json"), "--journal", at("journal")],
      environmentOf(emulator),
    );
    await running.until(/A customIdentifier that exists/);
    running.closeOutput();
    expect(await running.ended).toEqual({ code: 141, signal: null });
    expect(openOrders(emulator)).toEqual([]);
    expect([existsSync(at("a.json")), existsSync(at("journal"))]).toEqual([false, false]);
  });

  it("cancels what it placed at Ctrl-C, and lists what is left", async () => {
    const emulator = await useEmulator();
    const at = useFolder();
    const running = startCli(
      ["conform", "--test-environment", "--yes", "--out", at("a.json"), "--journal", at("journal")],
      environmentOf(emulator),
    );
    await running.until(/A customIdentifier that exists/);
    expect(openOrders(emulator).length).toBeGreaterThan(2);
    running.kill("SIGINT");
    expect(await running.ended).toEqual({ code: 130, signal: null });
    expect(running.output()).toMatch(
      /Ended after \d+ rows: what it placed is canceled\.[\s\S]*the canceled order Order_/,
    );
    expect(openOrders(emulator)).toEqual([]);
    expect([existsSync(at("a.json")), existsSync(at("journal"))]).toEqual([false, false]);
  });

  it("refuses a second run with the same journal while the first one runs", async () => {
    const emulator = await useEmulator();
    const at = useFolder();
    const args = ["conform", "--test-environment", "--yes", "--out", at("a.json"), "--journal", at("journal")];
    const first = startCli(args, environmentOf(emulator));
    await expect.poll(() => existsSync(at("journal")), { timeout: 20_000 }).toBe(true);
    const second = await runCli(args, environmentOf(emulator));
    expect(second.code).toBe(2);
    expect(second.errors).toContain(`Another run (process ${first.pid}) uses the file ${at("journal")}`);
    first.kill("SIGINT");
    expect((await first.ended).code).toBe(130);
    expect([existsSync(at("journal")), openOrders(emulator)]).toEqual([false, []]);
  });
});
