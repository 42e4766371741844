import { order } from "../order.ts";

/** Items of a page. */
export const pageSize = 100;

const { order: summary } = JSON.parse(order) as { readonly order: { readonly reference: string } };
const template = JSON.stringify({ ...summary, id: summary.reference });
const referenceOf = (index: number) => `Order_${String(index).padStart(26, "0")}`;

/** The requested page of a list of this many orders, in the form of the service, of OpenAI or of Stripe. */
export function pageOf(path: string, items: number): string {
  const { pathname, searchParams } = new URL(path, "http://localhost");
  // Each client has its own parameter for the items after a given one.
  const last = [...searchParams.values()].find((value) => value.startsWith("Order_"));
  const first = last === undefined ? 0 : Number(last.slice(6)) + 1;
  const end = Math.min(items, first + pageSize);
  const list = Array.from({ length: end - first }, (_, index) =>
    template.replaceAll(summary.reference, referenceOf(first + index)),
  ).join();
  if (pathname !== "/v2/orders") return `{"object":"list","data":[${list}],"has_more":${end < items}}`;
  return `{"orders":[${list}],"nextCursor":${end < items ? `"${referenceOf(end - 1)}"` : null}}`;
}
