import { builtIn, webCrypto } from "./runtime.ts";

/** The SHA-256 of a text or bytes. Bytes use WebCrypto, which works in another thread. For a text, `node:crypto` is faster if it exists. */
export async function sha256(
  content: string | ArrayBuffer | Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const hash = typeof content === "string" ? builtIn("node:crypto")?.createHash("sha256") : undefined;
  if (hash !== undefined) return new Uint8Array(hash.update(content as string).digest());
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return new Uint8Array(await webCrypto().subtle.digest("SHA-256", bytes));
}

/** Bytes in hexadecimal. */
export const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** A short name for a long or secret text: the first 16 bytes of its SHA-256 in hexadecimal. */
export const nameByHash = async (text: string): Promise<string> => hexOf((await sha256(text)).subarray(0, 16));

const withSortedNames = (_: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value;

/** Writes a value as JSON with the names of each object sorted, so that equal content has equal text. */
export const canonicalJson = (value: unknown): string => JSON.stringify(value, withSortedNames);
