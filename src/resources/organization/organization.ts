import type { Call } from "../../http/call.ts";
import type { Send } from "../../http/core.ts";
import type { RequestOptions } from "../../http/request-options.ts";
import { getOrganization, listAccounts, listBrands, listStores } from "./organization.endpoints.ts";
import type { Account, Brand, Organization as OrganizationRecord, Store } from "./organization.schema.ts";

/** The organization and what belongs to it: read only, changed in the dashboard (specification 1, 4.2). */
export class Organization {
  readonly accounts: Accounts;
  readonly stores: Stores;
  readonly brands: Brands;
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
    this.accounts = new Accounts(send);
    this.stores = new Stores(send);
    this.brands = new Brands(send);
  }

  /** Reads the organization that the key belongs to. */
  get(options?: RequestOptions): Call<OrganizationRecord> {
    return this.#send(getOrganization, {}, options);
  }
}

/** The billing entities. */
export class Accounts {
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
  }

  /** Lists the accounts. */
  list(options?: RequestOptions): Call<readonly Account[]> {
    return this.#send(listAccounts, {}, options);
  }
}

/** Where orders are created. */
export class Stores {
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
  }

  /** Lists the stores. Orders can be created in those whose `integration` is `api`. */
  list(options?: RequestOptions): Call<readonly Store[]> {
    return this.#send(listStores, {}, options);
  }
}

/** The identities that customers see. */
export class Brands {
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
  }

  /** Lists the brands. */
  list(options?: RequestOptions): Call<readonly Brand[]> {
    return this.#send(listBrands, {}, options);
  }
}
