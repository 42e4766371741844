/** A separate process: responds to every GET with a page of a list of this many orders, after this many milliseconds. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { endlessBudget } from "./headers.ts";
import { pageOf } from "./pages.ts";

const [, , items, delay] = process.argv.map(Number) as [number, number, number, number];

const server = createServer({ keepAliveTimeout: 0 }, ({ url = "" }, response) => {
  const body = pageOf(url, items);
  const headers = { ...endlessBudget, "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  setTimeout(() => response.writeHead(200, headers).end(body), delay);
});
process.once("disconnect", () => process.exit());
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
