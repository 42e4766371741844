import type { Assumptions, MeasuredAssumptions } from "pod-partner";
import { isRecord } from "../util/foreign.ts";
import { version } from "../util/runtime.ts";
import { inOneLine, mapTexts } from "../util/visible.ts";
import { Failure } from "./arguments.ts";
import { Lab, type Measured, type Permitted, type Row } from "./conform-lab.ts";
import { rows } from "./conform-rows.ts";
import { inWords, isSuccess, LostAnswer, MeasuredService, Stopped, type Target, Untried } from "./conform-service.ts";
import { meaningOf } from "./reads.ts";

/** `measured`: nothing that the client needs was assumed, and this is so. `differs`: the client needs an override, or has none. */
export type Verdict = "as assumed" | "measured" | "differs" | "not tried";

/** What came of a row. */
export interface ConformFinding {
  readonly row: Row;
  readonly verdict: Verdict;
  /** Undefined if it was not tried. */
  readonly value?: unknown;
  /** What the value is compared with: what is assumed, or what the file has. */
  readonly expected: unknown;
  readonly inFile: boolean;
  /** Why it was not tried. */
  readonly reason?: string;
  readonly follows?: string;
  /** The assumptions of the file that cover it. */
  readonly overrides: readonly string[];
}

export interface ConformReport {
  readonly version: string;
  readonly baseUrl: string;
  /** When the run began, as an ISO 8601 timestamp. */
  readonly date: string;
  readonly findings: readonly ConformFinding[];
  readonly requests: number;
  readonly orders: number;
  /** What stays: uploads, and orders that could not be canceled. */
  readonly left: readonly string[];
  /** Whether all orders are canceled, and all claims retracted. */
  readonly clean: boolean;
  /** Whether it was stopped before its end. */
  readonly interrupted: boolean;
  /** Why it ended before its end, otherwise: the key is refused, or the service does not respond. */
  readonly failure?: string;
  /** Milliseconds. */
  readonly took: number;
  readonly file: MeasuredAssumptions;
}

export interface ConformSetup extends Target {
  /** What it may do only when it is told so. */
  readonly permitted?: Permitted;
  /** The file whose values count as assumed. */
  readonly compare?: MeasuredAssumptions;
  /** The rows to measure. Default: all. */
  readonly only?: readonly Row[];
  onStart?(row: Row): void;
  onFinding?(finding: ConformFinding): void;
  /** Receives a function that ends the run after the request that is being sent. */
  onStop?(stop: () => void): void;
}

/** Whether a value is the expected one. Of an object every field that was measured must be. */
function isSame(value: unknown, expected: unknown): boolean {
  if (Array.isArray(value) && Array.isArray(expected)) return JSON.stringify(value) === JSON.stringify(expected);
  if (!isRecord(value) || !isRecord(expected)) return value === expected;
  return Object.entries(value).every(([name, inner]) => Object.hasOwn(expected, name) && isSame(inner, expected[name]));
}

/** Whether a row was not tried that must be known. */
export const isMissing = ({ row, verdict, inFile }: ConformFinding): boolean =>
  row.essential === true && verdict === "not tried" && !inFile;

/** Whether the exit code is 0. */
export const isAsAssumed = ({ findings, clean }: ConformReport): boolean =>
  clean && !findings.some((finding) => finding.verdict === "differs" || isMissing(finding));

/** What a value is compared with. */
function expectedOf(row: Row, compare: MeasuredAssumptions | undefined) {
  const { measured = {}, assumptions = {} } = compare ?? {};
  const expected = Object.hasOwn(measured, row.id)
    ? measured[row.id]
    : row.given?.(assumptions as Partial<Assumptions>);
  return expected === undefined ? { inFile: false, expected: row.assumed } : { inFile: true, expected };
}

function judge(row: Row, measured: Measured, compare: MeasuredAssumptions | undefined): ConformFinding {
  const { inFile, expected } = expectedOf(row, compare);
  const { value, follows } = measured;
  if (isSame(value, expected) || row.covers?.(value, expected))
    return { row, verdict: "as assumed", value, expected, inFile, overrides: [] };
  const verdict = measured.harmless && !inFile ? "measured" : "differs";
  const overrides = Object.keys({ ...measured.assumptions, ...measured.emulator });
  return { row, verdict, value, expected, inFile, overrides, ...(follows !== undefined && { follows }) };
}

/** Measures a row. After a lost response it is measured again. */
async function measureRow(row: Row, lab: Lab): Promise<Measured> {
  if (row.needs !== undefined && !lab.permitted[row.needs]) throw new Untried(`needs --${row.needs}`);
  for (let left = 5; ; left -= 1) {
    try {
      return await row.measure(lab);
    } catch (error) {
      if (!(error instanceof LostAnswer)) throw error;
      if (left === 0) throw new Untried(`the responses were lost: ${error.message}`, { cause: error });
    }
  }
}

/** Joins what rows say about the same object, such as the statuses of codes. */
function merge(target: Record<string, unknown>, some: object = {}): void {
  for (const [name, value] of Object.entries(some)) {
    const before = target[name];
    target[name] = isRecord(before) && isRecord(value) ? { ...before, ...value } : value;
  }
}

