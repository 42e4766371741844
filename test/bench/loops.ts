/** Sends a GET and returns the parsed body. */
export type Get = (path: string) => Promise<unknown>;

/** The caller's work with one item. */
export type Each = (item: unknown) => Promise<void> | undefined;

interface Page {
  readonly orders: readonly unknown[];
  readonly nextCursor: string | null;
}

/** Waits only for items whose work is a promise. */
export async function forEach(items: AsyncIterable<unknown>, each: Each): Promise<void> {
  for await (const item of items) {
    const working = each(item);
    if (working !== undefined) await working;
  }
}

/** The loop that a program without an SDK writes: one page after the other. */
export const sequential =
  (get: Get) =>
  async (each: Each): Promise<void> => {
    let path: string | undefined = "/v2/orders";
    while (path !== undefined) {
      const { orders, nextCursor } = (await get(path)) as Page;
      for (const item of orders) {
        const working = each(item);
        if (working !== undefined) await working;
      }
      path = nextCursor === null ? undefined : `/v2/orders?cursor=${nextCursor}`;
    }
  };
