import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Issue, MeasuredAssumptions, PodPartnerOptions } from "pod-partner";
import { inOneLine } from "../util/visible.ts";
import { command, exitCodes, Failure, text, usage, wholeNumber } from "./arguments.ts";
import type { Permitted } from "./conform-lab.ts";
import { comparedOf, consequenceOf, countOf, shown, toHtml, toJson, toJunit } from "./conform-report.ts";
import { costOf, rows } from "./conform-rows.ts";
import {
  type ConformFinding,
  type ConformReport,
  isAsAssumed,
  isMissing,
  runConform,
  type Verdict,
} from "./conform-run.ts";
import { noAssumptions } from "./conform-service.ts";
import type { Sdk } from "./connection.ts";
import { variablesIn } from "./env-file.ts";
import { checkFile, writeFile } from "./output-file.ts";
import { endSignals } from "./program.ts";
import { environmentOf } from "./reads.ts";
import { clearProgress, columns, counted, paint, print, printError, showProgress, wrap } from "./terminal.ts";

const defaults = { out: "assumptions.json", journal: ".pod-partner-conform.json" };

const cannotRun = (message: string): Failure => new Failure(message, exitCodes.usage);

/** Has the client check its options. */
function checkOptions(sdk: Sdk, options: PodPartnerOptions, nameOf: (path: Issue["path"]) => string): void {
  try {
    new sdk.PodPartner(options);
  } catch (error) {
    if (!(error instanceof sdk.ConfigurationError)) throw error;
    const issues = error.issues.map(({ path, message }) => `${nameOf(path)}: ${message}`);
    throw cannotRun(`${inOneLine(issues.join("; "))}.`);
  }
}

const variableOf = ([option]: Issue["path"]): string =>
  option === "baseUrl" ? "POD_PARTNER_BASE_URL" : "POD_PARTNER_SECRET_KEY";

/** The file of an earlier run. */
function fileOf(sdk: Sdk, path: string | undefined): MeasuredAssumptions | undefined {
  if (path === undefined) return undefined;
  const options = { baseUrl: "http://localhost/v2", secretKey: "conform-checks-a-file", assumptions: path };
  checkOptions(sdk, options, ([, ...inside]) => [path, ...inside].join(" "));
  return JSON.parse(readFileSync(path, "utf8")) as MeasuredAssumptions;
}

/** JSON with a list of texts or numbers on a line. */
const toText = (value: object): string =>
  JSON.stringify(value, null, 2).replaceAll(/\[[^[\]{}]*\]/g, (list) =>
    list
      .replaceAll(/\s*\n\s*/g, " ")
      .replace("[ ", "[")
      .replace(" ]", "]"),
  );

/** Refuses a URL whose host or path says that it is production. */
function refuseProduction(baseUrl: string): void {
  const url = URL.parse(baseUrl);
  if (url === null) throw cannotRun("POD_PARTNER_BASE_URL is not a URL: see pod-partner doctor.");
  if (environmentOf(`${url.hostname}${url.pathname}`) !== "production") return;
  throw cannotRun(
    `${inOneLine(url.host + url.pathname)} looks like production: conform measures the test environment only.`,
  );
}

const indented = (text: string): readonly string[] => {
  const [first, ...more] = wrap(text, columns() - 4);
  return [`  ${first}`, ...more.map((line) => `    ${line}`)];
};

/** What the run will do, and what it costs. */
function planOf(baseUrl: string, permitted: Permitted): readonly string[] {
  const { tokens, claims } = permitted;
  const { left, requests, orders, uploads } = costOf(permitted);
  return [
    `${counted(rows.length, "row")} against ${baseUrl}`,
    ...(left === 0 ? [] : [`of these not tried, because they need an option: ${left}`]),
    `at most about ${requests} requests${permitted["empty-bucket"] ? "" : ", within the rate limits"}`,
    `at most ${orders} orders, each with an identifier that begins with conform-, and each canceled at the end`,
    `${counted(uploads, "upload")}, which stay`,
    tokens ? `at most ${counted(tokens, "rendertoken")}` : "no rendertokens (--tokens)",
    claims === undefined ? "no claim (--claims)" : `a claim about ${claims}, which is retracted`,
    permitted["empty-bucket"]
      ? `the bucket default is emptied: meanwhile the service refuses other programs of the organization`
      : "no bucket is emptied (--empty-bucket)",
  ];
}

