import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { secretKey } from "../support/partner.ts";
import { listen } from "../support/raw-server.ts";
import { ref } from "../support/references.ts";
import { transports } from "../support/transports.ts";

/** The built package: a process loads it in a tenth of the time of the sources. */
const built = (path: string) => JSON.stringify(fileURLToPath(new URL(`../../dist/${path}`, import.meta.url)));

const size = 20_000_000;
/** The bytes that the server sends at once: the whole picture, unless it is incomplete. */
const pictures: Readonly<Record<string, number>> = { small: 1_000, large: size, incomplete: 1_000 };

/** A service with a picture of each size, whose path begins with the name of the picture. */
async function serve() {
  const state: { open?: ServerResponse } = {};
  const server = createServer((request, response) => {
    const [, what = ""] = (request.url ?? "").split("/");
    const bytes = pictures[what] ?? 0;
    if (!request.url?.endsWith("/media"))
      return void response.setHeader("content-type", "application/json").end('{"message":"Yes."}');
    response.writeHead(200, { "content-type": "image/png", "content-length": what === "incomplete" ? size : bytes });
    response.write(Buffer.alloc(bytes, 7));
    if (what === "incomplete") state.open = response;
    else response.end();
  });
  return { ...(await listen(server)), state };
}

describe.each(transports)("over $name", ({ name }) => {
  /** Runs a program of its own, which has a client and does `then`. */
  function run(origin: string, what: string, then: string) {
    const code = `
      import { PodPartner } from ${built("index.js")};
      import { nodeTransport } from ${built("node.js")};
      const transport = ${name === "fetch" ? "undefined" : "nodeTransport()"};
      const baseUrl = "${origin}/${what}/v2";
      const partner = new PodPartner({ baseUrl, secretKey: "${secretKey}", transport, timeout: 60_000, deadline: 60_000 });
      const media = () => partner.renders.media("${ref("Render")}");
      ${then}
      const last = performance.now();
      process.on("exit", () => console.log(performance.now() - last < 2_000 ? "at once" : "late"));`;
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", code]);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (text) => {
        output += text;
      });
    }
    return { child, exit: once(child, "close").then(([code]) => [code, output.trim()]) };
  }

  it.each([
    ["a call", "large", "await partner.auth.validate();"],
    [
      "three reads at a time",
      "large",
      "await Promise.all([1, 2, 3].map(() => partner.organization.get().catch(() => undefined)));",
    ],
    ...Object.keys(pictures).map((what) => [`a download that it does not read (${what})`, what, "await media();"]),
    ...["large", "incomplete"].map((what) => [
      `the first chunk of a download (${what})`,
      what,
      "await (await media()).stream().getReader().read();",
    ]),
    [
      "a whole download",
      "large",
      `const { length } = await (await media()).bytes(); if (length !== ${size}) throw new Error("short");`,
    ],
  ])("a process ends at once after %s", async (_, what, then) => {
    await using service = await serve();
    expect(await run(service.origin, what ?? "", then ?? "").exit).toEqual([0, "at once"]);
  });

  it("a process waits for the body of a download that it reads", async () => {
    await using service = await serve();
    const { child, exit } = run(
      service.origin,
      "incomplete",
      `const reading = (await media()).bytes();
       console.log("reading");
       console.log((await reading).length);`,
    );
    await once(child.stdout, "data");
    service.state.open?.end(Buffer.alloc(size - 1_000, 7));
    expect(await exit).toEqual([0, `reading\n${size}\nat once`]);
  });
});
