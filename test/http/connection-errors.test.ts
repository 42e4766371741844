import { describe, expect, it } from "vitest";
import { ConnectionError } from "../../src/errors/connection.ts";
import { toConnectionError } from "../../src/http/connection-errors.ts";

const key = "test-key-5up3r53cr3t-4d5f6";
const redact = (text: string) => text.replaceAll(key, "[redacted]");

/** As Node throws it: the reason is in the cause. */
const failed = (message: string, parts: object = {}) =>
  new TypeError("fetch failed", { cause: Object.assign(new Error(message), parts) });

const denoUrl = "http://127.0.0.1:4873/v2/utilities?customIdentifier=shop-1";

describe("an error recorded on a runtime", () => {
  it.each<[what: string, error: unknown, sent: boolean, reason: string]>([
    [
      "Node: every address of a host name failed",
      Object.assign(
        new AggregateError([
          Object.assign(new Error("connect ETIMEDOUT ::1:443"), { code: "ETIMEDOUT", syscall: "connect" }),
        ]),
        { code: "ETIMEDOUT" },
      ),
      false,
      "connect ETIMEDOUT ::1:443",
    ],
    ["Node: a port that fetch blocks", failed("bad port"), false, "bad port"],
    [
      "Node: a proxy that refuses a tunnel",
      failed("Proxy response (407) !== 200 when HTTP Tunneling"),
      false,
      "Proxy response (407) !== 200 when HTTP Tunneling",
    ],
    [
      "Node: a dispatcher of another undici",
      failed("invalid onRequestStart method", { code: "UND_ERR_INVALID_ARG" }),
      false,
      "invalid onRequestStart method (UND_ERR_INVALID_ARG)",
    ],
    [
      "Node: the host became unreachable during a request",
      failed("read EHOSTUNREACH", { code: "EHOSTUNREACH", syscall: "read" }),
      true,
      "read EHOSTUNREACH",
    ],
    [
      "Node: the host became unreachable while a request was written",
      failed("write EHOSTUNREACH", { code: "EHOSTUNREACH", syscall: "write" }),
      true,
      "write EHOSTUNREACH",
    ],
    [
      "node:https: a server without TLS",
      Object.assign(
        new Error("write EPROTO 40F7:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:\n"),
        {
          code: "EPROTO",
          syscall: "write",
        },
      ),
      true,
      "the server does not speak TLS",
    ],
    [
      "Node: a reset in the TLS handshake, which looks like any other reset",
      failed("read ECONNRESET", { code: "ECONNRESET", syscall: "read" }),
      true,
      "read ECONNRESET",
    ],
    [
      "Node: the server requires another version of TLS",
      failed("tlsv1 alert protocol version", { code: "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION" }),
      false,
      "tlsv1 alert protocol version (ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION)",
    ],
    [
      "Node: a TLS alert that may come during a request",
      failed("tlsv13 alert certificate required", { code: "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED" }),
      true,
      "tlsv13 alert certificate required (ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED)",
    ],
    [
      "Bun: no network",
      Object.assign(new TypeError("ENETUNREACH: Was there a typo in the url or port?"), { code: "ENETUNREACH" }),
      false,
      "ENETUNREACH: Was there a typo in the url or port?",
    ],
    [
      "Bun 1.2: refused, or TLS broken during a request",
      Object.assign(new Error("Unable to connect. Is the computer able to access the url?"), {
        code: "ConnectionRefused",
      }),
      true,
      "Unable to connect. Is the computer able to access the url? (ConnectionRefused)",
    ],
    [
      "Deno: TLS broken during a request",
      failed("received corrupt message of type InvalidContentType"),
      true,
      "received corrupt message of type InvalidContentType",
    ],
    [
      "Deno: the port does not use TLS",
      failed(
        `error sending request for url (${denoUrl}): client error (Connect): received corrupt message of type InvalidContentType`,
      ),
      false,
      "received corrupt message of type InvalidContentType",
    ],
    [
      "Deno: closed without a response",
      failed(
        `error sending request from 127.0.0.1:5 for ${denoUrl} (127.0.0.1:4873): client error (SendRequest): connection closed before message completed`,
      ),
      true,
      "connection closed before message completed",
    ],
  ])("is classified correctly: %s", (_, error, sent, reason) => {
    const fault = toConnectionError(error, "GET /x", redact);
    expect(fault).toBeInstanceOf(ConnectionError);
    expect(fault).toMatchObject({ sent, message: expect.stringContaining(`No response from GET /x: ${reason}.`) });
  });

  it("is classified correctly without the key when it shows the key", () => {
    const fault = toConnectionError(failed(`connect ECONNREFUSED, ${key}`, { code: "ECONNREFUSED" }), "GET /x", redact);
    expect(fault).toMatchObject({ sent: false });
    expect(`${fault.message} ${String(fault.cause)} ${JSON.stringify(fault)}`).not.toContain(key);
  });
});
