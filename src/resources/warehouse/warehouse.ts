import * as z from "zod/mini";
import { changesOf } from "../../changes/changes.ts";
import type { ChangesOptions, ListChanges } from "../../changes/list-changes.ts";
import { since } from "../../changes/snapshot.ts";
import { cursor, endpoint, page } from "../../http/endpoint.ts";
import { withRequestOptions } from "../../http/request-options.ts";
import type { ApiCall, CallContext } from "../../http/send.ts";
import { type ListOptions, type Paginator, paginate } from "../../pagination/paginator.ts";
import type { ItemReference } from "../../references/references.ts";
import { anyList, open, reference, text } from "../../schemas/shape.ts";

/** A warehouse item: a physical stock unit that you own and the operator stores (specification 1, 2.10). */
export interface WarehouseItem {
  readonly reference: ItemReference;
  /** The warehouse SKU. It can differ from the legacy SKU of a product, which can have a suffix. */
  readonly sku: string;
  /** The logical quantity. The specification does not say how it differs from `physicalQuantity` (2.10). */
  readonly logicalQuantity: number;
  /** The physical quantity. The specification does not say how it differs from `logicalQuantity` (2.10). */
  readonly physicalQuantity: number;
  /** The linked products. The specification does not show the shape of an entry. */
  readonly products: readonly unknown[];
}

const item = () =>
  open<WarehouseItem>({
    reference: reference("Item"),
    sku: text(),
    logicalQuantity: z.number(),
    physicalQuantity: z.number(),
    products: anyList(),
  });

export const listItems = endpoint({
  call: "warehouse.items.list",
  method: "GET",
  path: "/items",
  query: cursor,
  response: page("items", item),
  repeat: "safe",
});

const changesOptions = withRequestOptions(() => ({ since: since("Item") }));

/** Reads the stock that you own and the operator stores (specification 2.10, 4.3). */
export class WarehouseResource {
  /** Lists the warehouse items (specification 2.10). */
  readonly items: ItemsResource;

  /** @internal */
  constructor(context: CallContext) {
    this.items = new ItemsResource(context);
  }
}

/** Lists warehouse items, the physical stock units that you own and the operator stores (specification 2.10, 4.3). */
export class ItemsResource {
  readonly #context: CallContext;

  /** @internal */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Iterates all warehouse items, page by page (specification 4.3, 4.11).
   *
   * @example
   * const items = await partner.warehouse.items.list().toArray();
   */
  list(options?: ListOptions): Paginator<WarehouseItem> {
    return paginate(this.#context.send, listItems, {}, options);
  }

  /**
   * Reads all warehouse items and compares them with a snapshot of an earlier call (specification 2.10, 4.3). Without `since`, all items
   * are `added`.
   *
   * The service has no endpoint for one item, so the list is read again before an item counts as removed. If other items disappear in the
   * meantime, the list is read up to four times. A later call reports what is still uncertain. The order of `products` does not matter.
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
    return changesOf(this.#context, { kind: "Item", list: listItems, options: changesOptions }, options);
  }
}
