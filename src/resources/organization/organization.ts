import * as z from "zod/mini";
import { assumed, endpoint, field, list } from "../../http/endpoint.ts";
import type { RequestOptions } from "../../http/request-options.ts";
import type { ApiCall, CallContext } from "../../http/send.ts";
import { ListResource } from "../../pagination/list-resource.ts";
import type { AccountReference, BrandReference, StoreReference } from "../../references/references.ts";
import { type OpenEnum, type OpenRecord, open, openEnum, openRecord, reference, text } from "../../schemas/shape.ts";

/** The organization of the key (specification 1). The specification does not show its fields; all are returned unchanged. */
export interface Organization extends OpenRecord {}
const organization = openRecord;

/** A billing entity of the organization (specification 1). Other fields are not shown and returned unchanged. */
export interface Account {
  readonly reference: AccountReference;
}
const account = () => open<Account>({ reference: reference("Account") });

/** A store, in which orders are created (specification 1). Other fields are not shown and returned unchanged. */
export interface Store {
  readonly reference: StoreReference;
  /** The integration type, an open enum. The API can create orders only if it is `api`. */
  readonly integration?: OpenEnum<"api"> | null;
  /**
   * The v1 store code, which also appears in callbacks and in `legacyOrderCode`.
   *
   * @deprecated The service removes the field in v3 (specification 9.7).
   */
  readonly legacyCode?: string | null;
}
const store = () =>
  open<Store>({
    reference: reference("Store"),
    integration: z.nullish(openEnum<"api">()),
    legacyCode: z.nullish(text()),
  });

/** A brand on shipping labels and the tracking page (specification 1). Other fields are not shown and returned unchanged. */
export interface Brand {
  readonly reference: BrandReference;
}
const brand = () => open<Brand>({ reference: reference("Brand") });

export const getOrganization = endpoint({
  call: "organization.get",
  method: "GET",
  path: "/organization",
  response: assumed(field("organization", organization)),
  repeat: "safe",
});

export const listAccounts = endpoint({
  call: "organization.accounts.list",
  method: "GET",
  path: "/accounts",
  response: assumed(list("accounts", account)),
  repeat: "safe",
});

export const listStores = endpoint({
  call: "organization.stores.list",
  method: "GET",
  path: "/stores",
  response: assumed(list("stores", store)),
  repeat: "safe",
});

export const listBrands = endpoint({
  call: "organization.brands.list",
  method: "GET",
  path: "/brands",
  response: assumed(list("brands", brand)),
  repeat: "safe",
});

/** Reads the organization, its accounts, stores and brands. Only the dashboard can change them (specification 1, 4.2). */
export class OrganizationResource {
  /** Lists the accounts, the billing entities (specification 1, 4.2). */
  readonly accounts: ListResource<Account>;
  /** Lists the stores. The API can create orders only in stores whose `integration` is `api` (specification 1, 4.2). */
  readonly stores: ListResource<Store>;
  /** Lists the brands, which appear on shipping labels and tracking pages (specification 1, 4.2). */
  readonly brands: ListResource<Brand>;
  readonly #context: CallContext;

  /** @internal */
  constructor(context: CallContext) {
    this.#context = context;
    this.accounts = new ListResource(context.start, listAccounts);
    this.stores = new ListResource(context.start, listStores);
    this.brands = new ListResource(context.start, listBrands);
  }

  /**
   * Reads the organization of the key (specification 4.2).
   *
   * @example
   * const organization = await partner.organization.get();
   */
  get(options?: RequestOptions): ApiCall<Organization> {
    return this.#context.send(getOrganization, {}, options);
  }
}
