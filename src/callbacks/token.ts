/** A `+` that is not percent-encoded in the URL, as base64 has it, arrives as a space: both count as the same. */
const digestOf = async (text: string): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text.replaceAll(" ", "+"))));

/**
 * Makes the comparison of a given token with the expected one. It compares hashes of both, byte by byte to the end, so its duration shows
 * neither the content nor the length of the expected token. WebCrypto is on every runtime.
 */
export function createTokenCheck(token: string): (given: string | undefined) => Promise<boolean> {
  let expected: Promise<Uint8Array> | undefined;
  return async (given) => {
    expected ??= digestOf(token);
    const [left, right] = await Promise.all([expected, digestOf(given ?? "")]);
    return left.reduce((difference, byte, at) => difference | (byte ^ (right[at] ?? 0)), 0) === 0;
  };
}
