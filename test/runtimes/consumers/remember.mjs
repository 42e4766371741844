// Uploads a picture once from each kind of source with each kind of storage, and downloads a large file.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { memoryStorage, PodPartner } from "pod-partner";
import { sqliteStorage } from "pod-partner/sqlite";

const { baseUrl, secretKey, picture, render, target } = JSON.parse(process.env.INPUT);
const hash = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** Whether each source was uploaded. */
async function uploads(storage) {
  const partner = new PodPartner({ baseUrl, secretKey, storage });
  const uploaded = [];
  for (const source of [picture, createReadStream(picture), await readFile(picture)]) {
    uploaded.push((await partner.images.uploadOnce(source)).uploaded);
  }
  return uploaded;
}

/** The hashes of a file that is saved, and of one that is read. */
async function downloads() {
  const partner = new PodPartner({ baseUrl, secretKey });
  await (await partner.renders.media(render)).saveTo(target);
  return [hash(await readFile(target)), hash(await (await partner.renders.media(render)).bytes())];
}

/** The name of the error where a runtime has no SQLite of its own. */
async function inFile() {
  try {
    const storage = sqliteStorage(`${target}.sqlite`, { organization: "shop" });
    return await uploads(storage).finally(() => storage.close());
  } catch (error) {
    return error.name;
  }
}

console.log(
  JSON.stringify({
    none: await uploads(undefined),
    memory: await uploads(memoryStorage()),
    file: await inFile(),
    downloads: await downloads(),
  }),
);
