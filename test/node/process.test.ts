import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { secretKey } from "../support/partner.ts";
import { ref } from "../support/references.ts";
import { listen } from "./support.ts";

const source = (path: string) => JSON.stringify(fileURLToPath(new URL(`../../src/${path}`, import.meta.url)));

/** A program of its own. At its end it prints how many milliseconds it went on after its last statement. */
const program = (origin: string, then: string) => `
  import { PodPartner } from ${source("index.ts")};
  import { nodeTransport } from ${source("node/index.ts")};
  const partner = new PodPartner({ baseUrl: "${origin}/v2", secretKey: "${secretKey}", transport: nodeTransport() });
  const media = () => partner.renders.media("${ref("Render")}");
  ${then}
  const last = performance.now();
  process.on("exit", () => console.log(performance.now() - last < 2_000 ? "at once" : "late"));
`;

it.each([
  ["a call", "await partner.auth.validate();"],
  [
    "three reads at a time",
    "await Promise.all([1, 2, 3].map(() => partner.organization.get().catch(() => undefined)));",
  ],
  ["a download that it does not read", "await media();"],
  ["the first chunk of a download", "await (await media()).stream().getReader().read();"],
  [
    "a whole download",
    'const { length } = await (await media()).bytes(); if (length !== 8_000_000) throw new Error("short");',
  ],
])("a process ends at once after %s", async (_, then) => {
  const server = createServer((request, response) => {
    const isFile = request.url?.endsWith("/media");
    response.setHeader("content-type", isFile ? "image/png" : "application/json");
    request.resume().on("end", () => response.end(isFile ? Buffer.alloc(8_000_000) : '{"message":"Yes."}'));
  });
  await using service = await listen(server);
  const args = ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", program(service.origin, then)];
  const child = spawn(process.execPath, args);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (text) => {
      output += text;
    });
  }
  expect([await once(child, "close"), output.trim()]).toEqual([[0, null], "at once"]);
});
