import type { FetchLike } from "pod-partner";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { secretKey } from "../support/partner.ts";

const message = { message: "The key is valid." };

/** The `cache` of each request that came; it is answered unless `refuse` throws. */
function recordingFetch(refuse: (init: RequestInit) => void = () => undefined) {
  const caches: unknown[] = [];
  const fetch: FetchLike = async (_, init = {}) => {
    caches.push(init.cache);
    refuse(init);
    return Response.json(message);
  };
  return { caches, fetch };
}

/** A client whose platform has not been asked yet what it knows. */
async function freshPartner(fetch: FetchLike) {
  const { PodPartner } = await import("pod-partner");
  return new PodPartner({ baseUrl: "https://service.test/v2", secretKey, fetch });
}

/** As the `Request` of a Cloudflare worker with an old compatibility date. */
class OldRequest extends Request {
  constructor(...[input, init]: ConstructorParameters<typeof Request>) {
    if (init?.cache !== undefined) throw new Error("The 'cache' field on 'RequestInitializerDict' is not implemented.");
    super(input, init);
  }
}

/** As Next.js refuses it while it builds a page in advance. */
function refuseNoStore({ cache }: RequestInit): void {
  if (cache === "no-store") throw Object.assign(new Error("Dynamic server usage"), { digest: "DYNAMIC_SERVER_USAGE" });
}

describe("a request", () => {
  beforeEach(() => vi.resetModules());
  afterEach(() => vi.unstubAllGlobals());

  it("asks to be sent past every cache", async () => {
    const { caches, fetch } = recordingFetch();
    const partner = await freshPartner(fetch);
    await partner.auth.validate();
    await partner.request("GET", "/things");
    expect(caches).toEqual(["no-store", "no-store"]);
  });

  it("does not ask for it where the platform does not know `cache`", async () => {
    vi.stubGlobal("Request", OldRequest);
    const { caches, fetch } = recordingFetch();
    await (await freshPartner(fetch)).auth.validate();
    expect(caches).toEqual([undefined]);
  });

  it("is sent without that, at once, where Next.js refuses it", async () => {
    const { caches, fetch } = recordingFetch(refuseNoStore);
    const partner = await freshPartner(fetch);
    const { timeline } = await partner.auth.validate().withResponse();
    expect(caches).toEqual(["no-store", undefined]);
    expect(timeline.map(({ step }) => step)).toEqual(["attempt"]);
  });

  it("is sent once where anything else goes wrong", async () => {
    const { caches, fetch } = recordingFetch(() => {
      throw new TypeError("fetch failed");
    });
    await expect((await freshPartner(fetch)).auth.validate({ retry: { retries: 0 } })).rejects.toThrow();
    expect(caches).toEqual(["no-store"]);
  });
});
