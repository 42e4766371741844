import type { KeyValueStore } from "./store.ts";

/**
 * Names the part of a store that belongs to one organization of one service: a hash of the base URL and of the organization's name,
 * or of the secret key without a name.
 */
export type ScopeOf = (store: KeyValueStore) => Promise<string>;

/** The method of a client that names its part of a store. A symbol of the registry: another copy of the package finds it, too. */
export const scopeOf: unique symbol = Symbol.for("pod-partner.scope-of");
