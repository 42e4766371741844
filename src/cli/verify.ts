import { writeFileSync } from "node:fs";
import { constants } from "node:os";
import { resolve } from "node:path";
import { nearest } from "../schemas/messages.ts";
import { version } from "../util/runtime.ts";
import { command, exitCodes, Failure, type FlagValues, list, text, usage, wholeNumber } from "./arguments.ts";
import { variablesIn } from "./env-file.ts";
import { endSignals, killAll, required } from "./program.ts";
import { columns, counted, paint, print, printError, wrap } from "./terminal.ts";
import { catalogue, type FaultRow } from "./verify-catalogue.ts";
import type { VerifyFinding } from "./verify-compare.ts";
import { failedOf, pageOf, type RowOutcome, toHtml, toJson, toJunit, type VerifyReport } from "./verify-report.ts";
import { removeFolders, runOnce, type Setup, type VerifyRun } from "./verify-run.ts";

/** A service that was measured may need more time for each order. */
const defaults = { timeout: 60_000, measuredTimeout: 300_000, parallel: 4, seed: 1 };

const flags = {
  only: list(
    "The rows to run: names in --list, with commas between them. What is no name takes each row that contains it.",
    "rows",
  ),
  list: { help: "Print the rows, and end." },
  ready: text("For a server: the URL that responds with 2xx when it is ready.", "url"),
  drive: text("For a server: the command that uses it. It runs once in each row.", "command"),
  sweep: text(
    "For a server: the command that makes it look for what no callback reported, at the end of each row.",
    "command",
  ),
  "callback-url": text("For a server: the URL of its callbacks. Each order ships as soon as it is made.", "url"),
  orders: wholeNumber("The number of orders that exist at the start. Default 0.", { most: 10_000 }),
  seed: wholeNumber(`The number that all references derive from. Default ${defaults.seed}.`),
  timeout: wholeNumber(
    `Milliseconds for each row. Default ${defaults.timeout}; ${defaults.measuredTimeout} with a file of assumptions.`,
    { least: 1_000, placeholder: "ms" },
  ),
  parallel: wholeNumber(`How many rows run at a time. Default ${defaults.parallel}; 1 for a server.`, {
    least: 1,
    most: 64,
  }),
  assumptions: text(
    "A file that conform wrote: emulator and program then assume what the service did. Default: POD_PARTNER_ASSUMPTIONS.",
    "file",
  ),
  "env-file": text("A file with environment variables of the program.", "file"),
  json: { help: "Print one JSON object." },
  junit: text("A file for the report as JUnit's XML.", "file"),
  html: text("A file for the report as a page.", "file"),
};

/** The run without a fault. */
const calm: FaultRow = {
  id: "calm",
  name: "Without a fault",
  missing: () => undefined,
  page: "verify.md#what-your-program-needs",
};

/** What to do with a program that does not end. */
const endless =
  "It must end when its work is done. A server needs --ready and --drive; for a worker that never ends, see node_modules/pod-partner/docs/verify.md#my-worker-never-ends.";

/** The row of this name, or the rows whose names contain it. */
function rowsNamed(part: string): readonly FaultRow[] {
  const same = catalogue.filter(({ id }) => id === part);
  return same.length > 0 ? same : catalogue.filter(({ id }) => id.includes(part));
}

function rowsOf(only: string | undefined): readonly FaultRow[] {
  if (only === undefined) return catalogue;
  const chosen = only.split(",").flatMap((text) => {
    const part = text.trim();
    const rows = rowsNamed(part);
    if (rows.length > 0) return rows;
    const ids = catalogue.map(({ id }) => id);
    const likely = nearest(part, ids);
    throw usage(`--only ${part} is no row.${likely === undefined ? " See --list." : ` Did you mean ${likely}?`}`);
  });
  return catalogue.filter((row) => chosen.includes(row));
}

function setupOf(values: FlagValues<typeof flags>, program: readonly string[]): Setup {
  const { ready, drive, sweep, "callback-url": callbackUrl, orders = 0, seed = defaults.seed } = values;
  if ((ready === undefined) !== (drive === undefined)) throw usage("--ready and --drive belong together.");
  if (callbackUrl !== undefined && ready === undefined) throw usage("--callback-url needs --ready and --drive.");
  if (ready !== undefined && !/^https?:$/.test(URL.parse(ready)?.protocol ?? "")) {
    throw usage(`--ready expects a URL, for example http://127.0.0.1:3000/health, not ${JSON.stringify(ready)}.`);
  }
  if (sweep !== undefined && callbackUrl === undefined) throw usage("--sweep needs --callback-url.");
  const server = ready === undefined || drive === undefined ? undefined : { ready, drive, sweep };
  const assumptions = values.assumptions === undefined ? undefined : resolve(values.assumptions);
  const isMeasured = assumptions !== undefined || Boolean(process.env.POD_PARTNER_ASSUMPTIONS);
  const { timeout = isMeasured ? defaults.measuredTimeout : defaults.timeout } = values;
  // The rows of a server share its port.
  const parallel = server === undefined ? (values.parallel ?? defaults.parallel) : 1;
  const variables = variablesIn(values["env-file"]);
  return { program, server, callbackUrl, orders, seed, timeout, parallel, assumptions, variables };
}

