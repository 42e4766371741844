import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { RequestTimeoutError } from "../../src/errors/connection.ts";
import { toConnectionError } from "../../src/http/connection-errors.ts";

type Fields = Readonly<Record<string, unknown>>;

const error = (fields: Fields, message = "it failed") => Object.assign(new Error(message), fields);
const from = (syscall: string, code: string) => error({ syscall, code, errno: -1 }, `${syscall} ${code}`);
const aggregate = (...errors: Error[]) => Object.assign(new AggregateError(errors), { code: "ECONNREFUSED" });

/** How a `fetch` can wrap the error of a connection. */
const wrappers: Readonly<Record<string, (error: Error) => unknown>> = {
  "the error itself": (inner) => inner,
  "the cause of a TypeError, as of Node": (inner) => new TypeError("fetch failed", { cause: inner }),
  "the cause of an error with a code of its own": (inner) =>
    error({ code: "ERR_NETWORK", cause: error({ cause: inner }) }),
  "the only error of an aggregate": (inner) => new TypeError("fetch failed", { cause: aggregate(inner) }),
  "an error of another realm": ({ message, ...fields }) =>
    runInNewContext(
      "Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error(message), fields) })",
      {
        message,
        fields,
      },
    ),
};

const sentOf = (thrown: unknown) => toConnectionError(thrown, "POST /orders", (text) => text);

const codes = [
  ...["EMFILE", "ENFILE", "EBUSY", "ENOMEM", "EACCES", "EPERM", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ECONNREFUSED"],
  ...[
    "EAI_AGAIN",
    "EAI_FAIL",
    "EAI_MEMORY",
    "EAI_NODATA",
    "EAI_SYSTEM",
    "ENOTFOUND",
    "ETIMEOUT",
    "ESERVFAIL",
    "ENODATA",
  ],
  ...["EHOSTUNREACH", "ENETUNREACH", "ENETDOWN", "EADDRNOTAVAIL", "ENOBUFS", "ECODE_OF_TOMORROW"],
];

describe.each(Object.entries(wrappers))("a failed request, reported by %s", (_, wrap) => {
  it.each(["getaddrinfo", "getnameinfo", "queryA", "queryAaaa", "queryCname", "queryAny", "socket", "bind", "connect"])(
    "was not sent if the system call is %s, whatever the code",
    (syscall) => {
      for (const code of codes) expect(sentOf(wrap(from(syscall, code))), code).toMatchObject({ sent: false });
    },
  );

  it.each(["read", "write", "writev", "send", "recv", "shutdown"])(
    "may have been sent if the system call is %s, whatever the code",
    (syscall) => {
      for (const code of codes) expect(sentOf(wrap(from(syscall, code))), code).toMatchObject({ sent: true });
    },
  );

  it.each([
    ...["EAI_MEMORY", "ENOTFOUND", "ECONNREFUSED", "UND_ERR_CONNECT_TIMEOUT", "UND_ERR_CLOSED", "UND_ERR_PRX_TLS"],
    ...["ERR_PROXY_TUNNEL", "ERR_SOCKET_CONNECTION_TIMEOUT", "CERT_HAS_EXPIRED", "DEPTH_ZERO_SELF_SIGNED_CERT"],
    ...["ERR_TLS_CERT_ALTNAME_INVALID", "ERR_TLS_HANDSHAKE_TIMEOUT", "ERR_SSL_WRONG_VERSION_NUMBER"],
  ])("was not sent if only its code says so: %s", (code) => {
    expect(sentOf(wrap(error({ code })))).toMatchObject({ sent: false });
  });

  it.each([
    ...["ECONNRESET", "EPIPE", "ETIMEDOUT", "ECONNABORTED", "UND_ERR_SOCKET", "UND_ERR_DESTROYED", "UND_ERR_ABORTED"],
    ...["UND_ERR_INFO", "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH", "ERR_STREAM_PREMATURE_CLOSE", "HPE_INVALID_CONSTANT"],
    ...["ConnectionClosed", "ConnectionRefused", "ENOENT", ""],
  ])("may have been sent if nothing says when it failed: %s", (code) => {
    expect(sentOf(wrap(error({ code })))).toMatchObject({ sent: true });
  });

  it.each(["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"])(
    "is a timeout that names the other transport: %s",
    (code) => {
      const thrown = sentOf(wrap(error({ code })));
      expect(thrown).toBeInstanceOf(RequestTimeoutError);
      expect(thrown.message).toMatch(/300 s.*\n.*nodeTransport\(\)/);
    },
  );
});

describe("a failed request to a name with several addresses", () => {
  const refused = from("connect", "ECONNREFUSED");
  const late = from("connect", "ETIMEDOUT");
  const reset = from("read", "ECONNRESET");

  it.each([
    ["was not sent if no address could be connected", aggregate(refused, late), false],
    ["was not sent if the aggregates are nested", aggregate(aggregate(late), refused), false],
    ["may have been sent if one connection broke later", aggregate(refused, reset), true],
    ["may have been sent if one error shows nothing", aggregate(refused, error({})), true],
    ["was not sent if the aggregate has no errors, but the code of one", aggregate(), false],
  ])("%s", (_, thrown, sent) => {
    expect(sentOf(new TypeError("fetch failed", { cause: thrown }))).toMatchObject({ sent });
  });
});

describe("a destroyed client of undici", () => {
  const thrownBy = (code: string, ...frames: readonly string[]) =>
    error({
      code,
      stack: ["The client is destroyed", ...frames.map((frame) => `    at ${frame} (undici:1:1)`)].join("\n"),
    });
  const destroyed = "UND_ERR_DESTROYED";

  it.each([
    ["has not sent a request that was passed to it afterwards", thrownBy(destroyed, "Agent.dispatch", "x"), false],
    ["has not sent one that a bare function passed to it", thrownBy(destroyed, "dispatch"), false],
    ["may have sent a request that it carried at that time", thrownBy(destroyed, "Agent.destroy", "x"), true],
    ["may have sent one whose error another one reports", thrownBy(destroyed, "x", "Agent.dispatch"), true],
    ["may have sent one that ends with another code", thrownBy("UND_ERR_SOCKET", "Agent.dispatch"), true],
  ])("%s", (_, cause, sent) => {
    expect(sentOf(new TypeError("fetch failed", { cause }))).toMatchObject({ sent });
  });
});

it("a cause of itself ends the search", () => {
  const own = error({ code: "EPIPE" });
  Object.assign(own, { cause: own, errors: [own, own] });
  expect(sentOf(own)).toMatchObject({ sent: true });
});
