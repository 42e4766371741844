import * as z from "zod/mini";
import { ConfigurationError } from "../../errors/validation.ts";
import { addressFields, type CompleteAddress } from "../../schemas/address.ts";
import {
  type Assumptions,
  assumptionFields,
  assumptions,
  assumptionsVariable,
  readAssumptions,
} from "../../schemas/assumptions.ts";
import { check, type UnknownKey } from "../../schemas/check.ts";
import { count, filledText } from "../../schemas/shape.ts";
import { type Overrides, withOverrides } from "../../util/fields.ts";
import { type Limit, limits } from "../base/rate-limit.ts";
import { type PageSizes, pageSize } from "../base/table.ts";

/** What the emulator assumes where the specification is silent. The numbers are those of docs/specification-gaps.md. */
export interface EmulatorAssumptions extends Assumptions {
  /** The field that holds the error object; null if it is the body itself (gap 2). Default null. */
  readonly errorField: string | null;
  /** A country code that ISO 3166-1 does not assign (gap 11). Default `accept`. */
  readonly unassignedCountry: "accept" | "refuse";
  /** Whether an e-mail address needs an `@` between two characters (gap 12). Default true. */
  readonly checksEmail: boolean;
  /** The countries that are denied (gap 13). */
  readonly deniedCountries: readonly string[];
  /** The address fields that must not be empty, besides `state` in the US and Italy (gap 14). Default `countryCode`, `email`. */
  readonly requiredAddressFields: readonly (keyof CompleteAddress)[];
  /** The most characters of address fields (gap 14). Default: no limit. */
  readonly addressLengths: Overrides<Record<keyof CompleteAddress, number>>;
  /** Fields of a new order that the specification does not show, such as `brandReference` (gaps 16, 91). Default: none. */
  readonly orderFields: readonly string[];
  /** The service's words for the emulator's codes of an order's status (gap 17). Default: the emulator's own. */
  readonly statusCodes: Readonly<Record<string, string>>;
  /** The most characters of a `customIdentifier`; null for any number (gap 19). Default null. */
  readonly identifierLength: number | null;
  /** Where a `customIdentifier` is unique (gap 19). Default `organization`. */
  readonly identifierScope: "organization" | "store";
  /**
   * The field of an order that lists its shipments, each with its `reference`; null if orders do not name them (gap 22). Default null. With
   * the option `shapes: "minimal"` it is left out.
   */
  readonly shipmentsField: string | null;
  /** Whether a value that does not apply is null or missing (gap 20). Default `null`. */
  readonly absentValue: "null" | "missing";
  /** The smallest quantity of an orderline (gap 24). Default 1. */
  readonly smallestQuantity: number;
  /** The reference of evidence whose content was uploaded before (gap 34). Default `new`. */
  readonly identicalEvidence: "new" | "same";
  /** A body where an endpoint has none (gap 55). Default `refuse`. */
  readonly contentWithoutBody: "refuse" | "ignore";
  /** A filter by a reference that no resource has: an empty list, or a 404 (gap 58). Default `empty`. */
  readonly unknownFilter: "empty" | "refuse";
  /** Whether the status of a pending render has `Retry-After` (gap 59). Default true. */
  readonly renderRetryAfter: boolean;
  /** Milliseconds that it takes to create an order (gap 64). Default 0. */
  readonly creationTime: number;
  /** A line that a cancellation names more than once: it is refused, or its last value counts (gap 66). Default `refuse`. */
  readonly repeatedLine: "refuse" | "last";
  /** A cancellation without lines (gap 66). Default `accept`. */
  readonly emptyCancellation: "accept" | "refuse";
  /** The forms of `closedAfter`: with an offset, without one, and a date alone (gap 72). Default: all. */
  readonly closedAfterForms: readonly ("offset" | "local" | "date")[];
  /** Whether a list without pages has a `nextCursor` (gap 81). Default false. */
  readonly cursorOfLists: boolean;
  /** Whether a cursor can be used twice (gap 82). Default true. */
  readonly cursorReuse: boolean;
  /** The success status of creations, by call (gap 83). Default 200. */
  readonly createdStatus: Readonly<Record<string, number>>;
  /** A query parameter that the endpoint does not have (gap 84). Default `refuse`. */
  readonly unknownParameters: "refuse" | "ignore";
  /** The statuses of error codes (gap 101). Default: that which fits best. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Whether the remaining tokens of a response count its own request (gap 108). Default `after`. */
  readonly remaining: "before" | "after";
  /** The policies that a response names: those that its request used, or all (gap 109). Default `used`. */
  readonly namedPolicies: "used" | "all";
  /** Milliseconds until a new order is in the look-up, in the list and in `GET /orders/{orderReference}` (gap 111). Default 0. */
  readonly visibleAfter: { readonly lookup?: number; readonly list?: number; readonly read?: number };
  /** Whether the look-up finds a canceled order (gap 112). Default true. */
  readonly findsCanceled: boolean;
  /** Whether media and layer images need the key (gap 113). Default true. */
  readonly filesNeedKey: boolean;
  /** The header `Cache-Control` of layer images (gap 113). Default `private, no-cache`. */
  readonly layerCacheControl: string;
  /** The order of lists with pages (gap 114). Default `newest-first`. */
  readonly listOrder: "newest-first" | "oldest-first";
}

