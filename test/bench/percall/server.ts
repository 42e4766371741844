/** A separate process: responds to every GET with one order, and with a budget that never runs out. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { order } from "../order.ts";

const headers = {
  "content-type": "application/json",
  "content-length": Buffer.byteLength(order),
  "x-ratelimit-policy": '"default";q=1000000000;w=60',
  "x-ratelimit": '"default";r=999999999;t=0',
};

const server = createServer({ keepAliveTimeout: 0 }, (_, response) => {
  response.writeHead(200, headers);
  response.end(order);
});
// The parent process has ended.
process.once("disconnect", () => process.exit());
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
