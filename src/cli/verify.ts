import { writeFile } from "node:fs/promises";
import { constants } from "node:os";
import { nearest } from "../schemas/messages.ts";
import { version } from "../util/runtime.ts";
import { command, exitCodes, Failure, type FlagValues, text, usage, wholeNumber } from "./arguments.ts";
import { killAll, required } from "./program.ts";
import { columns, paint, print, printError, wrap } from "./terminal.ts";
import { catalogue, type Row } from "./verify-catalogue.ts";
import { compare, type Finding } from "./verify-compare.ts";
import { failedOf, type Outcome, pageOf, type Report, toHtml, toJson, toJunit } from "./verify-report.ts";
import { type Run, removeFolders, runOnce, type Setup } from "./verify-run.ts";

const defaults = { timeout: 60_000, parallel: 4, seed: 1 };

const flags = {
  only: text("The rows to run: their names in --list, or parts of them, with commas between them.", "rows"),
  list: { help: "Print the rows, and end." },
  ready: text("Of a server: the URL that responds with 2xx when it is ready.", "url"),
  drive: text("Of a server: the command that uses it. It runs once in each row.", "command"),
  "callback-url": text("Of a server: the URL of its callbacks. Each order ships when it was made.", "url"),
  orders: wholeNumber("The number of orders that exist at the start. Default 0.", { most: 10_000 }),
  seed: wholeNumber(`The number that all references derive from. Default ${defaults.seed}.`),
  timeout: wholeNumber(`Milliseconds for each row. Default ${defaults.timeout}.`, { least: 1_000, placeholder: "ms" }),
  parallel: wholeNumber(`How many rows run at a time. Default ${defaults.parallel}; 1 for a server.`, {
    least: 1,
    most: 64,
  }),
  json: { help: "Print one JSON object." },
  junit: text("A file for the report as JUnit's XML.", "file"),
  html: text("A file for the report as a page.", "file"),
};

/** The run without a fault. */
const calm: Row = { id: "calm", name: "Without a fault", applies: () => true, page: "faults.md" };

function rowsOf(only: string | undefined): readonly Row[] {
  if (only === undefined) return catalogue;
  const parts = only.split(",").map((part) => part.trim());
  for (const part of parts) {
    if (catalogue.some(({ id }) => id.includes(part))) continue;
    const likely = nearest(
      part,
      catalogue.map(({ id }) => id),
    );
    throw usage(`--only ${part} is no row.${likely === undefined ? " See --list." : ` Did you mean ${likely}?`}`);
  }
  return catalogue.filter(({ id }) => parts.some((part) => id.includes(part)));
}

function setupOf(values: FlagValues<typeof flags>, program: readonly string[]): Setup {
  const { ready, drive, "callback-url": callbackUrl, orders = 0, seed = defaults.seed } = values;
  if ((ready === undefined) !== (drive === undefined)) throw usage("--ready and --drive belong together.");
  if (callbackUrl !== undefined && ready === undefined) throw usage("--callback-url needs --ready and --drive.");
  const server = ready === undefined || drive === undefined ? undefined : { ready, drive };
  const { timeout = defaults.timeout } = values;
  return { program, server, callbackUrl, orders, seed, timeout };
}

const count = (map: ReadonlyMap<string, readonly string[]>): number =>
  [...map.values()].reduce((sum, names) => sum + names.length, 0);

const indented = (lines: string): string => lines.replace(/^/gm, "    ");

/** The run that all others are compared with. */
async function runCalm(setup: Setup): Promise<Run> {
  const run = await runOnce(setup, calm, undefined);
  const [finding] = run.findings;
  const exit = run.code === 0 ? undefined : `it ended with exit code ${run.code}`;
  const silent = "it sent no request: it must use POD_PARTNER_BASE_URL and POD_PARTNER_SECRET_KEY";
  const fault = finding?.text ?? exit ?? (run.usage.requests === 0 ? silent : undefined);
  if (fault === undefined) return run;
  const printed = run.output === "" ? "" : ` It printed:\n${indented(run.output)}`;
  throw new Failure(`Your program fails without a fault: ${fault}.${printed}`);
}

async function outcomeOf(row: Row, setup: Setup, baseline: Run): Promise<Outcome> {
  if (!row.applies(baseline.usage)) {
    return { row, status: "skipped", findings: [], took: 0, requests: 0, output: "" };
  }
  const run = await runOnce(setup, row, baseline.usage);
  const found = compare(baseline.result, run.result);
  const findings: Finding[] = [
    // A program that cannot make everything may leave it out, but may not make it twice.
    ...(row.mayFail === true ? found.filter(({ kind }) => kind === "doubled") : found),
    ...run.findings,
  ];
  const isUnfinished = run.findings.some(({ kind }) => kind === "unfinished");
  if (run.code !== 0 && !isUnfinished && row.mayFail !== true) {
    findings.push({ kind: "failed", text: `it ended with exit code ${run.code}` });
  }
  const { took, output, usage: used } = run;
  const status = findings.length === 0 ? "passed" : "failed";
  return { row, status, findings, took, requests: used.requests, output };
}

