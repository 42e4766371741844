import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { FetchLike } from "../../src/http/fetch-transport.ts";
import { secretKey } from "../support/partner.ts";

const message = { message: "The key is valid." };

/** The `cache` option of each request. The service responds unless `refuse` throws. */
function recordingFetch(refuse: (init: RequestInit) => void = () => undefined) {
  const caches: unknown[] = [];
  const fetch: FetchLike = async (_, init = {}) => {
    caches.push(init.cache);
    refuse(init);
    return Response.json(message);
  };
  return { caches, fetch };
}

/** A client that has not yet checked which options the platform supports. */
async function freshPartner(fetch: FetchLike) {
  const { PodPartner } = await import("pod-partner");
  return new PodPartner({ baseUrl: "https://service.test/v2", secretKey, fetch });
}

/** Throws like the `Request` of a Cloudflare Worker with an old compatibility date. */
class OldRequest extends Request {
  constructor(...[input, init]: ConstructorParameters<typeof Request>) {
    if (init?.cache !== undefined) throw new Error("The 'cache' field on 'RequestInitializerDict' is not implemented.");
    super(input, init);
  }
}

/** Throws like Next.js while it builds a page in advance. */
function refuseNoStore({ cache }: RequestInit): void {
  if (cache === "no-store") throw Object.assign(new Error("Dynamic server usage"), { digest: "DYNAMIC_SERVER_USAGE" });
}

describe("a request", () => {
  beforeEach(() => vi.resetModules());
  afterEach(() => vi.unstubAllGlobals());

  it('sets `cache: "no-store"`', async () => {
    const { caches, fetch } = recordingFetch();
    const partner = await freshPartner(fetch);
    await partner.auth.validate();
    await partner.request("GET", "/things");
    expect(caches).toEqual(["no-store", "no-store"]);
  });

  it("leaves `cache` out when the platform does not support it", async () => {
    vi.stubGlobal("Request", OldRequest);
    const { caches, fetch } = recordingFetch();
    await (await freshPartner(fetch)).auth.validate();
    expect(caches).toEqual([undefined]);
  });

  it("is retried without `cache` at once when Next.js refuses it", async () => {
    const { caches, fetch } = recordingFetch(refuseNoStore);
    const partner = await freshPartner(fetch);
    const { timeline } = await partner.auth.validate().withResponse();
    expect(caches).toEqual(["no-store", undefined]);
    expect(timeline.map(({ step }) => step)).toEqual(["attempt"]);
  });

  it("is sent once when another error occurs", async () => {
    const { caches, fetch } = recordingFetch(() => {
      throw new TypeError("fetch failed");
    });
    await expect((await freshPartner(fetch)).auth.validate({ retry: { retries: 0 } })).rejects.toThrow();
    expect(caches).toEqual(["no-store"]);
  });
});
