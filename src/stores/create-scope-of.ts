import type { ScopeOf } from "./scope.ts";

/** Makes the function for a client. The hash does not reveal the key, which has at least 12 random characters. */
export function createScopeOf(baseUrl: string, secretKey: string): ScopeOf {
  return async ({ organization }) => {
    const owner = organization === undefined ? `key\n${secretKey}` : `organization\n${organization}`;
    const text = new TextEncoder().encode(`pod-partner store\n${baseUrl}\n${owner}`);
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
    return Array.from(digest.subarray(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
  };
}
