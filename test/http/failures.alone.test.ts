import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { watchSockets } from "../support/open-handles.ts";
import { combinedOrder } from "../support/orders.ts";
import { freePort } from "../support/port.ts";
import { listenRaw, responseText, valid } from "../support/raw-server.ts";
import { clientOf, transports } from "../support/transports.ts";

const chunked = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

describe.each(transports)("over $name", ({ name, over }) => {
  describe("a connection that cannot be opened", () => {
    it.each([
      ["refuses the connection", async () => `http://127.0.0.1:${await freePort()}`, "ECONNREFUSED"],
      ["has an unknown name", async () => "http://does-not-exist.invalid", /ENOTFOUND|EAI_AGAIN/],
    ])("leaves the request unsent if the host %s", async (_, origin, code) => {
      const partner = clientOf(await origin(), over);
      for (const call of [partner.organization.get(), partner.orders.create(combinedOrder)]) {
        const error = await rejection(call);
        expect(error).toMatchObject({ name: "ConnectionError", sent: false });
        expect(String(error)).toMatch(code);
      }
    });
  });

  describe("a connection that breaks", () => {
    const broken: readonly (readonly [string, (socket: Socket) => void, RegExp])[] = [
      ["before the response", (socket) => socket.destroy(), /socket hang up|closed before a response/],
      ["by a reset", (socket) => socket.resetAndDestroy(), /ECONNRESET/],
      ["in the head", (socket) => socket.end("HTTP/1.1 200 O"), /socket hang up|Parse Error/],
      ["in a body with a length", (socket) => socket.end(valid.slice(0, -3)), /before the response was complete/],
      ["in a chunked body", (socket) => socket.end(`${chunked}5\r\n{"me`), /before the response was complete/],
      [
        "in a body, by a reset",
        (socket) => socket.write(valid.slice(0, -3), () => socket.resetAndDestroy()),
        /ECONNRESET/,
      ],
      ["with a body that is not chunked", (socket) => socket.end(`${chunked}zz\r\n{"message":"x"}`), /Parse Error/],
      ["with a response that is not HTTP", (socket) => socket.end("SSH-2.0-OpenSSH\r\n\r\n"), /Parse Error/],
      [
        "with a protocol upgrade",
        (socket) => socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n"),
        /closed before a response/,
      ],
      [
        "with a head that is too large",
        (socket) => socket.end(responseText({}, `X-Long: ${"x".repeat(100_000)}`)),
        /HPE_HEADER_OVERFLOW/,
      ],
      [
        "with two lengths",
        (socket) => socket.end(valid.replace("Content-Length", "Content-Length: 5\r\nContent-Length")),
        /Parse Error/,
      ],
    ];

    it.each(broken)("leaves the request in doubt: %s", async (_, respond, message) => {
      using sockets = watchSockets();
      await using server = await listenRaw((socket) => respond(socket));
      const partner = clientOf(server.origin, over);
      const calls = [partner.organization.get(), partner.request("POST", "/things")];
      for (const error of await Promise.all(calls.map(rejection))) {
        const cause = (error as Error).name === "OutcomeUnknownError" ? (error as Error).cause : error;
        expect(cause).toMatchObject({ name: "ConnectionError", sent: true });
        // The words of `fetch` are those of the platform.
        if (name === "nodeTransport") expect(String(cause)).toMatch(message);
      }
      await expect.poll(() => sockets.open).toBe(0);
    });

    it("leaves the request in doubt if the connection was used before", async () => {
      let requests = 0;
      await using server = await listenRaw((socket) => {
        requests += 1;
        if (requests === 1) socket.write(valid);
        else socket.destroy();
      });
      const partner = clientOf(server.origin, over);
      await partner.request("GET", "/things");
      expect(await rejection(partner.request("GET", "/things"))).toMatchObject({ name: "ConnectionError", sent: true });
      expect(requests).toBe(2);
    });
  });

  describe("a response that is unusual and valid", () => {
    const data = { message: "The key is valid" };

    it.each([
      ["follows an informational response", `HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${valid}`],
      ["is followed by bytes that belong to no request", `${valid}${responseText({ message: "forged" })}`],
      ["ends with the connection", valid.replace(/Content-Length: \d+\r\n/, "")],
      ["has a line end before it", `\r\n${valid}`],
      ["has a trailer", `${chunked}1e\r\n${JSON.stringify(data).slice(0, 30)}\r\n0\r\nX-Sum: 1\r\n\r\n`],
    ])("is read if it %s", async (_, text) => {
      expect(JSON.stringify(data)).toHaveLength(30);
      await using server = await listenRaw((socket) => {
        socket.write(text);
        if (!text.includes("Content-Length") && !text.includes("chunked")) socket.end();
      });
      expect(await clientOf(server.origin, over).auth.validate()).toEqual(data);
    });

    it("arrives in single bytes", async () => {
      await using server = await listenRaw((socket) => {
        socket.setNoDelay(true);
        for (const character of valid) socket.write(character);
      });
      expect(await clientOf(server.origin, over).auth.validate()).toEqual(data);
    });

    it("keeps repeated headers, as one value with commas", async () => {
      await using server = await listenRaw((socket) =>
        socket.write(responseText(data, "X-Twice: a", "x-twice: b", "Set-Cookie: c=1", "Set-Cookie: d=2")),
      );
      const { response } = await clientOf(server.origin, over).auth.validate().withResponse();
      expect(response).toBeInstanceOf(Response);
      expect(response.headers.get("x-twice")).toBe("a, b");
      expect(response.headers.getSetCookie()).toEqual(["c=1", "d=2"]);
      expect([response.status, response.ok, response.statusText]).toEqual([200, true, "OK"]);
      expect([response.url, response.bodyUsed]).toEqual([`${server.origin}/v2/auth/validate`, true]);
    });

    it("keeps a header that follows two thousand others", async () => {
      const many = Array.from({ length: 2_000 }, () => "a:b");
      await using server = await listenRaw((socket) => socket.write(responseText(data, ...many, "X-Last: c")));
      const { response } = await clientOf(server.origin, over).auth.validate().withResponse();
      expect(response.headers.get("x-last")).toBe("c");
    });

    it("has one header of several, of which each is read: the longest `Retry-After` applies", async () => {
      const text = responseText({ code: "rate_limited", message: "Later." }, "Retry-After: 3", "retry-after: 2");
      await using server = await listenRaw((socket) => socket.write(text.replace("200 OK", "429 Too Many Requests")));
      const error = await rejection(clientOf(server.origin, over).auth.validate());
      expect(error).toMatchObject({ name: "RateLimitError", retryAfter: 3_000 });
    });
  });
});
