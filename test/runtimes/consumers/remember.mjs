// Uploads a picture once from two sources, and downloads a large file twice with a cache in each kind of storage.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { memoryStorage, PodPartner } from "pod-partner";
import { sqliteStorage } from "pod-partner/sqlite";

const { baseUrl, secretKey, picture, render, target } = JSON.parse(process.env.INPUT);
const hash = (bytes) => createHash("sha256").update(bytes).digest("hex");

const partner = new PodPartner({ baseUrl, secretKey, storage: memoryStorage() });
const uploads = [];
for (const source of [picture, createReadStream(picture), await readFile(picture)]) {
  uploads.push((await partner.images.uploadOnce(source)).uploaded);
}

/** Whether each of two downloads came from the cache, and the hash of its bytes. */
async function twice(storage) {
  const cached = new PodPartner({ baseUrl, secretKey, storage, fileCache: true });
  const first = await cached.renders.media(render);
  await first.saveTo(target);
  const second = await cached.renders.media(render);
  return [first.fromCache, second.fromCache, hash(await readFile(target)), hash(await second.bytes())];
}

/** The name of the error where a runtime has no SQLite of its own. */
async function inFile() {
  try {
    const storage = sqliteStorage(`${target}.sqlite`, { organization: "shop" });
    return await twice(storage).finally(() => storage.close());
  } catch (error) {
    return error.name;
  }
}

console.log(
  JSON.stringify({ uploads, none: await twice(undefined), memory: await twice(memoryStorage()), file: await inFile() }),
);
