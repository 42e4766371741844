import type { Call } from "../../http/call.ts";
import type { Send } from "../../http/core.ts";
import type { RequestOptions } from "../../http/request-options.ts";
import { listPackagings, listProductgroups } from "./catalog.endpoints.ts";
import type { Packaging, Productgroup } from "./catalog.schema.ts";
import { Products } from "./products.ts";

/** What can be ordered (specification 1, 4.3). */
export class Catalog {
  readonly products: Products;
  readonly productgroups: Productgroups;
  readonly packagings: Packagings;

  /** @internal */
  constructor(send: Send) {
    this.products = new Products(send);
    this.productgroups = new Productgroups(send);
    this.packagings = new Packagings(send);
  }
}

/** Categories of products that share one price and one technique. */
export class Productgroups {
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
  }

  /** Lists the productgroups. */
  list(options?: RequestOptions): Call<readonly Productgroup[]> {
    return this.#send(listProductgroups, {}, options);
  }
}

/** Packaging options. */
export class Packagings {
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
  }

  /** Lists the packagings. */
  list(options?: RequestOptions): Call<readonly Packaging[]> {
    return this.#send(listPackagings, {}, options);
  }
}
