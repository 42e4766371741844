import { PodPartner, type PodPartnerOptions } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { UnreadDownloadEvent } from "../../src/http/events.ts";
import { rejection } from "../support/exchange.ts";
import { secretKey } from "../support/partner.ts";
import { ref } from "../support/references.ts";

const endpoint = "GET /renders/{renderReference}/media";

describe("an unread download", () => {
  afterEach(() => void vi.restoreAllMocks());

  async function letTimeOut(options: PodPartnerOptions, name = "Render") {
    const clock = createManualClock();
    const fetch = async () =>
      new Response(new ReadableStream({ pull: () => new Promise(() => undefined) }), {
        headers: { "content-type": "image/png" },
      });
    const partner = new PodPartner({ baseUrl: "https://partner.example/v2", secretKey, clock, fetch, ...options });
    const download =
      name === "Render"
        ? await partner.renders.media(ref("Render"), { timeout: 1_000 })
        : await partner.catalog.products.media(ref("Product"), "x.png", { deadline: 1_000 });
    await clock.advance(1_000);
    await rejection(download.bytes());
  }

  it("is reported to the hook and the logger, with its endpoint, when it is cancelled", async () => {
    const product = "GET /products/{productReference}/media/{filename}";
    const reported: unknown[] = [];
    const onUnreadDownload = (event: UnreadDownloadEvent) => void reported.push(event);
    const warnings = vi.spyOn(process, "emitWarning").mockReturnValue();
    await letTimeOut({ hooks: { onUnreadDownload } });
    await letTimeOut({ logger: { warn: (message, fields) => void reported.push([message, fields]) } }, "Product");
    expect(reported).toEqual([
      { callId: expect.any(String), endpoint, error: "RequestTimeoutError" },
      [
        `pod-partner: ${product} was not read in time and was canceled (DeadlineError)`,
        { callId: expect.any(String), endpoint: product, error: "DeadlineError" },
      ],
    ]);
    expect(warnings).not.toHaveBeenCalled();
  });

  it("is a process warning without hook and logger, once per endpoint", async () => {
    const warnings = vi.spyOn(process, "emitWarning").mockReturnValue();
    for (const name of ["Render", "Render", "Product"]) await letTimeOut({}, name);
    expect(warnings.mock.calls).toEqual([
      [expect.stringContaining(endpoint), { code: "POD_PARTNER_UNREAD_DOWNLOAD" }],
      [expect.stringContaining("GET /products/"), { code: "POD_PARTNER_UNREAD_DOWNLOAD" }],
    ]);
  });
});
