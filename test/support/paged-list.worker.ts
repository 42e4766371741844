/** A service in a thread of its own, so that it receives requests while the caller blocks its thread. Its list has 5 pages. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parentPort, workerData } from "node:worker_threads";
import { ref } from "./references.ts";

/** The number of requests that arrived. */
const arrived = new Int32Array(workerData as SharedArrayBuffer);

const server = createServer((request, response) => {
  const page = Number(new URL(request.url ?? "", "http://localhost").searchParams.get("cursor") ?? "1");
  Atomics.add(arrived, 0, 1);
  Atomics.notify(arrived, 0);
  const orders = ["a", "b"].map((item) => ({ reference: ref("Order", `${item}${page}`) }));
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ orders, nextCursor: page < 5 ? String(page + 1) : null }));
});
server.listen(0, "127.0.0.1", () => parentPort?.postMessage((server.address() as AddressInfo).port));