export const emulatorAssumptions: EmulatorAssumptions = {
  ...assumptions,
  errorField: null,
  unassignedCountry: "accept",
  checksEmail: true,
  deniedCountries: ["BY", "CU", "IR", "KP", "RU", "SY"],
  requiredAddressFields: ["countryCode", "email"],
  addressLengths: {},
  orderFields: [],
  statusCodes: {},
  identifierLength: null,
  identifierScope: "organization",
  shipmentsField: null,
  absentValue: "null",
  smallestQuantity: 1,
  identicalEvidence: "new",
  contentWithoutBody: "refuse",
  unknownFilter: "empty",
  renderRetryAfter: true,
  creationTime: 0,
  repeatedLine: "refuse",
  emptyCancellation: "accept",
  closedAfterForms: ["offset", "local", "date"],
  cursorOfLists: false,
  cursorReuse: true,
  createdStatus: {},
  unknownParameters: "refuse",
  statuses: {},
  remaining: "after",
  namedPolicies: "used",
  visibleAfter: {},
  findsCanceled: true,
  filesNeedKey: true,
  layerCacheControl: "private, no-cache",
  listOrder: "newest-first",
};

/** Options of the emulator that a file of assumptions sets, too. The options themselves win. */
const fromFile = () => ({
  repeatedIdentifier: z.optional(z.enum(["return-first", "refuse", "create"])),
  pageSize: z.optional(pageSize()),
  limits: z.optional(limits()),
});

const status = (least: number, most: number) => z.record(z.string(), z.int().check(z.gte(least), z.lte(most)));

const addressField = () => z.enum(addressFields as readonly [keyof CompleteAddress, ...(keyof CompleteAddress)[]]);