const signs = {
  passed: paint("green", "✓"),
  failed: paint("red", "✗"),
  skipped: paint("dim", "–"),
} as const;

function printOutcome({ row, status, findings, took }: Outcome): void {
  const time = status === "skipped" ? "" : `${(took / 1_000).toFixed(1)} s`;
  const room = columns() - 14;
  const [first = "", ...rest] = wrap(row.name, room);
  const name = status === "skipped" ? paint("dim", first.padEnd(room)) : first.padEnd(room);
  print(` ${signs[status]}  ${name}${paint("dim", time.padStart(8))}`, ...rest.map((line) => `    ${line}`));
  for (const { text: finding } of findings) print(...wrap(finding, room).map((line) => `    ${paint("red", line)}`));
  if (status === "failed") print(`    ${paint("dim", `→ ${pageOf(row)} (--only ${row.id})`)}`);
}

/** Runs the rows, some at a time, and tells of each in the order of the catalogue. */
async function runRows(
  rows: readonly Row[],
  parallel: number,
  work: (row: Row) => Promise<Outcome>,
  tell: (outcome: Outcome) => void,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  let next = 0;
  let told = 0;
  const lane = async () => {
    for (let index = next++; index < rows.length; index = next++) {
      outcomes[index] = await work(rows[index] as Row);
      for (let done = outcomes[told]; done !== undefined; done = outcomes[told]) {
        tell(done);
        told += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: parallel }, lane));
  return outcomes;
}

async function write(path: string | undefined, content: string): Promise<void> {
  if (path === undefined) return;
  try {
    await writeFile(path, content);
  } catch (error) {
    throw new Failure(`The report cannot be written: ${(error as Error).message}.`);
  }
}

const things = (number: number, name: string): string => `${number} ${name}${number === 1 ? "" : "s"}`;

const madeBy = ({ result, usage: { requests } }: Run, before: number): string =>
  `${things(count(result.orders) - before, "order")}, ${things(count(result.claims), "claim")}, ${things(requests, "request")}`;

/** `pod-partner verify`: proves that a program survives what a network and the service do to it. */
export const verify = command({
  name: "verify",
  summary: "Proves that your program survives what a network and the service do to it.",
  flags,
  program: true,
  notes: [
    "It runs your program, in any language, against the emulator: first without a fault, then once for each row. Each time it must make the same orders and claims, each once: pod-partner verify -- npm start",
    "Your program must begin with the same work each time. Keep its data in the folder POD_PARTNER_VERIFY_FOLDER, which is new in each row and stays when the program is killed and started again.",
  ],
  run: async (values, program) => {
    if (values.list) {
      print(...catalogue.map(({ id, name }) => `${id.padEnd(20)}${name}`));
      return 0;
    }
    const rows = rowsOf(values.only);
    const setup = setupOf(values, required(program, "verify"));
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.once(signal, () => {
        killAll();
        removeFolders();
        process.exit(128 + constants.signals[signal]);
      });
    }
    const began = performance.now();
    const say = values.json ? () => {} : print;
    say(`${paint("bold", "pod-partner verify")} ${paint("dim", program.join(" "))}`, "");
    const baseline = await runCalm(setup);
    say(`${paint("dim", `Without a fault: ${madeBy(baseline, setup.orders)}.`)}`, "");
    if (count(baseline.result.orders) + count(baseline.result.claims) === setup.orders) {
      say(paint("yellow", "It made no order and no claim, so only its requests and its end are checked."), "");
    }
    const parallel = setup.server === undefined ? (values.parallel ?? defaults.parallel) : 1;
    const tell = values.json ? () => {} : printOutcome;
    const outcomes = await runRows(rows, parallel, (row) => outcomeOf(row, setup, baseline), tell);
    const report: Report = {
      version,
      program: program.join(" "),
      seed: setup.seed,
      orders: count(baseline.result.orders) - setup.orders,
      claims: count(baseline.result.claims),
      requests: baseline.usage.requests,
      outcomes,
      took: performance.now() - began,
    };
    const failed = failedOf(report);
    if (values.json) print(toJson(report));
    await write(values.junit, toJunit(report));
    await write(values.html, toHtml(report));
    const passed = outcomes.filter(({ status }) => status === "passed").length;
    const skipped = outcomes.length - failed.length - passed;
    say(
      "",
      `${things(failed.length, "row")} failed, ${passed} passed, ${skipped} skipped, in ${(report.took / 1_000).toFixed(0)} s.`,
    );
    const [worst] = failed;
    if (worst !== undefined && worst.output !== "") {
      printError(`\nThe last lines of the program in "${worst.row.name}":\n${indented(worst.output)}`);
    }
    return failed.length === 0 ? 0 : exitCodes.failed;
  },
});
