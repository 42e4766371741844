import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createManualClock, type ManualClock, type RunningEmulator, startEmulator } from "pod-partner/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

/** Sockets close in a later turn of the event loop: on a busy machine, not at once. */
const openSockets = () => process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;

const partOfAnOrder = (secretKey: string) =>
  [
    "POST /v2/orders HTTP/1.1",
    "Host: 127.0.0.1",
    `X-Service-Secret-Key: ${secretKey}`,
    "Content-Type: application/json",
    "Content-Length: 1000",
    "",
    '{"order":{',
  ].join("\r\n");

const partOfAnImage = (secretKey: string) =>
  [
    "POST /v2/images HTTP/1.1",
    "Host: 127.0.0.1",
    `X-Service-Secret-Key: ${secretKey}`,
    "Content-Type: application/octet-stream",
    "Transfer-Encoding: chunked",
    "",
    "8",
    "\x89PNG\r\n\x1a\n",
    "",
  ].join("\r\n");

const completeRequest = (secretKey: string) =>
  ["GET /v2/orders HTTP/1.1", "Host: 127.0.0.1", `X-Service-Secret-Key: ${secretKey}`, "", ""].join("\r\n");

describe("a client that goes away", () => {
  let clock: ManualClock;
  let emulator: RunningEmulator;
  let before = 0;
  const errors: unknown[] = [];
  const note = (error: unknown) => void errors.push(error);

  beforeEach(async () => {
    before = openSockets();
    clock = createManualClock();
    emulator = await startEmulator({ clock });
    process.on("unhandledRejection", note);
  });
  afterEach(async () => {
    process.off("unhandledRejection", note);
    await emulator.close();
  });

  /** Sends bytes on a connection of its own, and waits until the emulator has seen the request. */
  async function start(bytes: string, requests: number): Promise<Socket> {
    const socket = connect(Number(new URL(emulator.baseUrl).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.resume();
    await once(socket, "connect");
    socket.write(bytes, "latin1");
    await expect.poll(() => emulator.requests).toHaveLength(requests);
    return socket;
  }

  it.each([
    ["destroys its connection in the body of an order", partOfAnOrder, "destroy"],
    ["resets its connection in the body of an order", partOfAnOrder, "resetAndDestroy"],
    ["ends its connection in the body of an order", partOfAnOrder, "end"],
    ["destroys its connection in an image", partOfAnImage, "destroy"],
    ["ends its connection in an image", partOfAnImage, "end"],
  ] as const)("that %s leaves no handle and no error", async (_case, part, leave) => {
    for (let request = 1; request <= 5; request += 1) {
      const socket = await start(part(emulator.secretKey), request);
      socket[leave]();
    }
    await expect.poll(() => openSockets()).toBe(before);
    expect(errors).toEqual([]);
    expect(emulator.requests.map(({ status }) => status)).toEqual(Array(5).fill(undefined));
    expect((await emulator.fetch(`${emulator.baseUrl}/orders`)).status).toBe(401);
  });

  it.each([
    ["in the body of an order under a gateway fault", partOfAnOrder, { fault: "gateway", ms: 60_000, processing: 0 }],
    ["in the body of an order under a slow fault", partOfAnOrder, { fault: "slow", ms: 60_000, when: "before" }],
    ["before the response under a slow fault", completeRequest, { fault: "slow", ms: 60_000 }],
  ] as const)("%s leaves no handle and no timer", async (_case, bytes, fault) => {
    emulator.faults.add(fault);
    const socket = await start(bytes(emulator.secretKey), 1);
    socket.destroy();
    await expect.poll(() => openSockets()).toBe(before);
    await expect.poll(() => clock.pending).toBe(0);
    expect(errors).toEqual([]);
  });
});
