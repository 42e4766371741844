import { sampleImage } from "pod-partner/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { FetchLike } from "../../src/http/fetch-transport.ts";
import { rejection } from "../support/exchange.ts";
import { secretKey, useService } from "../support/partner.ts";
import { ref } from "../support/references.ts";

const picture = Buffer.from(sampleImage("a design"));
const uploaded = { body: { image: { reference: ref("Image") } } };

describe("a `fetch` that does not take the platform's `Request`, as that of the package undici", () => {
  const context = useService();
  let calls: string[] = [];
  /** The error is that of undici 7. */
  const fetch: FetchLike = async (input, init) => {
    calls.push(typeof input);
    if (typeof input !== "string") throw new TypeError("Failed to parse URL from [object Request]");
    return globalThis.fetch(input, init);
  };
  beforeEach(() => {
    calls = [];
  });

  it("gets the URL from the first call on, and sends reads, JSON, files and streams", async () => {
    const { PodPartner } = await import("pod-partner");
    const partner = new PodPartner({ baseUrl: context.service.baseUrl, secretKey, fetch, retry: { retries: 0 } });
    context.service.respond({ body: { message: "valid" } }, uploaded, uploaded, {
      body: { render: { reference: ref("Render") } },
    });
    expect((await partner.auth.validate()).message).toBe("valid");
    await partner.images.upload(new Blob([picture], { type: "image/png" }));
    await partner.images.upload(new Blob([picture]).stream());
    await partner.renders.create({ compositionReference: ref("Composition"), imageReference: ref("Image") });
    expect(calls).toEqual(["object", "string", "string", "string", "string"]);
    expect(
      context.service.requests.map(({ method, path, headers }) => [method, path, headers["x-service-secret-key"]]),
    ).toEqual([
      ["POST", "/v2/auth/validate", secretKey],
      ["POST", "/v2/images", secretKey],
      ["POST", "/v2/images", secretKey],
      ["POST", "/v2/renders", secretKey],
    ]);
    const bodies = context.service.requests.map(({ body }) => body);
    expect([bodies[1]?.equals(picture), bodies[2]?.equals(picture)]).toEqual([true, true]);
    expect(JSON.parse(String(bodies[3]))).toEqual({
      render: { compositionReference: ref("Composition"), imageReference: ref("Image") },
    });
  });
});

describe('a platform that refuses `redirect: "error"`, as Cloudflare Workers', () => {
  beforeEach(() => vi.resetModules());
  afterEach(() => vi.unstubAllGlobals());

  class WorkerRequest extends Request {
    constructor(...[input, init]: ConstructorParameters<typeof Request>) {
      if (init?.redirect === "error")
        throw new TypeError('Invalid redirect value, must be one of "follow" or "manual"');
      super(input, init);
    }
  }

  it("uploads files, and follows no redirect", async () => {
    vi.stubGlobal("Request", WorkerRequest);
    const { PodPartner } = await import("pod-partner");
    const redirects: unknown[] = [];
    const fetch: FetchLike = async (request, init) => {
      redirects.push(init?.redirect);
      await new WorkerRequest(request, init).arrayBuffer();
      return Response.json(uploaded.body);
    };
    const partner = new PodPartner({ baseUrl: "https://service.test/v2", secretKey, fetch, retry: { retries: 0 } });
    await partner.images.upload(new Blob([picture], { type: "image/png" }));
    expect(redirects).toEqual(["manual"]);
  });
});

describe("what a `fetch` of the caller returns", () => {
  const validate = async (response: unknown) => {
    const { PodPartner } = await import("pod-partner");
    const fetch = async () => response as Response;
    return new PodPartner({ baseUrl: "https://service.test/v2", secretKey, fetch }).auth.validate({ retry: false });
  };
  const valid = { message: "The key is valid." };
  /** An object with the parts of a response. */
  const like = (parts: object = {}) => {
    const { body } = Response.json(valid);
    return { type: "default", url: "", status: 200, ok: true, headers: new Headers(), body, ...parts };
  };

  it("can be an object with the parts of a response, also with headers of another class", async () => {
    const headers = new Map([["content-type", "application/json"]]);
    expect(await validate(like({ headers }))).toEqual(valid);
  });

  const no = /^ConnectionError: .* not a Response/s;
  it.each<[string, unknown, RegExp]>([
    ["an error response", Response.error(), /^ConnectionError: .* returned an error response/s],
    ["a hidden redirect", like({ type: "opaqueredirect", status: 0, ok: false }), /^RedirectError: /],
    ["nothing", undefined, no],
    ["a status as text", like({ status: "200" }), no],
    ["a status with a fraction", like({ status: 200.5 }), no],
    ["the status 99", like({ status: 99, ok: false }), no],
    ["the status 1000", like({ status: 1_000, ok: false }), no],
    ["a success that is not ok", like({ ok: false }), no],
    ["an error that is ok", like({ status: 300 }), no],
    ["headers that cannot be listed", like({ headers: { get: () => null, has: () => false } }), no],
    ["headers that cannot be read", like({ headers: [["content-type", "application/json"]] }), no],
  ])("is an error if it is %s", async (_, response, message) => {
    expect(String(await rejection(validate(response)))).toMatch(message);
  });

  it("is closed if it is no response, because it may hold a connection", async () => {
    const canceled = vi.fn();
    await rejection(validate(like({ ok: false, body: new ReadableStream({ cancel: canceled }) })));
    expect(canceled).toHaveBeenCalledOnce();
  });
});

describe("a creation, which Deno and Bun would send again on a reused connection", () => {
  beforeEach(() => vi.resetModules());
  afterEach(() => vi.unstubAllGlobals());

  it("has a connection of its own, which other requests do not have", async () => {
    const client = {};
    const createHttpClient = vi.fn(() => client);
    vi.stubGlobal("Deno", { createHttpClient });
    const { PodPartner } = await import("pod-partner");
    const sent: unknown[] = [];
    const fetch: FetchLike = async ({ method }, init = {}) => {
      sent.push([method, init.keepalive, Reflect.get(init, "client")]);
      return Response.json({});
    };
    const partner = new PodPartner({ baseUrl: "https://service.test/v2", secretKey, fetch });
    for (const method of ["POST", "PATCH", "GET"] as const) await partner.request(method, "/things");
    expect(sent).toEqual([
      ["POST", false, client],
      ["PATCH", false, client],
      ["GET", undefined, undefined],
    ]);
    expect(createHttpClient.mock.calls).toEqual([[{ poolMaxIdlePerHost: 0, http2: false }]]);
  });
});
