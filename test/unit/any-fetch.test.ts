import { sampleImage } from "pod-partner/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { FetchLike } from "../../src/http/fetch-transport.ts";
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
