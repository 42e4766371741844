import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { type KeyValueStorage, PodPartner, type PodPartnerOptions } from "pod-partner";
import { secretKey } from "./partner.ts";
import { ref } from "./references.ts";
import type { StubService } from "./stub-service.ts";

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** The response to an upload: identical content has the same reference (specification 2.7). */
export const imageOf = (bytes: Uint8Array) => ({
  body: { image: { reference: `Image_${sha256(bytes).slice(0, 26)}` } },
});

export const someImage = { body: { image: { reference: ref("Image", "1") } } };

/** A client of the stub without retries, with its own options. */
export const partnerOf = (service: StubService, options: PodPartnerOptions = {}): PodPartner =>
  new PodPartner({ baseUrl: service.baseUrl, secretKey, retry: { retries: 0 }, ...options });

/** The temporary files of streams that are being uploaded. */
export const spooledFiles = async (): Promise<readonly string[]> =>
  (await readdir(tmpdir())).filter((name) => /^pod-partner-.*\.upload$/.test(name));

export async function keysOf(storage: KeyValueStorage): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const key of storage.keys("")) keys.push(key);
  return keys;
}

/** A storage that cannot be reached. */
export const lostStorage = (): KeyValueStorage => {
  const lost = () => Promise.reject(new Error("the storage is gone"));
  return { kind: "lost", get: lost, set: lost, delete: lost, keys: async function* () {} };
};
