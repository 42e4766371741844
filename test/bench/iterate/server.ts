/** A process that responds to each GET with a page of a list of orders. Its arguments set the number of orders and the delay in milliseconds. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { endlessBudget } from "./headers.ts";
import { type PageSize, pagesOf } from "./pages.ts";

const [, , items, delay, size] = process.argv as [string, string, string, string, PageSize];
const pageOf = pagesOf(Number(items), size);
/** Each page is made once, so that only the delay is between a request and its response. */
const made = new Map<string, Buffer>();

const server = createServer({ keepAliveTimeout: 0 }, ({ url = "" }, response) => {
  const body = made.get(url) ?? Buffer.from(pageOf(url));
  made.set(url, body);
  const headers = { ...endlessBudget, "content-type": "application/json", "content-length": body.length };
  setTimeout(() => response.writeHead(200, headers).end(body), Number(delay));
});
process.once("disconnect", () => process.exit());
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