const firstLine = (error: unknown): string =>
  inOneLine((error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "");

/** Refuses a service that is not this API, a wrong key, and what calls itself production. */
async function begin(service: MeasuredService): Promise<void> {
  const answer = await service
    .answerTo(() => service.partner.auth.validate({ signal: service.signal }))
    .catch((error: unknown) => {
      if (service.stopped) throw new Stopped();
      if (!(error instanceof Untried || error instanceof LostAnswer)) throw error;
      throw new Failure(`The service cannot be used: ${firstLine(error)}`, 2);
    });
  if (!isSuccess(answer)) {
    throw new Failure(`POST /auth/validate was ${inWords(answer)}: see pod-partner doctor.`, 2);
  }
  const { body } = await service.ask("GET", "/organization").catch(() => ({ body: undefined }));
  const record = isRecord(body) ? [body, ...Object.values(body)].filter(isRecord) : [];
  if (record.some(({ environment }) => typeof environment === "string" && meaningOf(environment) === "production")) {
    throw new Failure(
      "The organization's record says that this is production: conform measures the test environment.",
      2,
    );
  }
}

/** Why nothing more can be measured after an error. */
async function isGone(service: MeasuredService, error: unknown): Promise<string | undefined> {
  if (!(error instanceof Untried)) return undefined;
  if (!(error.cause instanceof LostAnswer)) return undefined;
  try {
    await service.ask("POST", "/auth/validate", { harmless: true });
    return undefined;
  } catch (cause) {
    if (cause instanceof Failure) return cause.message;
    return cause instanceof Stopped ? undefined : `The service no longer responds: ${firstLine(cause)}`;
  }
}

/** Measures the service, and cancels every order that it placed. */
export async function runConform(setup: ConformSetup): Promise<ConformReport> {
  const service = new MeasuredService(setup);
  try {
    return await measureAll(service, setup);
  } finally {
    service.close();
  }
}

async function measureAll(service: MeasuredService, setup: ConformSetup): Promise<ConformReport> {
  const { clock, baseUrl, compare, only = rows, permitted = {}, onStart, onFinding, onStop } = setup;
  onStop?.(() => service.stop());
  const began = clock.now();
  const date = new Date().toISOString();
  await begin(service).catch((error: unknown) => {
    if (!(error instanceof Stopped)) throw error;
  });
  if (service.unfinished) await service.cleanUp();
  const known = compare?.assumptions.customIdentifierParameter;
  const lab = new Lab(service, permitted, known === undefined ? [] : [known]);
  // No service should repeat the key, but one may.
  const redact = (text: string) => text.replaceAll(setup.secretKey, "[secret key]");
  const findings: ConformFinding[] = [];
  const assumptions: Record<string, unknown> = {};
  const emulator: Record<string, unknown> = {};
  const measured: Record<string, unknown> = {};
  let failure: string | undefined;
  for (const row of only) {
    if (service.stopped) break;
    onStart?.(row);
    let finding: ConformFinding;
    try {
      const found = mapTexts(await measureRow(row, lab), redact) as Measured;
      finding = judge(row, found, compare);
      if (!found.unusable) measured[row.id] = found.value;
      // The file stays small: it has what a default does not say.
      if (!isSame(found.value, row.assumed) && !row.covers?.(found.value, row.assumed)) {
        merge(assumptions, found.assumptions);
        merge(emulator, found.emulator);
      }
    } catch (error) {
      if (error instanceof Stopped) break;
      failure = error instanceof Failure ? error.message : await isGone(service, error);
      if (failure !== undefined) break;
      const reason = redact(firstLine(error));
      finding = { row, verdict: "not tried", ...expectedOf(row, compare), overrides: [], reason };
    }
    findings.push(finding);
    onFinding?.(finding);
  }
  const interrupted = service.stopped;
  const uncanceled = await service.cleanUp();
  return {
    version,
    baseUrl,
    date,
    findings,
    requests: service.requests,
    orders: service.placed.length,
    left: [
      ...service.left,
      ...service.placed.filter(({ canceled }) => canceled).map(({ reference }) => `the canceled order ${reference}`),
      ...uncanceled.map(({ reference, identifier }) =>
        reference === undefined
          ? `perhaps an order with the customIdentifier ${identifier}, whose response was lost`
          : `the order ${reference}, which could not be canceled: the next run tries again`,
      ),
      ...service.filed.map(({ shipment, reference, ended }) => {
        if (reference === undefined) return `perhaps a claim about ${shipment}, whose response was lost: retract it`;
        if (ended === "retracted") return `the claim ${reference}, which is retracted`;
        return `the claim ${reference}, which could not be retracted: ${ended === undefined ? "the next run tries again" : `it is ${ended}`}`;
      }),
    ],
    clean: uncanceled.length === 0 && service.filed.every(({ ended }) => ended === "retracted"),
    interrupted,
    ...(failure !== undefined && { failure }),
    took: clock.now() - began,
    file: { version: 1, date, assumptions, emulator, measured },
  };
}
