import type { KeyValueStore } from "./store.ts";

/**
 * Names the part of a store that belongs to one organization of one service: a hash of the base URL and of the organization's name,
 * or of the secret key without a name.
 */
export type ScopeOf = (store: KeyValueStore) => Promise<string>;

/** The method of a client that names its part of a store. A symbol of the registry: another copy of the package finds it, too. */
export const scopeOf: unique symbol = Symbol.for("pod-partner.scope-of");

/** Makes the function for a client. The hash does not reveal the key, which has at least 12 random characters. */
export function createScopeOf(baseUrl: string, secretKey: string): ScopeOf {
  return async ({ organization }) => {
    const owner = organization === undefined ? `key\n${secretKey}` : `organization\n${organization}`;
    const text = new TextEncoder().encode(`pod-partner store\n${baseUrl}\n${owner}`);
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
    return Array.from(digest.subarray(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
  };
}
