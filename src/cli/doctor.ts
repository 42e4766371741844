import { version } from "../util/runtime.ts";
import { inOneLine, mapTexts } from "../util/visible.ts";
import { command, exitCodes, text, wholeNumber } from "./arguments.ts";
import {
  checkBaseUrl,
  checkClock,
  checkConnection,
  checkKey,
  checkKeyForm,
  checkRateLimits,
  type DoctorSettings,
  probe,
  type Sdk,
} from "./connection.ts";
import { variablesIn } from "./env-file.ts";
import { type Check, type CheckName, checks, counted, type Finding, type Status, skipped } from "./finding.ts";
import { checkEnvironment, checkPermissions, checkRendertokens, checkStores, type Reads, readAll } from "./reads.ts";
import { columns, paint, print, wrap } from "./terminal.ts";

const needs = (what: string): Finding => skipped(`Not checked: needs ${what}`);

/** Checks that cannot be run. */
const skipAll = (names: readonly CheckName[], what: string): readonly Check[] =>
  names.map((name) => [name, needs(what)]);

/** The rest of the report when no response of the service came. */
function* withoutResponse(keyForm: Finding | undefined, what: string): Generator<Check> {
  yield ["key", keyForm ?? needs(what)];
  yield* skipAll(["permissions", "environment", "clock", "rateLimits", "stores", "rendertokens"], what);
}

/** Runs all checks, and yields each when it is known. It sends `POST /auth/validate` and GETs. */
async function* examine(sdk: Sdk, settings: DoctorSettings): AsyncGenerator<Check> {
  const address = checkBaseUrl(sdk, settings);
  yield ["baseUrl", address];
  const keyForm = checkKeyForm(sdk, settings);
  if (address.status === "failed") {
    yield ["connection", needs("a valid base URL")];
    yield* withoutResponse(keyForm, "a valid base URL");
    return;
  }
  const url = new URL(String(settings.baseUrl));
  const first = await probe(sdk, settings);
  const connection = checkConnection(sdk, first, url, settings.timeout);
  yield ["connection", connection];
  if (connection.status === "failed") {
    yield* withoutResponse(keyForm, "a connection");
    return;
  }
  const key = keyForm ?? checkKey(sdk, first);
  yield ["key", key];
  const reads = key.status === "ok" ? await readAll(first.partner) : undefined;
  const withReads = (check: (all: Reads) => Finding): Finding =>
    reads === undefined ? needs("a valid key") : check(reads);
  yield ["permissions", withReads((all) => checkPermissions(sdk, all))];
  yield ["environment", withReads((all) => checkEnvironment(all, url))];
  yield ["clock", checkClock(first)];
  yield ["rateLimits", checkRateLimits(first)];
  yield ["stores", withReads(checkStores)];
  yield ["rendertokens", withReads((all) => checkRendertokens(all, Date.now()))];
}

const marks: Readonly<Record<Status, readonly [colour: Parameters<typeof paint>[0], mark: string]>> = {
  ok: ["green", "✓"],
  warning: ["yellow", "!"],
  failed: ["red", "✗"],
  skipped: ["dim", "–"],
};

const labelWidth = Math.max(...Object.values(checks).map((label) => label.length));
/** Mark, label and the gaps. */
const indent = labelWidth + 6;

/** The lines of one check: mark, label and message; below it what to do. */
function checkLines([name, { status, message, action }]: Check): readonly string[] {
  const [colour, mark] = marks[status];
  const room = Math.max(columns() - indent, 20);
  const text = status === "skipped" ? (line: string) => paint("dim", line) : (line: string) => line;
  const [first = "", ...rest] = wrap(message, room).map(text);
  return [
    ` ${paint(colour, mark)}  ${checks[name].padEnd(labelWidth)}  ${first}`,
    ...rest.map((line) => " ".repeat(indent) + line),
    ...(action === undefined
      ? []
      : wrap(action, room - 2).map((line, index) => `${" ".repeat(indent)}${index === 0 ? "→" : " "} ${line}`)),
  ];
}

const countOf = (found: readonly Check[], wanted: Status): number =>
  found.filter(([, { status }]) => status === wanted).length;

/** The last line: whether everything is fine. */
function summary(found: readonly Check[]): string {
  const [problems, warnings] = [countOf(found, "failed"), countOf(found, "warning")];
  const noted = warnings === 0 ? "" : `, ${counted(warnings, "warning")}`;
  if (problems > 0) return paint("red", `${counted(problems, "problem")}${noted}.`);
  return warnings > 0 ? paint("yellow", `No problem${noted}.`) : paint("green", "Everything is fine.");
}

const isFine = (found: readonly Check[]): boolean => countOf(found, "failed") === 0;

/** The report for machines. Every check is in it, each with the same four keys. */
const toJson = (found: readonly Check[]) => ({
  ok: isFine(found),
  version,
  checks: Object.fromEntries(
    found.map(([name, { status, message, action = null, details = {} }]) => [
      name,
      { status, message, action, details },
    ]),
  ),
});

const defaultTimeout = 10_000;

/** Removes the key from a text, in case a server repeats it in an unusual place. The SDK's errors never contain it. */
const withoutKey = (line: string, secretKey: string | undefined): string =>
  secretKey === undefined || secretKey.length < 12 ? line : line.replaceAll(secretKey, "[secret key]");

/** `pod-partner doctor`: checks a real or emulated service. */
export const doctor = command({
  name: "doctor",
  summary: "Checks base URL, key, limits and stores of a real or emulated service.",
  flags: {
    "base-url": text("The base URL, ending in /v2. Default: POD_PARTNER_BASE_URL.", "url"),
    timeout: wholeNumber(`Milliseconds for each request. Default ${defaultTimeout}.`, {
      least: 1,
      most: 600_000,
      placeholder: "ms",
    }),
    "env-file": text("A file with POD_PARTNER_BASE_URL and POD_PARTNER_SECRET_KEY.", "file"),
    json: { help: "Print one JSON object." },
  },
  notes: [
    "The key comes only from the environment variable POD_PARTNER_SECRET_KEY or --env-file: other users of the machine can see arguments. It is never printed.",
    "It validates the key and reads. It changes nothing, and places no order.",
    "Exit code: 0 when everything is fine, 1 when something is wrong, 2 for wrong options.",
  ],
  run: async ({ "base-url": given, "env-file": envFile, timeout = defaultTimeout, json }) => {
    const variables: NodeJS.ProcessEnv = { ...process.env, ...variablesIn(envFile) };
    const { POD_PARTNER_BASE_URL, POD_PARTNER_SECRET_KEY: secretKey } = variables;
    const baseUrl = given ?? POD_PARTNER_BASE_URL;
    const show = (...lines: readonly string[]) => print(...lines.map((line) => withoutKey(line, secretKey)));
    const found: Check[] = [];
    for await (const raw of examine(await import("pod-partner"), { baseUrl, secretKey, timeout })) {
      const check = mapTexts(raw, inOneLine) as Check;
      found.push(check);
      if (!json) show(...checkLines(check));
    }
    if (json) show(JSON.stringify(toJson(found), null, 2));
    else show("", summary(found));
    return isFine(found) ? 0 : exitCodes.failed;
  },
});
