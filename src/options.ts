import * as z from "zod";
import { ConfigurationError } from "./errors/validation.ts";
import type { ResponseMode } from "./http/decode.ts";
import type { Hooks, Logger } from "./http/observer.ts";
import type { PacingStore } from "./http/pacing/store.ts";
import type { RetryOptions } from "./http/request-options.ts";
import type { FetchLike } from "./http/transport.ts";
import { type Assumptions, assumptions } from "./resources/orders/orders.endpoints.ts";
import { check } from "./schemas/check.ts";
import { type Clock, systemClock } from "./util/clock.ts";

/** How a client is made. `baseUrl` and `secretKey` may stand in the environment instead. */
export interface PodPartnerOptions {
  /**
   * The interface root, ending in `/v2`. There is no default: test or production is always a choice.
   * Environment: `POD_PARTNER_BASE_URL`.
   */
  readonly baseUrl?: string | undefined;
  /** The v2 secret key from the dashboard. Environment: `POD_PARTNER_SECRET_KEY`. */
  readonly secretKey?: string | undefined;
  /** Milliseconds for one attempt, its body included. Default 30 000. */
  readonly timeout?: number | undefined;
  /** Milliseconds for one call in all: queueing, waits, attempts, body. Default: none. */
  readonly deadline?: number | undefined;
  readonly retry?: Partial<RetryOptions> | undefined;
  /**
   * Whether calls wait for the tokens that the service's rate-limit headers tell of; with a `store` of `pod-partner/redis` all
   * processes of a fleet share them. Default true.
   */
  readonly pacing?: boolean | { readonly store: PacingStore } | undefined;
  /** What happens to a JSON answer that breaks its schema: an error, or it is returned as it came and reported. Default `throw`. */
  readonly responses?: ResponseMode | undefined;
  /** Bytes that a JSON answer may have at most. Downloads have no bound. Default 33 554 432 (32 MiB). */
  readonly maxResponseSize?: number | undefined;
  /** A `fetch` to use instead of the platform's: an emulator's, a proxy's, a test's. */
  readonly fetch?: FetchLike | undefined;
  readonly hooks?: Hooks | undefined;
  /** Receives what the hooks receive, as text and fields; `console` fits. */
  readonly logger?: Logger | undefined;
  /** The source of time. Default: the machine's. */
  readonly clock?: Clock | undefined;
  /** Names that the specification does not show, where the service uses others than the SDK assumes. */
  readonly assumptions?: Partial<Assumptions> | undefined;
  /** Allows a browser, in which anybody can read the key. Default false: never use a key in client-side code (specification 5.6). */
  readonly dangerouslyAllowBrowser?: boolean | undefined;
}

/** The options of a client, complete and checked. */
export interface ResolvedOptions {
  readonly baseUrl: string;
  readonly secretKey: string;
  readonly timeout: number;
  readonly deadline: number | undefined;
  readonly retry: RetryOptions;
  readonly pacing: boolean | { readonly store: PacingStore };
  readonly responses: ResponseMode;
  readonly maxResponseSize: number;
  readonly fetch: FetchLike | undefined;
  readonly hooks: Hooks;
  readonly logger: Logger | undefined;
  readonly clock: Clock;
  readonly assumptions: Assumptions;
}

const ms = z.number().positive();

const baseUrl = z
  .string({ error: "is required: give it, or set POD_PARTNER_BASE_URL" })
  .refine(URL.canParse, { error: "expected a URL", abort: true })
  .refine((text) => /^https?:$/.test(new URL(text).protocol), { error: "expected http or https" })
  .refine((text) => /\/v2\/?$/.test(new URL(text).pathname), { error: "must end in /v2, the major version" })
  .refine((text) => !/[?#]|:\/\/[^/]*@/.test(text), { error: "must have no credentials, query or fragment" })
  .transform((text) => text.replace(/\/$/, ""));

const functions = <T>() =>
  z.custom<T>((value) => typeof value === "object" && value !== null, { error: "expected an object" });

const store = z.custom<PacingStore>(
  (value) => typeof value === "object" && value !== null && "join" in value && typeof value.join === "function",
  { error: "expected a store, as `redisPacing` of pod-partner/redis makes it" },
);

const schema = z.strictObject({
  baseUrl,
  secretKey: z
    .string({ error: "is required: give it, or set POD_PARTNER_SECRET_KEY" })
    // The error never shows the key: not even that of a bad one.
    .regex(/^[\x21-\x7e]+$/, { error: "expected the key alone: no spaces, line ends or special characters" }),
  timeout: ms.default(30_000),
  deadline: ms.optional(),
  retry: z
    .strictObject({
      retries: z.int().min(0).default(4),
      minDelay: z.number().min(0).default(250),
      maxDelay: z.number().min(0).default(10_000),
      maxRetryAfter: z.number().min(0).default(120_000),
    })
    .prefault({}),
  pacing: z
    .union([z.boolean(), z.strictObject({ store })], { error: "expected true, false or { store }" })
    .default(true),
  responses: z.enum(["throw", "report"]).default("throw"),
  maxResponseSize: z
    .int()
    .positive()
    .default(32 * 1024 * 1024),
  fetch: z.custom<FetchLike>((value) => typeof value === "function", { error: "expected a function" }).optional(),
  hooks: functions<Hooks>().default({}),
  logger: functions<Logger>().optional(),
  clock: functions<Clock>().default(systemClock),
  assumptions: z
    .strictObject({
      customIdentifierParameter: z.string().min(1).default(assumptions.customIdentifierParameter),
      orderReferenceField: z.string().min(1).default(assumptions.orderReferenceField),
    })
    .prefault({}),
  dangerouslyAllowBrowser: z.boolean().default(false),
});

const inBrowser = () => "window" in globalThis && "document" in globalThis;

/** Completes the options from the environment and the defaults, or tells all that is wrong with them. */
export function resolveOptions(options: PodPartnerOptions): ResolvedOptions {
  const environment = globalThis.process?.env ?? {};
  const given = {
    ...options,
    baseUrl: options.baseUrl ?? environment.POD_PARTNER_BASE_URL,
    secretKey: options.secretKey ?? environment.POD_PARTNER_SECRET_KEY,
  };
  const checked = check(schema, given, []);
  if (!checked.ok) throw new ConfigurationError({ issues: checked.issues });
  if (inBrowser() && options.dangerouslyAllowBrowser !== true) {
    const message = "would let anybody read the secret key: call the service from your backend (specification 5.6)";
    throw new ConfigurationError({ issues: [{ path: ["dangerouslyAllowBrowser"], message }] });
  }
  return checked.value as ResolvedOptions;
}
