import { ConfigurationError, type Issue } from "./errors/validation.ts";
import type { Hooks } from "./http/events.ts";
import type { FetchLike } from "./http/fetch-transport.ts";
import { type Level, type Logger, stderrLogger } from "./http/logger.ts";
import type { CeilingLimit } from "./http/pacing/ceiling.ts";
import type { SharedPacing } from "./http/pacing/tokens.ts";
import type { RetryOptions } from "./http/request-options.ts";
import type { ResponseMode } from "./http/response.ts";
import type { WhenLost } from "./http/send.ts";
import type { Transport } from "./http/transport.ts";
import { defaults, defaultsBeside, optionsSchema, unknownClientOption } from "./options.schema.ts";
import { type Assumptions, type MeasuredAssumptions, readAssumptions } from "./schemas/assumptions.ts";
import { check } from "./schemas/check.ts";
import type { KeyValueStorage } from "./storage/contract.ts";
import { type PartnerClock, reliable, systemClock } from "./util/clock.ts";
import { type Overrides, withFields, withOverrides } from "./util/fields.ts";
import { isRecord } from "./util/foreign.ts";
import { inBrowser } from "./util/runtime.ts";

/** The options of a client. `baseUrl` and `secretKey` can be environment variables instead. */
export interface PodPartnerOptions {
  /**
   * The interface root, ending in `/v2`. There is no default: test or production is always an explicit choice.
   * Environment: `POD_PARTNER_BASE_URL`.
   */
  readonly baseUrl?: string | undefined;
  /** The v2 secret key from the dashboard, at least 12 characters. Environment: `POD_PARTNER_SECRET_KEY`. */
  readonly secretKey?: string | undefined;
  /** Milliseconds for one attempt, response body included. Default 30 000. */
  readonly timeout?: number | undefined;
  /** Milliseconds for the call as a whole: queueing, waits, attempts, body. Default: none. */
  readonly deadline?: number | undefined;
  /**
   * How often a failed attempt is retried, and how long the waits are. Missing fields keep their defaults: 7 retries, backoffs of at
   * most 250 ms that double up to 10 000 ms, and a `Retry-After` of at most 120 000 ms. `false` sends one attempt.
   */
  readonly retry?: Overrides<RetryOptions> | false | undefined;
  /**
   * Whether calls wait for the tokens that the service's rate-limit headers report (specification 8), and which other limits they keep.
   * Default true: for this process only, without a ceiling.
   */
  readonly pacing?: boolean | PacingOptions | undefined;
  /**
   * Where the client remembers orders, claims, uploads and renders, so that none is made or paid for twice: `postgresStorage(pool)` of
   * `pod-partner/postgres`, `redisStorage(client)` of `pod-partner/redis`, `sqliteStorage(path)` of `pod-partner/sqlite`, or
   * `memoryStorage()`. All processes that place the same orders must share it. Default: a `memoryStorage()` of this client.
   */
  readonly storage?: KeyValueStorage | undefined;
  /**
   * What happens to orders, claims and the renders of a batch while the `storage` cannot be reached: `hold` waits for it, at most until the
   * call's deadline or for 30 s, and then throws a `StorageError`; nothing was sent. `continue` works as without a storage. All other calls
   * continue in any case. Default `hold`.
   */
  readonly storageLost?: WhenLost | undefined;
  /**
   * What happens to a JSON response with a fault that is not essential, such as a product without its name: `report` it to
   * `onInvalidResponse` and return the response as it came, or `throw` an error. Default `report`.
   *
   * An essential fault is always an error: in references, quantities, prices, cursors, strict enums, or the form of the body.
   */
  readonly responses?: ResponseMode | undefined;
  /** The maximum size of a JSON response in bytes. Downloads have no limit. Default 33 554 432 (32 MiB). */
  readonly maxResponseSize?: number | undefined;
  /** A `fetch` to use instead of the platform's, for example for an emulator or a proxy. */
  readonly fetch?: FetchLike | undefined;
  /** What sends the requests, for example `nodeTransport()` of `pod-partner/node`. Not together with `fetch`. Default: ky over `fetch`. */
  readonly transport?: Transport | undefined;
  /**
   * Functions that receive each request, response, retry, pause and invalid response. Default: none.
   *
   * @example
   * const partner = new PodPartner({
   *   baseUrl,
   *   secretKey,
   *   hooks: { onRetry: ({ endpoint, error, delay }) => console.warn(`${endpoint}: ${error}, again in ${delay} ms`) },
   * });
   */
  readonly hooks?: Hooks | undefined;
  /**
   * Receives events as text and fields: `console`, pino, winston, bunyan and others. Default: with the environment variable `POD_PARTNER_LOG`,
   * which is `debug`, `info`, `warn` or `error`, the lines of this level and above are written to stderr; with `POD_PARTNER_LOG_FORMAT=json` as
   * JSON. Otherwise none.
   */
  readonly logger?: Logger | undefined;
  /** The source of time. Default: the system clock. */
  readonly clock?: PartnerClock | undefined;
  /**
   * Replaces what the SDK assumes where the specification does not show it: some assumptions, the content of the file that
   * `npx pod-partner conform` wrote, or its path. Environment: `POD_PARTNER_ASSUMPTIONS`, a path; single assumptions win over that file.
   */
  readonly assumptions?: Overrides<Assumptions> | MeasuredAssumptions | string | undefined;
  /** Allows the client in a browser, where every visitor can read the key (specification 5.6). Default false. */
  readonly dangerouslyAllowBrowser?: boolean | undefined;
}

