import { ApiError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { combinedOrder } from "../support/orders.ts";
import { useService } from "../support/partner.ts";
import { png } from "../support/pictures.ts";
import { transports } from "../support/transports.ts";

describe.each(transports)("a proxy that requires credentials (407), over $name", ({ over }) => {
  const context = useService(over);

  it.each([
    ["a read", () => context.partner.auth.validate()],
    ["a creation", () => context.partner.orders.create(combinedOrder)],
    ["an upload of bytes", () => context.partner.images.upload(png)],
    ["an upload of a blob", () => context.partner.images.upload(new Blob([Uint8Array.from(png)]))],
  ])("causes an ApiError that names the proxy, without a retry, for %s", async (_, call) => {
    context.service.respondAlways({ status: 407, headers: { "proxy-authenticate": "Basic" }, body: "log in" });
    const error = await rejection(call());
    if (!ApiError.isInstance(error)) throw error;
    expect(error.status).toBe(407);
    expect(error.message).toMatch(/returned 407: a proxy .* credentials/);
    expect(context.service.requests).toHaveLength(1);
  });
});
