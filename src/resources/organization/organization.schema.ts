import * as z from "zod/mini";
import type { AccountReference, BrandReference, StoreReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { type OpenEnum, type OpenRecord, open, openEnum, openRecord } from "../../schemas/shape.ts";

/** The organization that the key belongs to (specification 1). Its fields are not shown: all are passed on as they come. */
export type Organization = OpenRecord;
export const organization = openRecord;

/** A billing entity inside the organization (specification 1). Fields beyond these are not shown and passed on as they come. */
export interface Account {
  readonly reference: AccountReference;
}
export const account = () => open<Account>({ reference: reference("Account") });

/** Where orders are created (specification 1). Fields beyond these are not shown and passed on as they come. */
export interface Store {
  readonly reference: StoreReference;
  /** Free-form. Orders can be created through the API only when it is `api`. */
  readonly integration?: OpenEnum<"api"> | null;
  /** The v1 store code, as it appears in callbacks and in `legacyOrderCode`. */
  readonly legacyCode?: string | null;
}
export const store = () =>
  open<Store>({
    reference: reference("Store"),
    integration: z.nullish(openEnum<"api">()),
    legacyCode: z.nullish(z.string()),
  });

/** A customer-facing identity for labels and tracking pages (specification 1). Fields beyond these are not shown. */
export interface Brand {
  readonly reference: BrandReference;
}
export const brand = () => open<Brand>({ reference: reference("Brand") });