const count = (map: ReadonlyMap<string, readonly string[]>): number =>
  [...map.values()].reduce((sum, names) => sum + names.length, 0);

const indented = (lines: string): string => lines.replace(/^/gm, "    ");

/** Names the command whose exit code a run has. */
const endedWith = ({ server }: Setup, code: number): VerifyFinding => ({
  kind: "failed",
  text: `the ${server === undefined ? "program" : "drive command"} ended with exit code ${code}`,
});

/** What is wrong with a program without a fault. */
async function faultOf(setup: Setup, run: VerifyRun): Promise<readonly VerifyFinding[]> {
  const { repeatedOrders } = await import("pod-partner/testing");
  const {
    code,
    usage: { requests },
  } = run;
  const findings = [...run.findings, ...repeatedOrders(run.result)];
  if (findings.length > 0) return findings;
  if (code !== 0) return [endedWith(setup, code)];
  if (requests > 0) return [];
  const text = "the program sent no request: it must use POD_PARTNER_BASE_URL and POD_PARTNER_SECRET_KEY";
  return [{ kind: "failed", text }];
}

/** The run that all others are compared with. */
async function runCalm(setup: Setup): Promise<{ readonly baseline: VerifyRun; readonly outcome: RowOutcome }> {
  const ready = setup.server?.ready;
  // Another server at this port would be tested instead.
  const isTaken = ready !== undefined && (await fetch(ready).catch(() => undefined)) !== undefined;
  if (isTaken) throw new Failure(`Another program responds at ${ready}: end it first.`);
  const baseline = await runOnce(setup, calm, undefined);
  const { took, output, usage: used } = baseline;
  const findings = await faultOf(setup, baseline);
  const status = findings.length === 0 ? "passed" : "failed";
  return { baseline, outcome: { row: calm, status, findings, took, requests: used.requests, output } };
}