const ownFields = () =>
  ({
    errorField: z.optional(z.nullable(filledText())),
    unassignedCountry: z.optional(z.enum(["accept", "refuse"])),
    checksEmail: z.optional(z.boolean()),
    deniedCountries: z.optional(z.array(z.string())),
    requiredAddressFields: z.optional(z.array(addressField())),
    addressLengths: z.optional(z.partialRecord(addressField(), count(1))),
    orderFields: z.optional(z.array(filledText())),
    statusCodes: z.optional(z.record(z.string(), z.string())),
    identifierLength: z.optional(z.nullable(count(1))),
    identifierScope: z.optional(z.enum(["organization", "store"])),
    shipmentsField: z.optional(z.nullable(filledText())),
    absentValue: z.optional(z.enum(["null", "missing"])),
    smallestQuantity: z.optional(count(0)),
    identicalEvidence: z.optional(z.enum(["new", "same"])),
    contentWithoutBody: z.optional(z.enum(["refuse", "ignore"])),
    unknownFilter: z.optional(z.enum(["empty", "refuse"])),
    renderRetryAfter: z.optional(z.boolean()),
    creationTime: z.optional(z.number().check(z.gte(0))),
    repeatedLine: z.optional(z.enum(["refuse", "last"])),
    emptyCancellation: z.optional(z.enum(["accept", "refuse"])),
    closedAfterForms: z.optional(z.array(z.enum(["offset", "local", "date"]))),
    cursorOfLists: z.optional(z.boolean()),
    cursorReuse: z.optional(z.boolean()),
    createdStatus: z.optional(status(200, 299)),
    unknownParameters: z.optional(z.enum(["refuse", "ignore"])),
    statuses: z.optional(status(400, 599)),
    remaining: z.optional(z.enum(["before", "after"])),
    namedPolicies: z.optional(z.enum(["used", "all"])),
    visibleAfter: z.optional(
      z.strictObject({
        lookup: z.optional(z.number().check(z.gte(0))),
        list: z.optional(z.number().check(z.gte(0))),
        read: z.optional(z.number().check(z.gte(0))),
      }),
    ),
    findsCanceled: z.optional(z.boolean()),
    filesNeedKey: z.optional(z.boolean()),
    layerCacheControl: z.optional(filledText()),
    listOrder: z.optional(z.enum(["newest-first", "oldest-first"])),
  }) satisfies Readonly<Record<Exclude<keyof EmulatorAssumptions, keyof Assumptions>, z.core.$ZodType>>;

const object = () => z.strictObject({ ...assumptionFields(), ...ownFields() });
const ofEmulator = () => z.strictObject({ ...ownFields(), ...fromFile() });

const unknownKey: UnknownKey = { message: "is not a known assumption" };

/** What the emulator assumes, with the options that a file sets. */
export interface Assumed {
  readonly assumptions: EmulatorAssumptions;
  /** What a client of the emulator must assume. */
  readonly ofClient: Overrides<Assumptions>;
  readonly options: {
    readonly repeatedIdentifier?: "return-first" | "refuse" | "create";
    readonly pageSize?: number | Partial<PageSizes>;
    readonly limits?: Readonly<Record<"default" | "uploads" | "downloads", Limit>>;
  };
}

const clientKeys = Object.keys(assumptions) as readonly (keyof Assumptions)[];

/**
 * Reads the option `assumptions`, or else the file that `POD_PARTNER_ASSUMPTIONS` names.
 *
 * @throws {@link ConfigurationError} with the path of each unknown key and each wrong value.
 */
export function assumedBy(option: unknown): Assumed {
  const found = readAssumptions(option);
  if ("issues" in found) throw new ConfigurationError({ issues: found.issues }, "emulator");
  const { own: single, file } = found;
  const isGiven = typeof option === "string" || single !== option;
  const at = [isGiven && option !== undefined ? "assumptions" : assumptionsVariable, "emulator"];
  const ofFile = check(ofEmulator, file?.emulator ?? {}, at, unknownKey);
  const ofOption = check(object, single, ["assumptions"], unknownKey);
  if (!ofFile.ok || !ofOption.ok) {
    const issues = [ofFile, ofOption].flatMap((part) => (part.ok ? [] : part.issues));
    throw new ConfigurationError({ issues }, "emulator");
  }
  const given = Object.assign({}, file?.assumptions, ofFile.value, ofOption.value) as Overrides<EmulatorAssumptions> &
    Assumed["options"];
  const { repeatedIdentifier, pageSize: sizes, limits: quotas, ...own } = given;
  return {
    assumptions: withOverrides(emulatorAssumptions, own),
    ofClient: Object.fromEntries(clientKeys.filter((key) => own[key] !== undefined).map((key) => [key, own[key]])),
    options: {
      ...(repeatedIdentifier !== undefined && { repeatedIdentifier }),
      ...(sizes !== undefined && { pageSize: sizes }),
      ...(quotas !== undefined && { limits: quotas }),
    },
  };
}
