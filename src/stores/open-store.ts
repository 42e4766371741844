import type { PartnerClock } from "../util/clock.ts";
import { ClientStore, type StoreReports } from "./client-store.ts";
import { createMemory } from "./memory.ts";
import type { ScopeOf } from "./scope.ts";
import { ScopedStore } from "./scoped-store.ts";
import type { KeyValueStore } from "./store.ts";

/** What a client knows of its store. */
export interface StoreSettings {
  /** Undefined: the client remembers in memory, until it ends. */
  readonly store: KeyValueStore | undefined;
  readonly scopeOf: ScopeOf;
  readonly clock: PartnerClock;
  readonly reports: StoreReports;
}

/** Opens the client's part of its store. */
export async function openStore({ store, scopeOf, clock, reports }: StoreSettings): Promise<ClientStore> {
  const opened = store === undefined ? memoryOf(clock) : new ScopedStore(store, await scopeOf(store));
  return new ClientStore(opened, clock, reports);
}

/** The memory of one client, which needs no part of its own. It copies: the cache of files uses the bytes of a piece again. */
function memoryOf(clock: PartnerClock): KeyValueStore {
  const memory = createMemory(clock);
  return { kind: "memory", ...memory, set: (key, value, options) => memory.set(key, new Uint8Array(value), options) };
}