async function outcomeOf(row: FaultRow, setup: Setup, baseline: VerifyRun): Promise<RowOutcome> {
  const skipped = { row, status: "skipped", findings: [], took: 0, requests: 0, output: "" } as const;
  const missing = row.missing(baseline.usage);
  if (missing !== undefined) return { ...skipped, reason: `needs ${missing}` };
  const isAlone = setup.server === undefined && setup.parallel === 1;
  if (row.twice && isAlone) return { ...skipped, reason: "needs --parallel 2" };
  if (row.callbacks === "never" && setup.server?.sweep === undefined) return { ...skipped, reason: "needs --sweep" };
  const run = await runOnce(setup, row, baseline.usage);
  const { differences } = await import("pod-partner/testing");
  const found = differences(baseline.result, run.result);
  const findings: VerifyFinding[] = [
    // A program that cannot make everything may leave it out, but may not make it twice.
    ...(row.mayFail === true ? found.filter(({ kind }) => kind === "doubled") : found),
    ...run.findings,
  ];
  const isUnfinished = run.findings.some(({ kind }) => kind === "unfinished");
  if (run.code !== 0 && !isUnfinished && row.mayFail !== true) {
    findings.push(endedWith(setup, run.code));
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

function printOutcome({ row, status, reason, findings, took }: RowOutcome): void {
  const time = status === "skipped" ? "" : `${(took / 1_000).toFixed(1)} s`;
  const room = columns() - 14;
  const [first = "", ...rest] = wrap(reason === undefined ? row.name : `${row.name} (${reason})`, room);
  const name = status === "skipped" ? paint("dim", first.padEnd(room)) : first.padEnd(room);
  print(` ${signs[status]}  ${name}${paint("dim", time.padStart(8))}`, ...rest.map((line) => `    ${line}`));
  for (const { text: finding } of findings) print(...wrap(finding, room).map((line) => `    ${paint("red", line)}`));
  if (status === "failed") print(`    ${paint("dim", `→ ${pageOf(row)} (--only ${row.id})`)}`);
}

/** Runs the rows, some at a time. Tells of each in the order of the catalogue, and passes on all that have ended. */
async function runRows(
  rows: readonly FaultRow[],
  parallel: number,
  work: (row: FaultRow) => Promise<RowOutcome>,
  { tell, pass }: { tell(outcome: RowOutcome): void; pass(ended: readonly RowOutcome[]): void },
): Promise<readonly RowOutcome[]> {
  const outcomes: RowOutcome[] = [];
  let next = 0;
  let told = 0;
  let isOver = false;
  const lane = async () => {
    for (let index = next++; index < rows.length; index = next++) {
      const outcome = await work(rows[index] as FaultRow).catch((error: unknown) => {
        // The rows that are running end with their programs, and no other row begins.
        isOver = true;
        killAll();
        throw error;
      });
      if (isOver) return;
      outcomes[index] = outcome;
      // Without the holes of the rows that have not ended.
      pass(Object.values(outcomes));
      for (let done = outcomes[told]; done !== undefined; done = outcomes[told]) {
        tell(done);
        told += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: parallel }, lane));
  return outcomes;
}

/** Writes the reports of what has ended until now. */
function save(report: VerifyReport, { junit, html }: FlagValues<typeof flags>): void {
  try {
    if (junit !== undefined) writeFileSync(junit, toJunit(report));
    if (html !== undefined) writeFileSync(html, toHtml(report));
  } catch (error) {
    throw new Failure(`The report cannot be written: ${(error as Error).message}.`);
  }
}

const madeBy = ({ result, usage: { requests } }: VerifyRun, before: number): string =>
  `${counted(count(result.orders) - before, "order")}, ${counted(count(result.claims), "claim")}, ${counted(requests, "request")}`;

/** `pod-partner verify`: proves that a program survives what a network and the service do to it. */
export const verify = command({
  name: "verify",
  summary: "Proves that your program survives what a network and the service do to it.",
  flags,
  program: true,
  notes: [
    "It runs your program, in any language, against the emulator: first without a fault, then once for each row. Each time it must make the same orders and claims, each once: pod-partner verify -- npm start",
    "Your program must do the same work each time, and then end. Keep its data in the folder POD_PARTNER_VERIFY_FOLDER, which is new in each row and stays when the program is killed and started again.",
    "For a worker that never ends, see node_modules/pod-partner/docs/verify.md#my-worker-never-ends.",
  ],
  run: async (values, program) => {
    const rows = rowsOf(values.only);
    if (values.list) {
      print(...rows.map(({ id, name }) => `${id.padEnd(20)}${name}`));
      return 0;
    }
    const setup = setupOf(values, required(program, "verify"));
    const began = performance.now();
    let report: VerifyReport = {
      version,
      program: program.join(" "),
      seed: setup.seed,
      orders: 0,
      claims: 0,
      requests: 0,
      planned: rows.length,
      outcomes: [],
      took: 0,
    };
    const update = (changes: Partial<VerifyReport>) => {
      report = { ...report, ...changes, took: performance.now() - began };
      save(report, values);
    };
    const say = values.json ? () => {} : print;
    const end = () => {
      if (values.json) print(toJson(report));
    };
    for (const signal of endSignals) {
      process.once(signal, () => {
        killAll();
        removeFolders();
        end();
        say("", `Ended after ${report.outcomes.length} of ${counted(rows.length, "row")}.`);
        process.exit(128 + constants.signals[signal]);
      });
    }
    // A file that cannot be written must not cost the run.
    save(report, values);
    say(`${paint("bold", "pod-partner verify")} ${paint("dim", program.join(" "))}`, "");
    const { baseline, outcome } = await runCalm(setup);
    update({
      orders: count(baseline.result.orders) - setup.orders,
      claims: count(baseline.result.claims),
      requests: baseline.usage.requests,
    });
    if (outcome.status === "failed") {
      update({ planned: 1, outcomes: [outcome] });
      end();
      const [finding] = outcome.findings;
      const advice = finding?.kind === "unfinished" && setup.server === undefined ? ` ${endless}` : "";
      const printed = baseline.output === "" ? "" : ` It printed:\n${indented(baseline.output)}`;
      throw new Failure(`Your program fails without a fault: ${finding?.text}.${advice}${printed}`);
    }
    say(`${paint("dim", `Without a fault: ${madeBy(baseline, setup.orders)}.`)}`, "");
    if (report.orders + report.claims === 0) {
      say(paint("yellow", "It made no order and no claim, so only its requests and its end are checked."), "");
    }
    const outcomes = await runRows(rows, setup.parallel, (row) => outcomeOf(row, setup, baseline), {
      tell: values.json ? () => {} : printOutcome,
      pass: (ended) => update({ outcomes: ended }),
    });
    const failed = failedOf(report);
    end();
    const passed = outcomes.filter(({ status }) => status === "passed").length;
    const skipped = outcomes.length - failed.length - passed;
    say(
      "",
      `${counted(failed.length, "row")} failed, ${passed} passed, ${skipped} skipped, in ${(report.took / 1_000).toFixed(0)} s.`,
    );
    const [worst] = failed;
    if (worst !== undefined && worst.output !== "") {
      printError(`\nThe last lines of the program in "${worst.row.name}":\n${indented(worst.output)}`);
    }
    return failed.length === 0 ? 0 : exitCodes.failed;
  },
});
