import type { Core } from "./http/call.ts";
import type { StorageLostEvent } from "./http/events.ts";
import { fetchTransport } from "./http/fetch-transport.ts";
import { Observer } from "./http/observer.ts";
import { Pacer } from "./http/pacing/pacer.ts";
import { Pulse } from "./http/pulse.ts";
import { createRedact } from "./http/redact.ts";
import { callDefaults, joinedHeaders, type RequestOptions, type RetryOptions } from "./http/request-options.ts";
import { RetryBudget } from "./http/retry-budget.ts";
import type { SharedStorage } from "./http/send.ts";
import { createSender } from "./http/transport.ts";
import { type PodPartnerOptions, resolveOptions } from "./options.ts";
import { type ClaimsMemory, createClaimsMemory } from "./resources/claims/file.ts";
import type { RunningUploads } from "./resources/images/upload-once.ts";
import { createOrdersMemory, type OrdersMemory } from "./resources/orders/place.ts";
import type { Assumptions } from "./schemas/assumptions.ts";
import { checkedConfiguration, unknownOption } from "./schemas/check.ts";
import { type ClientStorage, type OpenStorage, openStorage, type StorageHealth } from "./storage/client-storage.ts";
import type { KeyValueStorage } from "./storage/contract.ts";
import { createScopeOf } from "./storage/scoped-storage.ts";
import { KeyedMutex } from "./util/concurrency.ts";
import { type Overrides, withOverrides } from "./util/fields.ts";

/** What a client consists of. The clients that `withOptions` makes of it have the same parts; only the defaults in `core` differ. */
export interface ClientParts {
  readonly core: Core;
  readonly assumptions: Assumptions;
  readonly openStorage: OpenStorage;
  readonly shared: SharedStorage | undefined;
  readonly storageHealth: () => StorageHealth;
  readonly scopeOf: (storage: KeyValueStorage) => Promise<string>;
  /** What the methods remember in this process. */
  readonly memory: {
    readonly orders: OrdersMemory;
    readonly claims: ClaimsMemory;
    readonly uploads: RunningUploads;
  };
}

/** Makes the parts of a client. Throws `ConfigurationError` if an option is missing, invalid or unknown. */
export function createClientParts(options: PodPartnerOptions): ClientParts {
  const { secretKey, fetch, transport, hooks, logger, pacing, storage, storageLost, assumptions, ...resolved } =
    resolveOptions(options);
  const { baseUrl, clock } = resolved;
  const { processingTime, lookupTime, fields } = assumptions;
  const observer = new Observer(hooks, logger);
  const { shared: fleet, ceiling } = pacing ?? {};
  const redact = createRedact(secretKey);
  let isStorageLost = false;
  const reportsOf = (option: StorageLostEvent["option"]) => ({
    onLost: (reason: string) => {
      if (option === "storage") isStorageLost = true;
      observer.observe("onStorageLost", { option, reason: redact(reason) });
    },
    onBack: () => {
      if (option === "storage") isStorageLost = false;
      observer.observe("onStorageBack", { option });
    },
  });
  const scopeOf = createScopeOf(baseUrl, secretKey);
  // The storage is opened at its first use.
  let opened: Promise<ClientStorage> | undefined;
  const openOnce = () => (opened ??= openStorage({ storage, scopeOf, clock, reports: reportsOf("storage") }));
  const check = async () => ((await (await openOnce()).check()) ? "ready" : "lost");
  const core = {
    ...resolved,
    priority: undefined,
    headers: undefined,
    pacer: new Pacer(clock, {
      open:
        fleet && ((own, wake) => fleet.join({ baseUrl, secretKey, clock, ...reportsOf("pacing.shared"), own, wake })),
      ceiling,
      paced: pacing !== undefined,
      redact,
    }),
    retryBudget: new RetryBudget(clock),
    pulse: new Pulse(clock),
    creations: new KeyedMutex(),
    processingTime,
    lookupTime,
    fields,
    transport: createSender(secretKey, transport ?? fetchTransport(fetch), clock),
    observer,
    redact,
  };
  return {
    core,
    assumptions,
    openStorage: openOnce,
    shared: storage && { open: openOnce, whenLost: storageLost },
    storageHealth: () => {
      // An idle process learns that its storage is back.
      if (isStorageLost) void check();
      return { kind: storage?.kind ?? "none", state: isStorageLost ? "lost" : "ready", check };
    },
    scopeOf,
    memory: {
      orders: createOrdersMemory(clock, processingTime),
      claims: createClaimsMemory(clock),
      uploads: new Map(),
    },
  };
}

/** The options of `withOptions`. */
export interface CallDefaults {
  /** Milliseconds for one attempt, response body included. */
  readonly timeout?: number | undefined;
  /** Milliseconds for a call as a whole: queueing, waits, attempts, body. */
  readonly deadline?: number | undefined;
  /** The order among the calls that wait for a token, also of `ensureMany`, `batch` and `changes`. */
  readonly priority?: RequestOptions["priority"];
  /** Headers to add to each request, joined with those of the client by name. The header of the secret key is refused. */
  readonly headers?: RequestOptions["headers"];
  /** Parts of the client's `retry` to replace; `false` sends one attempt. */
  readonly retry?: Overrides<RetryOptions> | false | undefined;
}

const unknown = unknownOption({ maxRetries: "retry.retries", retries: "retry.retries" });

/** Replaces the defaults of a client's calls. Throws `ConfigurationError` if an option is invalid or unknown. */
export function withDefaults(core: Core, given: CallDefaults): Core {
  const { headers, retry, ...own } = checkedConfiguration(callDefaults, given, undefined, unknown);
  return {
    ...withOverrides(core, own),
    headers: joinedHeaders(core.headers, headers),
    retry: withOverrides(core.retry, retry ?? {}),
  };
}
