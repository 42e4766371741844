import * as z from "zod/mini";
import type { Overrides } from "../util/overrides.ts";
import { open, type Schema, strict } from "./shape.ts";

/** An address with all fields (specification 2.3). Unused fields are empty strings. */
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

/**
 * A customer's address in a request (specification 2.3). Missing fields are sent as empty strings.
 *
 * The SDK checks before sending that `email` is set, and that `state` is set for the United States and Italy.
 */
export type AddressInput = Overrides<CompleteAddress> & Pick<CompleteAddress, "countryCode" | "email">;

/** The destination of a quote. It has the fields of an order's address, but `email` is optional (specification 4.7). */
export type QuoteAddressInput = Overrides<CompleteAddress> & Pick<CompleteAddress, "countryCode">;

/** Countries whose addresses must name a state or province (specification 2.3, rule 1). */
const countriesWithStates = new Set(["US", "IT"]);

/**
 * An address in a response (specification 4.4). The specification does not show its shape: each field of 2.3 may be missing or null.
 */
export type Address = { readonly [Field in keyof CompleteAddress]?: string | null };

export const address: Schema<Address> = () => {
  const text = z.nullish(z.string());
  return open<Address>({
    company: text,
    firstname: text,
    lastname: text,
    streetname: text,
    housenumber: text,
    housenumberAddition: text,
    additionalInfo: text,
    state: text,
    zipcode: text,
    city: text,
    countryCode: text,
    phonenumber: text,
    email: text,
  });
};

export const quoteAddressInput = () => {
  const given = z._default(z.string(), "");
  return strict<CompleteAddress>({
    company: given,
    firstname: given,
    lastname: given,
    streetname: given,
    housenumber: given,
    housenumberAddition: given,
    additionalInfo: given,
    state: given,
    zipcode: given,
    city: given,
    countryCode: z
      .string()
      .check(z.regex(/^[A-Z]{2}$/, { error: "expected two capital letters (ISO 3166-1 alpha-2), for example NL" })),
    phonenumber: given,
    email: given,
  });
};

const filled = (value: unknown, field: keyof CompleteAddress): boolean => {
  const text: unknown = typeof value === "object" && value !== null ? Reflect.get(value, field) : undefined;
  return typeof text === "string" && text.trim() !== "";
};

/** Runs a rule also when single fields are invalid, so that all faults are reported at once. */
const anyway = { when: ({ value }: { value: unknown }) => typeof value === "object" && value !== null };

export const addressInput: Schema<CompleteAddress> = () =>
  quoteAddressInput().check(
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
