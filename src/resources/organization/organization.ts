import type { CallContext } from "../../http/call-context.ts";
import type { RequestOptions } from "../../http/request-options.ts";
import type { ApiCall, Send } from "../../http/send.ts";
import { ListResource } from "../../pagination/list-resource.ts";
import {
  type Account,
  type Brand,
  getOrganization,
  listAccounts,
  listBrands,
  listStores,
  type Organization,
  type Store,
} from "./organization.endpoints.ts";

/** Reads the organization, its accounts, stores and brands. Only the dashboard can change them (specification 1, 4.2). */
export class OrganizationResource {
  /** Lists the accounts, the billing entities (specification 1, 4.2). */
  readonly accounts: ListResource<Account>;
  /** Lists the stores. The API can create orders only in stores whose `integration` is `api` (specification 1, 4.2). */
  readonly stores: ListResource<Store>;
  /** Lists the brands, which appear on shipping labels and tracking pages (specification 1, 4.2). */
  readonly brands: ListResource<Brand>;
  readonly #send: Send;

  /** @internal */
  constructor(send: Send, { start }: CallContext) {
    this.#send = send;
    this.accounts = new ListResource(start, listAccounts);
    this.stores = new ListResource(start, listStores);
    this.brands = new ListResource(start, listBrands);
  }

  /**
   * Reads the organization of the key (specification 4.2).
   *
   * @example
   * const organization = await partner.organization.get();
   */
  get(options?: RequestOptions): ApiCall<Organization> {
    return this.#send(getOrganization, {}, options);
  }
}