async function confirm(): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C and Ctrl-D end the question without an answer.
  const closed = new Promise<string>((resolve) => terminal.once("close", () => resolve("")));
  try {
    return /^y(es)?$/i.test((await Promise.race([terminal.question("Continue? [y/N] "), closed])).trim());
  } finally {
    terminal.close();
  }
}

const signs: Readonly<Record<Verdict, string>> = {
  "as assumed": paint("green", "✓"),
  measured: paint("cyan", "●"),
  differs: paint("red", "✗"),
  "not tried": paint("dim", "–"),
};

/** What a piece of work throws. */
function faultOf(work: () => void): readonly unknown[] {
  try {
    work();
    return [];
  } catch (error) {
    return [error];
  }
}

const plain = (title: string): string => title.replaceAll("`", "");

function findingLines(finding: ConformFinding): readonly string[] {
  const { row, verdict, value, reason = "", inFile } = finding;
  const room = columns() - 6;
  const first = ` ${signs[verdict]}  ${plain(row.title)}`;
  if (verdict === "as assumed") {
    const [line = "", ...more] = wrap(`${plain(row.title)}: ${shown(value)}`, room + 1);
    return [` ${signs[verdict]}  ${line}`, ...more.map((rest) => `    ${rest}`)];
  }
  const colour = verdict === "differs" ? "red" : verdict === "measured" ? "cyan" : "dim";
  const { is, was } = comparedOf(finding);
  const about =
    verdict === "not tried"
      ? reason
      : `${is}; ${inFile ? "the file has" : "assumed"}: ${was}. ${verdict === "differs" ? consequenceOf(finding) : ""}`;
  return [first, ...wrap(plain(about).trim(), room).map((line) => `    ${paint(colour, line)}`)];
}

const notProved = "Whether orders.ensure works with this service was not tried: the exit code is 1.";

const notClean = "An order is perhaps not canceled, or a claim not retracted: the exit code is 1.";

function conclusion(report: ConformReport, out: string | undefined): readonly string[] {
  const { requests, orders, left, clean, interrupted, failure, took } = report;
  const counts = (["as assumed", "measured", "differs", "not tried"] as const).map(
    (verdict) => `${countOf(report, verdict)} ${verdict}`,
  );
  const isWhole = !interrupted && failure === undefined;
  const differs = countOf(report, "differs") > 0;
  const unmeasured = report.findings.filter(({ verdict, inFile }) => verdict === "not tried" && inFile).length;
  return [
    "",
    !isWhole
      ? `Ended after ${counted(report.findings.length, "row")}: ${clean ? "what it placed is canceled" : "not all that it placed could be canceled"}.`
      : `${counts.join(", ")}: ${counted(requests, "request")}, ${counted(orders, "order")}, ${(took / 1_000).toFixed(0)} s.`,
    ...(unmeasured === 0 ? [] : ["", `${counted(unmeasured, "row")} of the file could not be measured this time.`]),
    ...(report.findings.some(isMissing) ? ["", notProved] : []),
    ...(clean || !isWhole ? [] : ["", notClean]),
    ...(left.length === 0 ? [] : ["", "Left behind:", ...left.flatMap(indented)]),
    ...(out === undefined
      ? []
      : ["", `Written: ${out}.${differs ? ` Use it: export POD_PARTNER_ASSUMPTIONS=${resolve(out)}` : ""}`]),
  ];
}

