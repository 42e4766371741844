import { nameByHash } from "../util/sha256.ts";
import type { ScopeOf } from "./scope.ts";

/** Makes the function for a client. The hash does not reveal the key, which has at least 12 random characters. */
export function createScopeOf(baseUrl: string, secretKey: string): ScopeOf {
  return async ({ organization }) => {
    const owner = organization === undefined ? `key\n${secretKey}` : `organization\n${organization}`;
    return nameByHash(`pod-partner store\n${baseUrl}\n${owner}`);
  };
}
