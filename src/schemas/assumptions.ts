import * as z from "zod/mini";
import type { Issue } from "../errors/validation.ts";
import type { Overrides } from "../util/fields.ts";
import { isRecord, wordsOf } from "../util/foreign.ts";
import { builtIn } from "../util/runtime.ts";
import { isExistingTime, isTimestamp } from "../util/timestamp.ts";
import { check, type UnknownKey } from "./check.ts";
import { filledText, openRecord } from "./shape.ts";

/** The forms of a response that can mean that there is no such order. */
export const noOrderForms = ["404", "empty", "null", "bare-404"] as const;
/** A form of a response that can mean that there is no such order. */
export type NoOrder = (typeof noOrderForms)[number];

/** Values that the specification does not show and the SDK assumes. The client's option `assumptions` overrides them. */
export interface Assumptions {
  /** Name of the query parameter of the look-up by custom identifier (specification 4.12). Default `customIdentifier`. */
  readonly customIdentifierParameter: string;
  /** Name of the response field of that look-up (specification 4.12). Default `orderReference`. */
  readonly orderReferenceField: string;
  /**
   * The responses of that look-up that mean that no order has this identifier. Any other response decides nothing, and nothing is created.
   *
   * - `404`: a 404 with the error object of the specification (7.1).
   * - `empty`: a 2xx with an empty body, such as a 204.
   * - `null`: a 200 with `null`, or with an object of which every field is null, such as `{}`.
   * - `bare-404`: a 404 with an empty body. A gateway may send that without asking the service, so it is no default.
   *
   * Default `["404", "empty", "null"]`.
   */
  readonly noOrder: readonly NoOrder[];
  /**
   * Maximum milliseconds that the service needs to carry out a creation after it was sent. When the response to a creation is lost, the
   * SDK repeats its look-up during this time before it sends the creation again. Default 30 000.
   */
  readonly processingTime: number;
  /**
   * Maximum milliseconds until look-ups show a creation that the service has finished. When the response to a creation is lost at once, the
   * SDK repeats its look-up for this time before it sends the creation again. Default 4 000.
   */
  readonly lookupTime: number;
  /**
   * Names of the response fields that hold the data, by call; null if the body itself is the data (specification 4.12). Default: the names
   * that the conventions suggest, or the body where they are missing. Example: `{ "organization.stores.list": "data" }`.
   */
  readonly fields: Overrides<Readonly<Record<AssumedCall, string | null>>>;
}

/** The calls whose response's shape the specification does not show. */
export const assumedCalls = [
  "organization.get",
  "organization.accounts.list",
  "organization.stores.list",
  "organization.brands.list",
  "catalog.productgroups.list",
  "catalog.packagings.list",
  "addresses.get",
] as const;
/** A call whose response's shape the specification does not show. */
export type AssumedCall = (typeof assumedCalls)[number];

export const assumptions: Assumptions = {
  customIdentifierParameter: "customIdentifier",
  orderReferenceField: "orderReference",
  noOrder: ["404", "empty", "null"],
  processingTime: 30_000,
  lookupTime: 4_000,
  fields: {},
};

/** The fields of {@link Assumptions}, each of which may be absent. */
export const assumptionFields = () => ({
  customIdentifierParameter: z.optional(filledText()),
  orderReferenceField: z.optional(filledText()),
  noOrder: z.optional(z.array(z.enum(noOrderForms))),
  processingTime: z.optional(z.number().check(z.positive())),
  lookupTime: z.optional(z.number().check(z.positive())),
  fields: z.optional(
    z.strictObject(Object.fromEntries(assumedCalls.map((call) => [call, z.optional(z.nullable(filledText()))]))),
  ),
});

/** The content of a file that `npx pod-partner conform` wrote. */
export interface MeasuredAssumptions {
  /** The version of the file's format. */
  readonly version: 1;
  /** When the service was measured, as an ISO 8601 timestamp. */
  readonly date: string;
  /** The values for a client. */
  readonly assumptions: Overrides<Assumptions>;
  /** The values for the emulator only. */
  readonly emulator: Readonly<Record<string, unknown>>;
  /** Every value that was measured, by the name of its row. `conform --compare` compares them. */
  readonly measured: Readonly<Record<string, unknown>>;
}

const file = () =>
  z.strictObject({
    version: z.literal(1, { error: "expected 1: the file is of another version of pod-partner" }),
    date: z.string().check(
      z.refine((text) => text.includes("T") && isTimestamp(text) && isExistingTime(text), {
        error: "expected the date of the measurement, as an ISO 8601 timestamp",
      }),
    ),
    assumptions: z.strictObject(assumptionFields()),
    emulator: openRecord(),
    measured: openRecord(),
  });

const unknownKey: UnknownKey = { message: "is not a known field of a file of assumptions" };

/** The environment variable with the path of a file of assumptions. */
export const assumptionsVariable = "POD_PARTNER_ASSUMPTIONS";

/** The assumptions of the option and of the file, or what is wrong with the file. */
export type ReadAssumptions =
  | { readonly own: unknown; readonly file: MeasuredAssumptions | undefined }
  | { readonly issues: readonly Issue[] };

/** Reads a file, which is given as its path or as its content. */
function readFile(given: unknown, at: Issue["path"]): ReadAssumptions {
  let content = given;
  if (typeof given === "string") {
    try {
      const fs = builtIn("node:fs");
      if (fs === undefined) throw new Error("this platform has no file system: pass the content of the file");
      content = JSON.parse(fs.readFileSync(given, "utf8"));
    } catch (error) {
      return { issues: [{ path: at, message: `the file ${JSON.stringify(given)} cannot be read: ${wordsOf(error)}` }] };
    }
  }
  const checked = check(file, content, at, unknownKey);
  return checked.ok ? { own: {}, file: checked.value as MeasuredAssumptions } : { issues: checked.issues };
}

/**
 * Reads the option `assumptions`: single assumptions, the content of a file that `conform` wrote, or its path. Single assumptions override the
 * file that `POD_PARTNER_ASSUMPTIONS` names.
 */
export function readAssumptions(option: unknown): ReadAssumptions {
  if (typeof option === "string" || (isRecord(option) && "version" in option)) return readFile(option, ["assumptions"]);
  const path = globalThis.process?.env?.[assumptionsVariable] || undefined;
  const found = path === undefined ? { own: {}, file: undefined } : readFile(path, [assumptionsVariable]);
  return option === undefined || "issues" in found ? found : { ...found, own: option };
}
