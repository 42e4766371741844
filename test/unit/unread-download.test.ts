import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { PodPartner, type PodPartnerOptions, type UnreadDownloadEvent } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { rejection } from "../support/exchange.ts";
import { secretKey } from "../support/partner.ts";
import { ref } from "../support/references.ts";

const source = fileURLToPath(new URL("../../src/index.ts", import.meta.url));
const endpoint = "GET /renders/{renderReference}/media";

/** A separate program: it requests a download, does `then`, and reports how many bytes it has read. */
const program = (baseUrl: string, then: string) => `
  import { PodPartner } from ${JSON.stringify(source)};
  const partner = new PodPartner({ baseUrl: ${JSON.stringify(baseUrl)}, secretKey: "${secretKey}", timeout: 60_000, deadline: 60_000 });
  const download = await partner.renders.media("${ref("Render")}");
  ${then}
`;

describe("a process with an open download", () => {
  const size = 20_000_000;
  const bodies: Readonly<Record<string, number>> = { small: 1_000, large: size, incomplete: 1_000 };
  let open: ServerResponse | undefined;
  const server = createServer((request, response) => {
    const [, what = ""] = decodeURIComponent(request.url ?? "").split("/");
    const length = what === "incomplete" ? size : bodies[what];
    response.writeHead(200, { "content-type": "image/png", "content-length": length });
    response.write(Buffer.alloc(bodies[what] ?? 0, 7));
    if (what === "incomplete") open = response;
    else response.end();
  });
  beforeAll(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });

  function run(what: string, then: string) {
    const { port } = server.address() as AddressInfo;
    const code = program(`http://127.0.0.1:${port}/${encodeURIComponent(what)}/v2`, then);
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", code]);
    let output = "";
    child.stdout.on("data", (text) => {
      output += text;
    });
    child.stderr.on("data", (text) => {
      output += text;
    });
    const exit = once(child, "close").then(([code]) => [code, output.trim()]);
    return { child, exit };
  }

  it.each(Object.keys(bodies))("exits while a body that is %s is unread", async (what) => {
    expect(await run(what, "").exit).toEqual([0, ""]);
  });

  it("waits for a body that it reads", async () => {
    const { child, exit } = run(
      "incomplete",
      `const reading = download.bytes();
       console.log("reading");
       console.log((await reading).length);`,
    );
    await once(child.stdout, "data");
    open?.end(Buffer.alloc(size - 1_000, 7));
    expect(await exit).toEqual([0, `reading\n${size}`]);
  });

  it("exits between two chunks", async () => {
    const { exit } = run("large", "await download.stream().getReader().read();");
    expect(await exit).toEqual([0, ""]);
  });
});

describe("an unread download", () => {
  afterEach(() => void vi.restoreAllMocks());

  async function letTimeOut(options: PodPartnerOptions, name = "Render", read = false) {
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
    const reading = read ? rejection(download.bytes()) : undefined;
    await clock.advance(1_000);
    return (await reading) ?? (await rejection(download.bytes()));
  }

  it("is reported to the hook and the logger, with its endpoint, when it is cancelled", async () => {
    const reported: unknown[] = [];
    const onUnreadDownload = (event: UnreadDownloadEvent) => void reported.push(event);
    const warnings = vi.spyOn(process, "emitWarning").mockReturnValue();
    await letTimeOut({ hooks: { onUnreadDownload } });
    await letTimeOut({ logger: { warn: (message, fields) => void reported.push([message, fields]) } }, "Product");
    expect(reported).toEqual([
      { endpoint, error: "RequestTimeoutError" },
      [
        "pod-partner UnreadDownload",
        { endpoint: "GET /products/{productReference}/media/{filename}", error: "DeadlineError" },
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

  it("is not reported when the caller reads it and the timeout ends the read", async () => {
    const reported: unknown[] = [];
    const hooks = { onUnreadDownload: (event: UnreadDownloadEvent) => void reported.push(event) };
    expect(await letTimeOut({ hooks }, "Render", true)).toMatchObject({ name: "RequestTimeoutError" });
    expect(reported).toEqual([]);
  });
});
