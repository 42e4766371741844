import { afterEach, describe, expect, it, vi } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { version } from "../../src/util/runtime.ts";
import { partnerWith, useService } from "../support/partner.ts";

/** The `User-Agent` in the requests of a client. */
async function sentBy(headers?: Readonly<Record<string, string>>): Promise<string | null> {
  let sent: string | null = null;
  const partner = partnerWith({
    dangerouslyAllowBrowser: true,
    fetch: async (_, init) => {
      sent = new Headers(init?.headers).get("user-agent");
      return Response.json({ message: "valid" });
    },
  });
  await partner.auth.validate(headers && { headers });
  return sent;
}

describe("the User-Agent", () => {
  const context = useService();
  afterEach(() => void vi.unstubAllGlobals());

  it("has the version of package.json", () => {
    expect(version).toBe(manifest.version);
  });

  it("reaches the service with the version and the runtime", async () => {
    context.service.respond({ body: { message: "valid" } });
    await context.partner.auth.validate();
    expect(context.service.requests[0]?.headers["user-agent"]).toBe(
      `pod-partner/${manifest.version} node/${process.versions.node}`,
    );
  });

  it("is replaced by a header of the call, whatever the case of its name", async () => {
    context.service.respond({ body: { message: "valid" } });
    await context.partner.auth.validate({ headers: { "User-Agent": "shop/7" } });
    expect(context.service.requests[0]?.headers["user-agent"]).toBe("shop/7");
  });

  it.each([
    ["bun", { bun: "1.3.0", node: "24.3.0" }, "bun/1.3.0"],
    ["deno", { deno: "2.5.0", node: "24.2.0" }, "deno/2.5.0"],
  ])("names %s, which also reports a version of Node", async (_, versions, expected) => {
    vi.stubGlobal("process", { ...process, versions });
    expect(await sentBy()).toBe(`pod-partner/${manifest.version} ${expected}`);
  });

  it("is left out in a browser, which sets its own", async () => {
    vi.stubGlobal("window", {});
    vi.stubGlobal("document", {});
    expect(await sentBy()).toBeNull();
  });

  it("is left out when the runtime is unknown, as in a Web Worker", async () => {
    vi.stubGlobal("process", undefined);
    expect(await sentBy()).toBeNull();
  });
});
