import { createServer } from "node:http";
import type { Socket } from "node:net";
import { ConnectionError, OutcomeUnknownError, type PodPartner, PodPartnerError, ServerError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { watchSockets } from "../support/open-handles.ts";
import { png } from "../support/pictures.ts";
import { listen } from "../support/raw-server.ts";
import { ref } from "../support/references.ts";
import { clientOf, transports } from "../support/transports.ts";

const content = JSON.stringify({ image: { reference: ref("Image") } });
const json = "Content-Type: application/json";

/** The text of a response. */
const responseOf = (status: string, ...headers: readonly string[]) =>
  `${[`HTTP/1.1 ${status}`, json, `Content-Length: ${content.length}`, ...headers].join("\r\n")}\r\n\r\n${content}`;
const ok = responseOf("200 OK");
const chunked = `HTTP/1.1 200 OK\r\n${json}\r\nTransfer-Encoding: chunked\r\n\r\n${content.length.toString(16)}\r\n${content}\r\n0\r\n\r\n`;

type Respond = (socket: Socket) => void;
const write =
  (text: string): Respond =>
  (socket) =>
    void socket.write(text);
const end =
  (text: string): Respond =>
  (socket) =>
    void socket.end(text);
const reset =
  (text: string): Respond =>
  (socket) =>
    void socket.write(text, () => socket.resetAndDestroy());

/** A server that writes a response as it is given, after it has read the whole request. */
const serve = (respond: Respond, requests: unknown[] = []) =>
  listen(
    createServer((request) => {
      requests.push(request.method);
      request.resume().on("end", () => respond(request.socket));
    }),
  );

/** A server that responds when it has the head of a request, and reads no more of the request. */
const serveEarly = (respond: Respond) => listen(createServer((request) => respond(request.socket)));

/** More bytes than the buffers of two sockets hold. */
const large = new Uint8Array(12_000_000);
large.set(png.subarray(0, 8));

const calls: Readonly<Record<string, (partner: PodPartner) => PromiseLike<unknown>>> = {
  "a read": (partner) => partner.request("GET", "/things"),
  "a write": (partner) => partner.request("POST", "/things", { body: { a: 1 } }),
  "an upload": (partner) => partner.images.upload(png),
};
const largeCalls: typeof calls = {
  "a write": (partner) => partner.request("POST", "/things", { body: { a: "x".repeat(large.length) } }),
  "an upload of bytes": (partner) => partner.images.upload(large),
  "an upload of a blob": (partner) => partner.images.upload(new Blob([large])),
};

/** What a call says: it has a `response`, the request is `in doubt`, or the name of another error and its status. */
async function outcomeOf(call: PromiseLike<unknown>): Promise<string> {
  try {
    return (await call) === undefined ? "no body" : "response";
  } catch (error) {
    if (!(error instanceof PodPartnerError)) throw error;
    const lost = error instanceof ServerError || (error instanceof ConnectionError && error.sent);
    return lost || error instanceof OutcomeUnknownError ? "in doubt" : `${error.name} ${Reflect.get(error, "status")}`;
  }
}

describe.each(transports)("over $name", ({ name, over }) => {
  const same: readonly (readonly [what: string, respond: Respond, outcome: string])[] = [
    ["a 102 before the response", write(`HTTP/1.1 102 Processing\r\n\r\n${ok}`), "response"],
    ["three times 103 before the response", write(`${"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(3)}${ok}`), "response"],
    ["bytes after the body", write(`${ok}garbage`), "response"],
    ["bytes after a chunked body", write(`${chunked}garbage`), "response"],
    ["bytes after a body that closes the connection", end(`${responseOf("200 OK", "Connection: close")}x`), "response"],
    ["a second response", write(`${ok}${responseOf("500 Forged")}`), "response"],
    ["a reset after the response", reset(ok), "response"],
    ["the status 600", write(responseOf("600 Odd")), "in doubt"],
    ["the status 999", write(responseOf("999 Odd")), "in doubt"],
    // A status below 200 is not final: it does not say that the request was refused.
    ["the status 099", write(responseOf("099 Odd")), "in doubt"],
    ["the status 000", end(responseOf("000 Odd")), "in doubt"],
    ["a 101 that nobody asked for", write("HTTP/1.1 101 Switching Protocols\r\n\r\n"), "in doubt"],
    ["a status of two digits", write(responseOf("99 Odd")), "in doubt"],
    ["a status of four digits", write(responseOf("2000 Odd")), "in doubt"],
    ["a status that is not a number", write(responseOf("2x0 Odd")), "in doubt"],
  ];
  for (const [what, respond, outcome] of same) {
    it.each(Object.keys(calls))(`${what} makes %s a call with the outcome: ${outcome}`, async (call) => {
      using sockets = watchSockets();
      {
        await using server = await serve(respond);
        expect(await outcomeOf(calls[call]?.(clientOf(server.origin, over)) ?? expect.fail())).toBe(outcome);
      }
      await expect.poll(() => sockets.open).toBe(0);
    });
  }

  it.each(["a read", "a write"])("bytes after a response without a body do not spoil it: %s", async (call) => {
    await using server = await serve(write("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello"));
    expect(await outcomeOf(calls[call]?.(clientOf(server.origin, over)) ?? expect.fail())).toBe("no body");
  });

  const early: readonly (readonly [what: string, respond: Respond, outcome: string])[] = [
    ["200", write(ok), "response"],
    ["200, and the end of the connection", end(ok), "response"],
    ["200, and then resets the connection", reset(ok), "response"],
    ["413", write(responseOf("413 Content Too Large")), "ApiError 413"],
    ["200 without the rest of its body, and then resets the connection", reset(ok.slice(0, -9)), "in doubt"],
  ];
  for (const [what, respond, outcome] of early) {
    it.each(Object.keys(largeCalls))(
      `a server that reads no more of the request and responds with ${what}: %s is ended, and its connection is closed`,
      async (call) => {
        using sockets = watchSockets();
        await using server = await serveEarly(respond);
        expect(await outcomeOf(largeCalls[call]?.(clientOf(server.origin, over)) ?? expect.fail())).toBe(outcome);
        await expect.poll(() => sockets.open).toBe(0);
      },
    );
  }

  it.each(Object.keys(largeCalls))("a reset after the response does not lose it: %s of 12 MB", async (call) => {
    await using server = await serve(reset(ok));
    expect(await outcomeOf(largeCalls[call]?.(clientOf(server.origin, over)) ?? expect.fail())).toBe("response");
  });

  /** What differs: `docs/transport.md` lists it. */
  const different = [
    [
      "100 without a request for it",
      write(`HTTP/1.1 100 Continue\r\n\r\n${ok}`),
      { fetch: "in doubt", nodeTransport: "response" },
    ],
    ["a 205 with a body", write(responseOf("205 Reset Content")), { fetch: "no body", nodeTransport: "response" }],
  ] as const;
  it.each(different)("is known to differ: %s", async (_, respond, outcomes) => {
    for (const call of ["a read", "a write"]) {
      await using server = await serve(respond);
      expect(await outcomeOf(calls[call]?.(clientOf(server.origin, over)) ?? expect.fail())).toBe(outcomes[name]);
    }
  });

  it("is known to differ: a 421, after which `fetch` sends the request once more", async () => {
    const requests: unknown[] = [];
    await using server = await serve(write(responseOf("421 Misdirected Request")), requests);
    expect(await outcomeOf(clientOf(server.origin, over).request("POST", "/things"))).toBe("ApiError 421");
    expect(requests).toEqual(name === "fetch" ? ["POST", "POST"] : ["POST"]);
  });
});
