/** A service in a process of its own: files in two parts, and JSON responses that stop at a different point for each order. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { png } from "../../support/pictures.ts";

/** A budget that never runs out. */
const limits = {
  "x-ratelimit-policy": '"default";q=1000000;w=1, "downloads";q=1000000;w=1',
  "x-ratelimit": '"default";r=999999;t=0, "downloads";r=999999;t=0',
};
const file = Buffer.concat([png, Buffer.alloc(100_000, 1)]);

function respondWithFile(response: ServerResponse): void {
  response.writeHead(200, { ...limits, "content-type": "image/png", "content-length": file.length });
  response.write(file.subarray(0, 50_000));
  setImmediate(() => response.end(file.subarray(50_000)));
}

const server = createServer((request, response) => {
  const { url = "" } = request;
  if (url.includes("/renders/")) respondWithFile(response);
  // The others get no response, or a part of one: the client aborts the call.
  else if (/[02468]$/.test(url)) {
    response.writeHead(200, { ...limits, "content-type": "application/json" }).write('{"order":');
  }
});
process.once("disconnect", () => process.exit());
server.listen(0, "127.0.0.1", () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
