/**
 * A storage in a file.
 *
 * @module pod-partner/sqlite
 */

import * as z from "zod/mini";
import { checkedConfiguration } from "../schemas/check.ts";
import { type KeyValueStorage, lifetimeOf, organizationName, refuse, reliableClock } from "../storage/contract.ts";
import type { PartnerClock } from "../util/clock.ts";
import { builtIn } from "../util/runtime.ts";
import { SqliteConnection } from "./connection.ts";
import type { SqliteModule } from "./database.ts";
import { StorageFile } from "./file.ts";

export { DamagedStorageError } from "../errors/storage.ts";
export type { KeyValueStorage } from "../storage/contract.ts";

/** Options of {@link sqliteStorage}. */
export interface SqliteStorageOptions {
  /** A name for the organization; see {@link KeyValueStorage.organization}. */
  readonly organization?: string | undefined;
  /** The source of time, for tests. Default: the wall clock of the machine, which all processes share. */
  readonly clock?: PartnerClock | undefined;
}

/** A storage in a file. */
export interface SqliteStorage extends KeyValueStorage {
  /** Closes the file after the earlier operations. Later operations fail. */
  close(): Promise<void>;
}

const sqliteOptions = () => z.strictObject({ organization: organizationName(), clock: reliableClock() });

/** The number of changes between two sweeps. A sweep deletes more values than that, so expired values never pile up. */
const sweepEvery = 32;

/**
 * Remembers in a file. Several processes of one machine can use the file at the same time. It needs no package, only a runtime with
 * `node:sqlite`.
 *
 * A kill loses nothing and leaves no half-written value; a power failure can lose the latest seconds. In a damaged file, operations reject with
 * `DamagedStorageError`, and the file stays unchanged. The SDK creates the file so that only its owner can read it.
 *
 * @param path The path of a file in an existing folder, on a local disk; it is created at the first use. `:memory:` keeps nothing.
 * @throws `ConfigurationError` if the folder does not exist, or if the runtime has no `node:sqlite`: it is in Node since 22.13 and 23.4,
 *   in Deno since 2.2 and in Bun since 1.4.
 * @example
 * const partner = new PodPartner({ baseUrl, secretKey, storage: sqliteStorage("partner.db") });
 */
export function sqliteStorage(path: string, options: SqliteStorageOptions = {}): SqliteStorage {
  const { organization, clock } = checkedConfiguration(sqliteOptions, options, "storage");
  const sqlite = sqliteModule();
  const connection = new SqliteConnection(sqlite, new StorageFile(path), clock);
  let changes = 0;
  return {
    kind: "sqlite",
    organization,
    get: (key) => connection.run((database) => database.get(key)),
    async set(key, value, { ttl, expected } = {}) {
      const lifetime = lifetimeOf(ttl);
      return connection.run((database) => {
        // Before the change: if a lock stops the sweep, both are attempted again.
        if (changes++ % sweepEvery === 0) database.sweep();
        return database.set(key, value, lifetime, expected);
      });
    },
    delete: (key, { expected } = {}) => connection.run((database) => database.delete(key, expected)),
    async *keys(prefix) {
      for (let after: string | undefined; ; ) {
        const page = await connection.run((database) => database.keys(prefix, after));
        yield* page.keys;
        if (page.last) return;
        after = page.keys.at(-1);
      }
    },
    close: () => connection.close(),
  };
}

/** `node:sqlite`. It is not imported, because bundlers and older runtimes do not know it. */
function sqliteModule(): SqliteModule {
  const module = builtIn("node:sqlite");
  if (module !== undefined) return module;
  const { bun, deno, node } = globalThis.process?.versions ?? {};
  const runtime = bun ? `Bun ${bun}` : deno ? `Deno ${deno}` : `Node ${node}`;
  return refuse([], `${runtime} has no \`node:sqlite\`; use Node 22.13, 23.4 or newer, Deno 2.2 or Bun 1.4`);
}
