import type { CallContext } from "../../http/send.ts";
import { ListResource } from "../../pagination/list-resource.ts";
import { listPackagings, listProductgroups, type Packaging, type Productgroup } from "./catalog.endpoints.ts";
import { ProductsResource } from "./products.ts";

/** Reads the product catalog (specification 1, 4.3). */
export class CatalogResource {
  /** Reads and downloads from products, the orderable entries (specification 2.6, 4.3). */
  readonly products: ProductsResource;
  /** Lists productgroups: similar products with one price and one production technique (specification 1, 4.3). */
  readonly productgroups: ListResource<Productgroup>;
  /** Lists the packaging options (specification 4.3). */
  readonly packagings: ListResource<Packaging>;

  /** @internal */
  constructor(context: CallContext) {
    this.products = new ProductsResource(context);
    this.productgroups = new ListResource(context.start, listProductgroups);
    this.packagings = new ListResource(context.start, listPackagings);
  }
}
