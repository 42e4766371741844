import { order } from "../order.ts";

/** Items of a page. */
export const pageSize = 100;

/** Kilobytes of a page, and the orderlines of each of its orders. */
const sizes = { "205 KB": { bytes: 205_000, lines: 7 }, "20 KB": { bytes: 20_000, lines: 0 } } as const;
export type PageSize = keyof typeof sizes;
export const pageSizes = Object.keys(sizes) as PageSize[];

const { order: full } = JSON.parse(order) as {
  readonly order: { readonly reference: string; readonly orderlines: readonly object[] };
};
const referenceOf = (index: number) => `Order_${String(index).padStart(26, "0")}`;

/** One order in JSON, with its part of the bytes of a page. */
function templateOf(size: PageSize): string {
  const { bytes, lines } = sizes[size];
  const { reference } = full;
  const orderlines = Array.from({ length: lines }, (_, index) => ({ ...full.orderlines[0], index: index + 1 }));
  const withCode = (legacyOrderCode: string) =>
    JSON.stringify({ reference, id: reference, status: { code: "open" }, orderlines, legacyOrderCode });
  return withCode("0".repeat(bytes / pageSize - withCode("").length - 1));
}

/** Makes the pages of a list of `items` orders, in the form of the service, of OpenAI, of Stripe or of Notion. */
export function pagesOf(items: number, size: PageSize): (path: string) => string {
  const template = templateOf(size);
  return (path) => {
    const { pathname, searchParams } = new URL(path, "http://localhost");
    // Each client has its own parameter for the cursor.
    const last = [...searchParams.values()].find((value) => value.startsWith("Order_"));
    const first = last === undefined ? 0 : Number(last.slice(6)) + 1;
    const end = Math.min(items, first + pageSize);
    const list = Array.from({ length: end - first }, (_, index) =>
      template.replaceAll(full.reference, referenceOf(first + index)),
    ).join();
    const more = end < items;
    const next = more ? `"${referenceOf(end - 1)}"` : null;
    if (pathname === "/v2/orders") return `{"orders":[${list}],"nextCursor":${next}}`;
    if (pathname === "/v1/users")
      return `{"object":"list","results":[${list}],"has_more":${more},"next_cursor":${next}}`;
    return `{"object":"list","data":[${list}],"has_more":${more}}`;
  };
}
