import * as z from "zod/mini";
import type { Overrides } from "../util/overrides.ts";
import { open, type Schema, strict } from "./shape.ts";

/** A complete address (specification 2.3). Unused fields are empty strings. */
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
  /** State or province, best as a 2-letter code; required in the United States and Italy. */
  readonly state: string;
  /** Postal code. */
  readonly zipcode: string;
  readonly city: string;
  /** ISO 3166-1 alpha-2, uppercase. */
  readonly countryCode: string;
  readonly phonenumber: string;
  /** Required in the address of a dropship order. */
  readonly email: string;
}

/**
 * A customer's address, as you give it. Fields left out are sent as empty strings, as the specification's samples do.
 *
 * Checked before sending: `email` is there, and `state` where the country is the United States or Italy (specification 2.3).
 */
export type AddressInput = Overrides<CompleteAddress> & Pick<CompleteAddress, "countryCode" | "email">;

/** The destination of a quote: as an order's, but `email` is not asked for (specification 4.7). */
export type QuoteAddressInput = Overrides<CompleteAddress> & Pick<CompleteAddress, "countryCode">;

/** Countries whose addresses must name a state or province (specification 2.3, rule 1). */
const countriesWithStates = new Set(["US", "IT"]);

/** As the service answers it. Its response shape is not shown: fields it leaves out are undefined, `countryCode` is always there. */
export type Address = Partial<CompleteAddress> & Pick<CompleteAddress, "countryCode">;

export const address: Schema<Address> = () => {
  const text = z.optional(z.string());
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
    countryCode: z.string(),
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

/** Told beside the faults of single fields, wherever there is an address at all. */
const anyway = { when: ({ value }: { value: unknown }) => typeof value === "object" && value !== null };

export const addressInput: Schema<CompleteAddress> = () =>
  quoteAddressInput().check(
    z.refine((value) => filled(value, "email"), {
      ...anyway,
      path: ["email"],
      error: "a dropship address must have an e-mail address (invalid_address_missing_email)",
    }),
    z.refine((value) => !countriesWithStates.has(String(Object(value).countryCode)) || filled(value, "state"), {
      ...anyway,
      path: ["state"],
      error: "must be set for a destination in the United States or Italy; a 2-letter code is best",
    }),
  );
