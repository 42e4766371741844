import { builtIn, webCrypto } from "./runtime.ts";

/**
 * The SHA-256 of a text or of bytes. WebCrypto, which is on every runtime, works in another thread: that is right for a file, and slow for
 * a text.
 */
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

/** The SHA-256 of a text in hexadecimal, as a short name for a long or secret text: only the first 16 bytes. */
export const nameByHash = async (text: string): Promise<string> => hexOf((await sha256(text)).subarray(0, 16));

const withSortedNames = (_: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value;

/** Writes a value as JSON with the names of each object in one order, so that the same content has the same text. */
export const canonicalJson = (value: unknown): string => JSON.stringify(value, withSortedNames);
