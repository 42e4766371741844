import type { Send } from "../../http/call/core.ts";
import { paginate } from "../../pagination/paginate.ts";
import type { ListOptions, Paginator } from "../../pagination/paginator.ts";
import { listItems } from "./warehouse.endpoints.ts";
import type { WarehouseItem } from "./warehouse.schema.ts";

/** Reads the stock that you own and the operator stores (specification 2.10, 4.3). */
export class WarehouseResource {
  /** Lists the warehouse items (specification 2.10). */
  readonly items: ItemsResource;

  /** @internal */
  constructor(send: Send) {
    this.items = new ItemsResource(send);
  }
}

/** Lists warehouse items, the physical stock units that you own and the operator stores (specification 2.10, 4.3). */
export class ItemsResource {
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * Iterates all warehouse items, page by page (specification 4.3, 4.11).
   *
   * @example
   * const items = await partner.warehouse.items.list().toArray();
   */
  list(options?: ListOptions): Paginator<WarehouseItem> {
    return paginate(this.#send, listItems, {}, options);
  }
}