/**
 * How calls are paced, beyond the service's own limits.
 *
 * @example
 * // Leaves 20 of the organization's 50 requests per second to its other systems.
 * const partner = new PodPartner({ baseUrl, secretKey, pacing: { perSecond: 30, burst: 10 } });
 */
export interface PacingOptions {
  /** Shares the limits among all processes of a fleet: `redisPacing` of `pod-partner/redis`. Default: this process only. */
  readonly shared?: SharedPacing | undefined;
  /**
   * The maximum number of requests per second of this client, or with `shared` of the whole fleet; 0.1 is one request in 10 s.
   * Retries and look-ups count, too. Default: only the service's limits.
   */
  readonly perSecond?: number | undefined;
  /** Requests that may be sent at once. At most this many are sent in any `burst / perSecond` seconds. Default `perSecond`, at least 1. */
  readonly burst?: number | undefined;
}

/** The options of a client, complete and checked. */
export interface ResolvedOptions {
  readonly baseUrl: string;
  readonly secretKey: string;
  readonly timeout: number;
  readonly deadline: number | undefined;
  readonly retry: RetryOptions;
  /** Undefined when calls are not paced. */
  readonly pacing:
    | { readonly shared: SharedPacing | undefined; readonly ceiling: CeilingLimit | undefined }
    | undefined;
  readonly storage: KeyValueStorage | undefined;
  readonly storageLost: WhenLost;
  readonly responses: ResponseMode;
  readonly maxResponseSize: number;
  readonly fetch: FetchLike | undefined;
  readonly transport: Transport | undefined;
  readonly hooks: Hooks | undefined;
  readonly logger: Logger | undefined;
  readonly clock: PartnerClock;
  readonly assumptions: Assumptions;
}

/** The options as their schema gives them. */
interface CheckedClientOptions extends Omit<ResolvedOptions, "clock" | "retry" | "assumptions"> {
  readonly clock?: PartnerClock | undefined;
  readonly retry: Overrides<RetryOptions>;
  readonly assumptions: Overrides<Assumptions>;
  readonly dangerouslyAllowBrowser: boolean;
}

/** The logger that the environment asks for. */
function environmentLogger({ POD_PARTNER_LOG: level = "", POD_PARTNER_LOG_FORMAT: format = "" }): Logger | undefined {
  const issues = [];
  if (!["", "debug", "info", "warn", "error"].includes(level))
    issues.push({ path: ["POD_PARTNER_LOG"], message: "expected debug, info, warn or error" });
  if (!["", "text", "json"].includes(format))
    issues.push({ path: ["POD_PARTNER_LOG_FORMAT"], message: "expected text or json" });
  if (issues.length > 0) throw new ConfigurationError({ issues });
  return level === "" ? undefined : stderrLogger(level as Level, format === "json" ? "json" : "text");
}

/** Completes the options from the environment and the defaults. Throws `ConfigurationError` with all faults. */
export function resolveOptions(options: PodPartnerOptions): ResolvedOptions {
  const environment = globalThis.process?.env ?? {};
  /** The options that come from the environment. A variable without a value counts as not set. */
  const variables = new Map<unknown, string>();
  const read = (option: string, variable: string) => {
    const value = environment[variable] || undefined;
    if (value !== undefined) variables.set(option, variable);
    return value;
  };
  const unreadable: Issue[] = [];
  const assumptionsOf = (option: unknown) => {
    const found = readAssumptions(option);
    if (!("issues" in found)) {
      const { own, file } = found;
      return file !== undefined && isRecord(own) ? { ...file.assumptions, ...own } : own;
    }
    unreadable.push(...found.issues);
    return undefined;
  };
  const given = withFields(options, (fields) =>
    Object.assign(fields, {
      baseUrl: fields.baseUrl ?? read("baseUrl", "POD_PARTNER_BASE_URL"),
      secretKey: fields.secretKey ?? read("secretKey", "POD_PARTNER_SECRET_KEY"),
      assumptions: assumptionsOf(fields.assumptions),
    }),
  );
  const checked = check(optionsSchema(given), given, [], unknownClientOption);
  const all = [...unreadable, ...(checked.ok ? [] : checked.issues)];
  if (!checked.ok || all.length > 0) {
    const issues = all.map((issue) => {
      const variable = variables.get(issue.path[0]);
      return variable === undefined ? issue : { ...issue, path: [variable] };
    });
    throw new ConfigurationError({ issues });
  }
  // What was checked is used, and never read again from the caller's object: a getter may return another value, or throw.
  const resolved = { ...Object(checked.value), ...defaultsBeside(given) } as CheckedClientOptions;
  const { fetch, transport, clock, dangerouslyAllowBrowser } = resolved;
  const logger = resolved.logger ?? environmentLogger(environment);
  if (fetch !== undefined && transport !== undefined) {
    const message = "cannot be used together with `transport`, which replaces `fetch`: pass one of the two";
    throw new ConfigurationError({ issues: [{ path: ["fetch"], message }] });
  }
  if (inBrowser() && !dangerouslyAllowBrowser) {
    const message =
      "in a browser every visitor can read the secret key: call the service from your backend (specification 5.6)";
    throw new ConfigurationError({ issues: [{ path: ["dangerouslyAllowBrowser"], message }] });
  }
  return {
    ...resolved,
    retry: withOverrides(defaults.retry, resolved.retry),
    assumptions: withOverrides(defaults.assumptions, resolved.assumptions),
    logger,
    clock: clock === undefined ? systemClock : reliable(clock),
  };
}