/** `pod-partner conform`: measures what the specification does not show. */
export const conform = command({
  name: "conform",
  summary: "Measures what the specification does not show, in the test environment.",
  flags: {
    "test-environment": { help: "Required: you know that the base URL is that of the test environment." },
    yes: { help: "Do not ask before the start, for CI." },
    "env-file": text("A file with POD_PARTNER_BASE_URL and POD_PARTNER_SECRET_KEY.", "file"),
    out: text(`The file for what was measured. Default ${defaults.out}; none if there is a file to compare.`, "file"),
    compare: text(
      "The file of an earlier run: only what differs from it fails. Default: POD_PARTNER_ASSUMPTIONS.",
      "file",
    ),
    tokens: wholeNumber("Rendertokens to spend at most. Default 0: no render is made.", { most: 100_000 }),
    claims: text("A shipment to file a claim about, which is retracted. Default: no claim is filed.", "shipment"),
    "failed-render": text("A render that failed, whose file is requested.", "render"),
    "empty-bucket": {
      help: "Empty the bucket `default`, to see what a refusal says and costs: meanwhile the service refuses other programs of the organization.",
    },
    journal: text(
      `The file that notes the orders of a run, so that the next one can cancel them. Default ${defaults.journal}.`,
      "file",
    ),
    json: { help: "Print one JSON object." },
    junit: text("A file for the report as JUnit's XML.", "file"),
    html: text("A file for the report as a page.", "file"),
  },
  notes: [
    "It asks the service what the specification leaves open, and writes a file that the client, the emulator and verify read: POD_PARTNER_ASSUMPTIONS. It cancels every order that it places, also after Ctrl-C. After a kill, the next run does.",
    "The key comes only from the environment variable POD_PARTNER_SECRET_KEY or --env-file: other users of the machine can see arguments. It is never printed.",
    "Exit code: 0 when all is as assumed or as the file says, 1 when something differs, the look-up that orders.ensure needs was not tried, or something may be left that is not canceled or retracted, 2 when it could not run.",
  ],
  run: async (values) => {
    const { out, compare, journal = defaults.journal, json, junit, html } = values;
    if (!values["test-environment"]) {
      throw usage("conform places orders: add --test-environment if the base URL is that of the test environment.");
    }
    const variables = { ...process.env, ...variablesIn(values["env-file"]) };
    const { POD_PARTNER_BASE_URL: baseUrl = "", POD_PARTNER_SECRET_KEY: secretKey = "" } = variables;
    const missing = [baseUrl === "" && "POD_PARTNER_BASE_URL", secretKey === "" && "POD_PARTNER_SECRET_KEY"];
    if (!baseUrl || !secretKey) throw cannotRun(`Set ${missing.filter(Boolean).join(" and ")}.`);
    refuseProduction(baseUrl);
    const sdk = await import("pod-partner");
    checkOptions(sdk, { baseUrl, secretKey, assumptions: noAssumptions }, variableOf);
    const file = fileOf(sdk, compare ?? (variables.POD_PARTNER_ASSUMPTIONS || undefined));
    const target = out ?? (file === undefined ? defaults.out : undefined);
    const say = json ? () => {} : print;
    for (const path of [target, junit, html]) if (path !== undefined) checkFile(path);
    say(`${paint("bold", "pod-partner conform")}`, "", ...planOf(baseUrl, values).flatMap(indented), "");
    if (!values.yes) {
      if (!process.stdin.isTTY) throw usage("There is no terminal to ask on: add --yes.");
      if (!(await confirm())) throw cannotRun("Nothing was sent.");
    }
    let stop = () => {};
    let ended: NodeJS.Signals | undefined;
    const end = (signal: NodeJS.Signals) => {
      ended ??= signal;
      stop();
    };
    for (const signal of endSignals) {
      process.on(signal, () => {
        if (ended !== undefined) process.exit(128 + constants.signals[signal]);
        end(signal);
        printError("\nCanceling what was placed. A second signal ends at once; then the next run cancels it.");
      });
    }
    // The terminal is closed, or `head` has read enough: the orders are still to be canceled.
    process.stdout.removeAllListeners("error").on("error", () => end("SIGPIPE"));
    process.stderr.on("error", () => {});
    const report = await runConform({
      sdk,
      baseUrl,
      secretKey,
      clock: {
        now: () => performance.now(),
        date: () => Date.now(),
        after: (ms, callback) => {
          const timer = setTimeout(callback, ms);
          return () => clearTimeout(timer);
        },
      },
      journal,
      permitted: values,
      ...(file !== undefined && { compare: file }),
      onStart: (row) => {
        if (!json) showProgress(rows.indexOf(row) + 1, rows.length, plain(row.title));
      },
      onFinding: (finding) => {
        if (json) return;
        clearProgress();
        print(...findingLines(finding));
      },
      onStop: (end) => {
        stop = end;
      },
    });
    clearProgress();
    const isWhole = !report.interrupted && report.failure === undefined;
    const written = isWhole ? target : undefined;
    const files = [
      [junit, toJunit(report)],
      [html, toHtml(report)],
      [written, `${toText(report.file)}\n`],
    ] as const;
    const faults = files.flatMap(([path, content]) =>
      path === undefined ? [] : faultOf(() => writeFile(path, content)),
    );
    if (json) print(toJson(report));
    else print(...conclusion(report, faults.length === 0 ? written : undefined));
    if (ended !== undefined) process.exit(128 + constants.signals[ended]);
    if (report.failure !== undefined) throw cannotRun(report.failure);
    for (const fault of faults) throw fault;
    return isAsAssumed(report) ? 0 : exitCodes.failed;
  },
});
