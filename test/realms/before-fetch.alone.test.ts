import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { sampleImage } from "pod-partner/testing";
import { expect, it } from "vitest";
import { secretKey, useService } from "../support/partner.ts";
import { ref } from "../support/references.ts";

const source = join(import.meta.dirname, "../../src");
const picture = Buffer.from(sampleImage("a picture of streams"));

/** Programs replace `ReadableStream` before Node loads its `fetch`, which keeps the class that it finds then. */
const replacements = {
  "a class of the program": "class extends Native {}",
  // As a polyfill, and without the method of an async iterable.
  "another implementation": `class {
    #stream;
    constructor(...given) { this.#stream = new Native(...given); }
    get locked() { return this.#stream.locked; }
    getReader(...given) { return this.#stream.getReader(...given); }
    cancel(reason) { return this.#stream.cancel(reason); }
    pipeThrough(...given) { return this.#stream.pipeThrough(...given); }
    pipeTo(...given) { return this.#stream.pipeTo(...given); }
    tee() { return this.#stream.tee(); }
  }`,
};

const programOf = (replacement: string, baseUrl: string) => `
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
const Native = ReadableStream;
globalThis.ReadableStream = ${replacement};
const { PodPartner } = await import(${JSON.stringify(join(source, "index.ts"))});
const { nodeTransport } = await import(${JSON.stringify(join(source, "node/index.ts"))});
const picture = Buffer.from(${JSON.stringify(picture.toString("base64"))}, "base64");
const streamOf = (Stream) => new Stream({ start(controller) { controller.enqueue(new Uint8Array(picture)); controller.close(); } });
const found = [];
for (const transport of [{}, { transport: nodeTransport() }]) {
  const partner = new PodPartner({ baseUrl: ${JSON.stringify(baseUrl)}, secretKey: ${JSON.stringify(secretKey)}, retry: { retries: 0 }, ...transport });
  const sources = [picture, new Blob([picture]), streamOf(ReadableStream), streamOf(Native), (async function* () { yield picture; })()];
  for (const source of sources) await partner.images.upload(source, { onProgress: () => undefined });
  const media = await partner.renders.media(${JSON.stringify(ref("Render"))});
  found.push(picture.equals(await media.bytes()));
  const target = tmpdir() + "/streams-" + process.pid + ".png";
  await (await partner.renders.media(${JSON.stringify(ref("Render"))})).saveTo(target);
  found.push(picture.equals(readFileSync(target)));
  rmSync(target);
}
console.log(JSON.stringify(found));
`;

const context = useService();

it.each(Object.entries(replacements))(
  "uploads and downloads work when `ReadableStream` is %s from the start",
  async (_, replacement) => {
    const { service } = context;
    service.respondAlways(({ method }) =>
      method === "GET"
        ? { headers: { "content-type": "image/png" }, body: picture }
        : { body: { image: { reference: ref("Image") } } },
    );
    const program = programOf(replacement, service.baseUrl);
    const { stdout } = await promisify(execFile)(process.execPath, [
      "--no-warnings",
      "--input-type=module",
      "-e",
      program,
    ]);
    expect(JSON.parse(stdout)).toEqual([true, true, true, true]);
    const sent = service.requests.filter(({ method }) => method === "POST");
    expect(sent.map(({ body }) => body.equals(picture))).toEqual(sent.map(() => true));
    expect(sent).toHaveLength(10);
  },
);
