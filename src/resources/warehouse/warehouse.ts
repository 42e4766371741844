import { changesOf } from "../../changes/changes.ts";
import type { ChangesOptions, ListChanges } from "../../changes/list-changes.ts";
import type { CallContext } from "../../http/call-context.ts";
import type { ApiCall, Send } from "../../http/send.ts";
import { type ListOptions, type Paginator, paginate } from "../../pagination/paginator.ts";
import type { WarehouseItem } from "./warehouse.endpoints.ts";
import { listItems } from "./warehouse.endpoints.ts";

/** Reads the stock that you own and the operator stores (specification 2.10, 4.3). */
export class WarehouseResource {
  /** Lists the warehouse items (specification 2.10). */
  readonly items: ItemsResource;

  /** @internal */
  constructor(send: Send, context: CallContext) {
    this.items = new ItemsResource(send, context);
  }
}

/** Lists warehouse items, the physical stock units that you own and the operator stores (specification 2.10, 4.3). */
export class ItemsResource {
  readonly #send: Send;
  readonly #context: CallContext;

  /** @internal */
  constructor(send: Send, context: CallContext) {
    this.#send = send;
    this.#context = context;
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

  /**
   * Reads all warehouse items and compares them with a snapshot of an earlier call (specification 2.10, 4.3). Without `since`, all items
   * are `added`.
   *
   * The service has no endpoint for one item, so the list is read again before an item counts as removed. If other items disappear
   * meanwhile, it is read up to four times; what is still not certain is reported by a later call. The order of `products` does not count.
   *
   * @param options `since`: the earlier snapshot, and the options of each request. `priority` is `low` by default. `deadline` limits the
   * whole call.
   * @throws `RequestValidationError` before sending, if `since` is damaged or a snapshot of another list.
   * @throws The errors of the requests. The earlier snapshot stays valid: use it again.
   * @example
   * const { changed, snapshot } = await partner.warehouse.items.changes({ since: stock });
   * for (const { current, previous } of changed) console.log(current.sku, previous.logicalQuantity, current.logicalQuantity);
   */
  changes(options: ChangesOptions<WarehouseItem> = {}): ApiCall<ListChanges<WarehouseItem>> {
    return changesOf(this.#context, { kind: "Item", list: listItems }, options);
  }
}
