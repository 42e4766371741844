import * as z from "zod/mini";
import type { Overrides } from "../util/fields.ts";
import { attempt, isObject, textOf } from "../util/foreign.ts";
import { open, type Schema, strict, text } from "./shape.ts";

/**
 * An address with all fields (specification 2.3), as {@link OrdersResource.replaceDropshipAddress} takes it. Unused fields are empty
 * strings.
 */
export interface CompleteAddress {
  /** Recipient's company name. */
  readonly company: string;
  /** Recipient's first name. */
  readonly firstname: string;
  /** Recipient's last name. */
  readonly lastname: string;
  /** Street name; usable as address line 1. */
  readonly streetname: string;
  /** House number, without its suffix. */
  readonly housenumber: string;
  /** Suffix of the house number. */
  readonly housenumberAddition: string;
  /** Extra delivery information; usable as address line 2. */
  readonly additionalInfo: string;
  /** State or province, preferably a 2-letter code. Required in the United States and Italy. */
  readonly state: string;
  /** Postal code. */
  readonly zipcode: string;
  readonly city: string;
  /** ISO 3166-1 alpha-2 country code in uppercase, for example `NL`. */
  readonly countryCode: string;
  readonly phonenumber: string;
  /** E-mail address. Required for a dropship order. */
  readonly email: string;
}

/** All fields of an address. */
const fields = {
  company: true,
  firstname: true,
  lastname: true,
  streetname: true,
  housenumber: true,
  housenumberAddition: true,
  additionalInfo: true,
  state: true,
  zipcode: true,
  city: true,
  countryCode: true,
  phonenumber: true,
  email: true,
} satisfies Record<keyof CompleteAddress, true>;
export const addressFields = Object.keys(fields) as readonly (keyof CompleteAddress)[];

/** Makes an object with a value for each field of an address. */
const forFields = <Value>(make: (field: keyof CompleteAddress) => Value) =>
  Object.fromEntries(addressFields.map((field) => [field, make(field)])) as Record<keyof CompleteAddress, Value>;

/** The fields that a parcel needs. They must be present in a new order, but may be empty. */
const ofParcel = ["firstname", "lastname", "streetname", "zipcode", "city"] as const;

/**
 * A customer's address in a new order (specification 2.3). The fields that a parcel needs must be present: set `""` if there is none, such
 * as the `zipcode` in a country without postal codes. The other fields are optional, and are sent as empty strings.
 *
 * The SDK checks before sending that `email` is not empty, and that `state` is not empty for the United States and Italy.
 */
export type AddressInput = Overrides<CompleteAddress> &
  Pick<CompleteAddress, "firstname" | "lastname" | "streetname" | "zipcode" | "city" | "countryCode" | "email">;

/** The destination of a quote. It has the fields of an order's address, but only `countryCode` is required (specification 4.7). */
export type QuoteAddressInput = Overrides<CompleteAddress> & Pick<CompleteAddress, "countryCode">;

/** Countries whose addresses must name a state or province (specification 2.3, rule 1). */
const countriesWithStates = new Set(["US", "IT"]);

type ReturnedAddress = { readonly [Field in keyof CompleteAddress]?: string | null };

/**
 * An address in a response (specification 4.4). The specification does not show its shape: each field of 2.3 may be missing or null.
 */
export interface Address extends ReturnedAddress {}

export const address: Schema<Address> = () => open<Address>(forFields(() => z.nullish(text())));

/** A string that may be empty, but not absent. */
const present = () =>
  z.string({
    error: ({ input }) => (input === undefined ? 'is missing: set it, or `""` if the address has none' : undefined),
  });

/** Codes that are in use for a country, for example in the European Union, but that ISO 3166-1 does not assign to it. */
const meant: Readonly<Record<string, string>> = { UK: "GB", EL: "GR" };

const countryFault = (given: string): string => {
  const expected = "expected two capital letters (ISO 3166-1 alpha-2), for example NL";
  if (Object.hasOwn(meant, given))
    return `${given} is not the code of a country in ISO 3166-1: did you mean ${meant[given]}?`;
  const code = given.trim().toUpperCase();
  const likely = Object.hasOwn(meant, code) ? meant[code] : /^[A-Z]{2}$/.test(code) ? code : undefined;
  return likely === undefined ? expected : `${expected}: did you mean ${likely}?`;
};

/** A code of two capital letters that is not a common mistake. The service decides whether a country has the code. */
const countryCode = () =>
  z.string().check(
    z.regex(/^[A-Z]{2}$/, { error: ({ input }) => countryFault(String(input)), abort: true }),
    z.refine((code) => !Object.hasOwn(meant, code), { error: ({ input }) => countryFault(String(input)) }),
  );

/** Codes that the runtime names, but that belong to no country: groups of countries, parts of countries, and codes for tests. */
const withoutCountry = new Set("AC CP CQ DG EA EU EZ IC QO TA UN XA XB ZZ".split(" "));

let names: Intl.DisplayNames | undefined;

/** Whether a code is assigned, or in use like that of Kosovo. On a runtime without names of regions, every code counts as assigned. */
function isAssigned(code: string): boolean {
  if (typeof Intl.DisplayNames !== "function") return true;
  names ??= new Intl.DisplayNames("en", { type: "region", fallback: "none" });
  // A former code, such as `YU`, is replaced by another one.
  const isCurrent = new Intl.Locale(`und-${code}`).region === code;
  return isCurrent && names.of(code) !== undefined && !withoutCountry.has(code);
}

const known = new Map<string, boolean>();

/** Returns a warning about an address that passed its check; undefined if there is none. */
export function countryWarning(address: unknown): string | undefined {
  const code = textOf(address, "countryCode") ?? "";
  if (!/^[A-Z]{2}$/.test(code)) return undefined;
  if (!known.has(code)) known.set(code, attempt(() => isAssigned(code)) ?? true);
  if (known.get(code)) return undefined;
  return `the countryCode ${code} is not assigned in ISO 3166-1: the service may refuse the address`;
}

/** The schema of an address in which some fields must be present; absent fields are sent as empty strings. */
const withPresent = (required: readonly (keyof CompleteAddress)[]) =>
  strict<CompleteAddress>({
    ...forFields((field) => (required.includes(field) ? present() : z._default(z.string(), ""))),
    countryCode: countryCode(),
    // The rule for a dropship address reports a missing one.
    email: z._default(z.string(), ""),
  });

const filled = (value: unknown, field: keyof CompleteAddress): boolean => (textOf(value, field) ?? "").trim() !== "";

/** Runs a rule also when single fields are invalid, so that all faults are reported at once. */
const anyway = { when: ({ value }: { value: unknown }) => isObject(value) };

/** The rules for the address of an order (specification 2.3). */
const forDropship = (address: z.ZodMiniType<CompleteAddress>) =>
  address.check(
    z.refine((value) => filled(value, "email"), {
      ...anyway,
      path: ["email"],
      error: "is required in a dropship address (invalid_address_missing_email)",
    }),
    z.refine((value) => !countriesWithStates.has(String(Object(value).countryCode)) || filled(value, "state"), {
      ...anyway,
      path: ["state"],
      error: "is required for a destination in the United States or Italy; use a 2-letter code",
    }),
  );

export const quoteAddressInput = () => withPresent([]);

export const addressInput = () => forDropship(withPresent(ofParcel));

/** An address that replaces another one entirely: an absent field would empty it (specification 4.7). */
export const completeAddressInput: Schema<CompleteAddress> = () => forDropship(withPresent(addressFields));
