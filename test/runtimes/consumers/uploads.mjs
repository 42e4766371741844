// Uploads one picture from every kind of source.
import { createReadStream } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { PodPartner } from "pod-partner";

const { baseUrl, secretKey, picture } = JSON.parse(process.env.INPUT);
const partner = new PodPartner({ baseUrl, secretKey, retry: { retries: 0 } });
const bytes = await readFile(picture);
const file = await open(picture);

async function* broken() {
  yield bytes.subarray(0, 70_000);
  throw new RangeError("the disk is gone");
}

const sources = {
  path: picture,
  buffer: bytes,
  bytes: new Uint8Array(bytes),
  blob: new Blob([bytes], { type: "image/png" }),
  file: new File([bytes], "picture.png", { type: "image/png" }),
  "web stream": new Blob([bytes]).stream(),
  "Node stream": createReadStream(picture),
  generator: Readable.from([bytes.subarray(0, 5), bytes.subarray(5)]),
  "file handle": file.readableWebStream(),
  "broken stream": Readable.from(broken()),
};

const results = {};
for (const [name, source] of Object.entries(sources)) {
  results[name] = await partner.images.upload(source).then(
    () => "value",
    (error) => error.name,
  );
}
await file.close();
console.log(JSON.stringify(results));
