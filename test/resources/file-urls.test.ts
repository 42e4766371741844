import { type PodPartner, type RequestOptions, RequestValidationError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection, useExchange } from "../support/exchange.ts";
import { secretKey } from "../support/partner.ts";
import { jpeg } from "../support/pictures.ts";
import { startStubService } from "../support/stub-service.ts";

const file = { headers: { "content-type": "image/jpeg" }, body: jpeg };

/** The calls that take a URL from a response, because the specification shows no path. */
const calls = {
  "catalog.products.layerImage": (partner: PodPartner, url: string | URL, options?: RequestOptions) =>
    partner.catalog.products.layerImage(url, options),
  "evidence.download": (partner: PodPartner, url: string | URL, options?: RequestOptions) =>
    partner.evidence.download(url, options),
};

describe.each(Object.entries(calls))("%s sends the key to no other origin", (_, call) => {
  const { context } = useExchange();
  const bytesOf = async (url: string | URL, options?: RequestOptions) => {
    const given = await call(context.partner, url, options);
    if (!given.modified) expect.fail("not modified");
    return given.bytes();
  };

  it("sends the URL unchanged, with its query", async () => {
    context.service.respond(file);
    const bytes = await bytesOf(`${context.service.origin}/files/a%20b.png?v=1&w=%2F`);
    expect(Buffer.from(bytes).equals(jpeg)).toBe(true);
    expect(context.service.requests.map(({ method, path }) => [method, path])).toEqual([
      ["GET", "/files/a%20b.png?v=1&w=%2F"],
    ]);
    expect(context.service.requests[0]?.headers["x-service-secret-key"]).toBe(secretKey);
  });

  it("accepts a URL object", async () => {
    context.service.respond(file);
    expect((await bytesOf(new URL(`${context.service.baseUrl}/files/1.jpg`))).length).toBe(jpeg.length);
    expect(context.service.requests.map(({ path }) => path)).toEqual(["/v2/files/1.jpg"]);
  });

  it("adds a query to the URL's own, and sends no fragment", async () => {
    context.service.respond(file, file);
    const url = `${context.service.origin}/files/a.png`;
    await bytesOf(`${url}?v=1#top`, { query: { size: "2 x" } });
    await bytesOf(`${url}#top?`, { query: { size: 2 } });
    expect(context.service.requests.map(({ path }) => path)).toEqual([
      "/files/a.png?v=1&size=2%20x",
      "/files/a.png?size=2",
    ]);
  });

  const elsewhere: Record<string, (own: string, other: string) => string> = {
    "another port": (_, other) => `${other}/files/a.png`,
    "another host name of the same machine": (own) => `${own.replace("127.0.0.1", "localhost")}/files/a.png`,
    "another protocol": (own) => `${own.replace("http:", "https:")}/files/a.png`,
    "its own origin as a user name": (own, other) => `${own}@${other.slice("http://".length)}/files/a.png`,
    "a host that starts with its own origin": (own) => `${own}.evil.example/files/a.png`,
    "a host without a protocol": (_, other) => `${other.slice("http:".length)}/files/a.png`,
    "a host after backslashes": (_, other) => `\\\\${other.slice("http://".length)}/files/a.png`,
    "its own origin with a user name": (own) => own.replace("://", "://ada@").concat("/files/a.png"),
    "a file": () => "file:///etc/passwd",
    "a blob of its own origin": (own) => `blob:${own}/0b1e8c5e`,
    data: () => "data:image/png;base64,iVBORw0KGgo=",
    nothing: () => "",
  };

  it.each(Object.entries(elsewhere))("refuses a URL of %s, and sends nothing", async (_, url) => {
    await using other = await startStubService();
    const error = await rejection(call(context.partner, url(context.service.origin, other.origin)));
    if (!RequestValidationError.isInstance(error)) throw error;
    expect(error.issues.map(({ path }) => path)).toEqual([["url"]]);
    expect(other.requests).toHaveLength(0);
    expect(context.service.requests).toHaveLength(0);
  });

  const noKey = "because the secret key is sent to no other origin";
  it.each([
    ["https://files.example/1.jpg?signature=abc", `${noKey}; request this URL without the key: \`fetch(url)\``],
    ["http://files.example/1.jpg", `${noKey}; request this URL without the key: \`fetch(url)\``],
    ["data:image/png;base64,iVBORw0KGgo=", noKey],
    ["xhttp://files.example/1.jpg", noKey],
    ["httpsx://files.example/1.jpg", noKey],
    ["/files/1.jpg", noKey],
  ])("says how to request a URL of another origin: %s", async (url, message) => {
    expect(await rejection(call(context.partner, url))).toMatchObject({
      issues: [{ path: ["url"], message: `expected a URL of ${context.service.origin}, ${message}` }],
    });
  });

  it.each([undefined, null, 5, {}, Object.create(null), Symbol("url"), () => "url"])(
    "refuses %o, which is no URL",
    async (value) => {
      const error = await rejection(call(context.partner, value as never));
      expect(error).toMatchObject({ name: "RequestValidationError", issues: [{ path: ["url"] }] });
      expect(context.service.requests).toHaveLength(0);
    },
  );
});
