/** A separate process: a list of this many orders, a file of this many megabytes, and a route for uploads. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { endlessBudget } from "../iterate/headers.ts";
import { pagesOf } from "../iterate/pages.ts";
import { bytes } from "./bytes.ts";

const [, , items, megabytes] = process.argv.map(Number) as [number, number, number, number];
const pageOf = pagesOf(items, "20 KB");

function respondJson(response: ServerResponse, body: string): void {
  const type = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  response.writeHead(200, { ...endlessBudget, ...type }).end(body);
}

const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
  const { method, url = "" } = request;
  if (method === "POST") {
    const uploaded = JSON.stringify({ image: { reference: `Image_${"0".repeat(26)}` } });
    request.on("end", () => respondJson(response, uploaded)).resume();
  } else if (url.startsWith("/v2/renders")) {
    const file = { "content-type": "image/png", "content-length": megabytes * 1e6, etag: '"1"' };
    response.writeHead(200, { ...endlessBudget, ...file, "cache-control": "private, max-age=31536000, immutable" });
    Readable.from(bytes(megabytes * 1e6)).pipe(response);
  } else respondJson(response, pageOf(url));
});
process.once("disconnect", () => process.exit());
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
