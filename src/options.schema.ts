import * as z from "zod/mini";
import type { FetchLike } from "./http/fetch-transport.ts";
import type { Logger } from "./http/logger.ts";
import { type Hooks, hookNames } from "./http/observer.ts";
import type { SharedPacing } from "./http/pacing/tokens.ts";
import { withoutRetries } from "./http/request-options.ts";
import type { Transport } from "./http/transport.ts";
import { assumptions } from "./schemas/assumptions.ts";
import type { UnknownKey } from "./schemas/check.ts";
import { baseUrl, clock, filledText } from "./schemas/shape.ts";
import type { KeyValueStorage } from "./storage/contract.ts";
import { functionOf, isFunction, isObject, isRecord } from "./util/foreign.ts";

const secretKey = () =>
  z.string({ error: "is required: pass it, or set POD_PARTNER_SECRET_KEY" }).check(
    // A shorter key can occur in ordinary texts. Redacting it would make them unreadable.
    z.minLength(12, {
      error: "expected at least 12 characters, as a key of the dashboard has",
      abort: true,
    }),
    // The error never shows the key, also when the key is invalid.
    z.regex(/^[\x21-\x7e]+$/, { error: "expected the key alone: no spaces, line ends or special characters" }),
  );

const positive = () => z.number().check(z.positive());

/** A duration in milliseconds that may be zero. */
const delay = (otherwise: number) => z._default(z.number().check(z.nonnegative()), otherwise);

const hooks = () =>
  z.custom<Hooks>(isRecord, { error: "expected an object", abort: true }).check(
    z.superRefine((given, context) => {
      for (const name of hookNames) {
        if (given[name] !== undefined && !isFunction(given[name]))
          context.addIssue({ code: "custom", path: [name], message: "expected a function" });
      }
      // An instance of a class may have other properties.
      const known: readonly string[] = hookNames;
      const names = Object.keys(given).filter((name) => isPlain(given) || /^on[A-Z]/.test(name));
      for (const name of names.filter((name) => !known.includes(name)))
        context.addIssue({ code: "custom", path: [name], message: "is an unknown hook" });
    }),
  );

const isPlain = (value: object): boolean => [Object.prototype, null].includes(Object.getPrototypeOf(value));

const levels = ["debug", "info", "warn", "error"];

/** A logger may lack levels, and an empty one logs nothing. One that has only other names is a mistake. */
const logger = () =>
  z.custom<Logger>(
    (value) => {
      const functions = levels.map((level) => functionOf(value, level)).filter((one) => one !== undefined);
      const silent = isObject(value) && Object.keys(value).length === 0;
      return (functions.length > 0 || silent) && functions.every(isFunction);
    },
    { error: `expected an object with functions among ${levels.join(", ")}, such as \`console\`` },
  );

const sharedPacing = () =>
  z.custom<SharedPacing>((value) => isFunction(functionOf(value, "join")), {
    error: "expected the result of `redisPacing` of pod-partner/redis",
  });

const storage = () =>
  z.custom<KeyValueStorage>(
    (value) => ["get", "set", "delete", "keys"].every((name) => isFunction(functionOf(value, name))),
    {
      error: "expected a storage, such as the result of `memoryStorage`, of `sqliteStorage` or of `redisStorage`",
    },
  );

const fileCache = () =>
  z.pipe(
    z.transform((given) => (given === true ? {} : given === false ? undefined : given)),
    z.optional(
      z.strictObject(
        { maxSize: z.optional(z.int().check(z.positive())) },
        { error: "expected true, false or { maxSize }" },
      ),
    ),
  );

const transport = () =>
  z.custom<Transport>((value) => isFunction(functionOf(value, "send")), {
    error: "expected a transport, such as the result of `nodeTransport` of pod-partner/node",
  });

const pacingForms = "expected true, false or { shared, perSecond, burst }";
/** The longest window of a ceiling, in seconds: a day. */
const longestWindow = 86_400;

const pacingObject = () =>
  z
    .strictObject(
      {
        shared: z.optional(sharedPacing()),
        perSecond: z.optional(positive()),
        burst: z.optional(z.int().check(z.positive())),
      },
      { error: pacingForms },
    )
    .check(
      z.refine(({ perSecond, burst }) => burst === undefined || perSecond !== undefined, {
        path: ["burst"],
        error: "is used only with `perSecond`",
      }),
      z.refine(({ perSecond = 1, burst = 1 }) => perSecond <= 0 || burst / perSecond <= longestWindow, {
        path: ["perSecond"],
        error: `is too low: \`burst / perSecond\` can be at most ${longestWindow} seconds, a day`,
      }),
    );

/** Whether an object has no value: its `shared` is probably missing by mistake. */
const isEmpty = (given: unknown): boolean =>
  isObject(given) && Object.values(given).every((value) => value === undefined);

const pacing = () =>
  z.pipe(
    z.unknown().check(
      z.refine((given) => !isEmpty(given), {
        error: "expected `shared`, `perSecond` or both; `true` paces this process alone",
        abort: true,
      }),
    ),
    z.pipe(
      z.transform((given) => (given === true ? {} : given === false ? undefined : given)),
      z.optional(
        z.pipe(
          pacingObject(),
          z.transform(({ shared, perSecond, burst = Math.max(1, Math.floor(perSecond ?? 1)) }) => ({
            shared,
            ceiling: perSecond === undefined ? undefined : { perSecond, burst },
          })),
        ),
      ),
    ),
  );

/** Checks the options of a client, and completes them with their defaults. */
export const optionsSchema = () =>
  z.strictObject({
    baseUrl: baseUrl(),
    secretKey: secretKey(),
    timeout: z._default(positive(), 30_000),
    deadline: z.optional(positive()),
    retry: z.prefault(
      z.pipe(
        withoutRetries(),
        z.strictObject({
          retries: z._default(z.int().check(z.nonnegative()), 4),
          baseDelay: delay(250),
          maxDelay: delay(10_000),
          maxRetryAfter: delay(120_000),
        }),
      ),
      {},
    ),
    pacing: z.prefault(pacing(), true),
    storage: z.optional(storage()),
    fileCache: z.optional(fileCache()),
    responses: z._default(z.enum(["throw", "report"]), "throw"),
    maxResponseSize: z._default(z.int().check(z.positive()), 32 * 1024 * 1024),
    fetch: z.optional(z.custom<FetchLike>(isFunction, { error: "expected a function" })),
    transport: z.optional(transport()),
    hooks: z.optional(hooks()),
    logger: z.optional(logger()),
    clock: z.optional(clock()),
    assumptions: z.prefault(
      z.strictObject({
        customIdentifierParameter: z._default(filledText(), assumptions.customIdentifierParameter),
        orderReferenceField: z._default(filledText(), assumptions.orderReferenceField),
        processingTime: z._default(positive(), assumptions.processingTime),
      }),
      {},
    ),
    dangerouslyAllowBrowser: z._default(z.boolean(), false),
  });

/** What the error about an unknown option says. */
export const unknownOption: UnknownKey = {
  message: "is an unknown option",
  aliases: new Map([
    ["apiKey", "secretKey"],
    ["key", "secretKey"],
    ["token", "secretKey"],
    ["url", "baseUrl"],
    ["endpoint", "baseUrl"],
    ["maxRetries", "retry.retries"],
    ["retries", "retry.retries"],
    ["maxRetryAfter", "retry.maxRetryAfter"],
    ["perSecond", "pacing.perSecond"],
    ["burst", "pacing.burst"],
  ]),
};
