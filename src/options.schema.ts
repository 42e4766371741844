import * as z from "zod/mini";
import { type Hooks, hookNames } from "./http/events.ts";
import type { FetchLike } from "./http/fetch-transport.ts";
import type { Logger } from "./http/logger.ts";
import type { SharedPacing } from "./http/pacing/tokens.ts";
import { type RetryOptions, retryOverrides } from "./http/request-options.ts";
import type { Transport } from "./http/transport.ts";
import { assumptionFields, assumptions } from "./schemas/assumptions.ts";
import { unknownOption } from "./schemas/check.ts";
import { addIssue, baseUrl, clock, type Schema, unquoted } from "./schemas/shape.ts";
import type { KeyValueStorage } from "./storage/contract.ts";
import { isFieldObject, isFunction, isObject, isPlainObject, propertyOf } from "./util/foreign.ts";
import { hasMethods } from "./util/kinds.ts";

const secretKey = () =>
  z.string({ error: "is required: pass it, or set POD_PARTNER_SECRET_KEY" }).check(
    unquoted(),
    // A shorter key can occur in ordinary texts. Redacting it would make them unreadable.
    z.minLength(12, {
      error: "expected at least 12 characters, as a key of the dashboard has",
      abort: true,
    }),
    // The error never shows the key, also when the key is invalid.
    z.regex(/^[\x21-\x7e]+$/, { error: "expected the key alone: no spaces, line ends or special characters" }),
  );

const positive = () => z.number().check(z.positive());

const hooks = () =>
  z
    .custom<Hooks>((value) => isObject(value) && isFieldObject(value), { error: "expected an object", abort: true })
    .check((context) => {
      const { value: given } = context;
      for (const name of hookNames) {
        if (given[name] !== undefined && !isFunction(given[name]))
          addIssue(context, { path: [name], message: "expected a function" });
      }
      // An instance of a class may have other properties.
      const known: readonly string[] = hookNames;
      const names = Object.keys(given).filter((name) => isPlainObject(given) || /^on[A-Z]/.test(name));
      for (const name of names.filter((name) => !known.includes(name)))
        addIssue(context, { path: [name], message: "is an unknown hook" });
    });

const levels = ["debug", "info", "warn", "error"];

/** A logger may lack levels, and an empty one logs nothing. One that has only other names is a mistake. */
const logger = () =>
  z.custom<Logger>(
    (value) => {
      const functions = levels.map((level) => propertyOf(value, level)).filter((one) => one !== undefined);
      const silent = isObject(value) && isFieldObject(value) && Object.keys(value).length === 0;
      return (functions.length > 0 || silent) && functions.every(isFunction);
    },
    { error: `expected an object with functions among ${levels.join(", ")}, such as \`console\`` },
  );

const sharedPacing = () =>
  z.custom<SharedPacing>((value) => hasMethods(value, "join"), {
    error: "expected the result of `redisPacing` of pod-partner/redis",
  });

const storage = () =>
  z.custom<KeyValueStorage>((value) => hasMethods(value, "get", "set", "delete", "keys"), {
    error:
      "expected a storage, such as the result of `memoryStorage`, `sqliteStorage`, `postgresStorage` or `redisStorage`",
  });

const transport = () =>
  z.custom<Transport>((value) => hasMethods(value, "send"), {
    error: "expected a transport, such as the result of `nodeTransport` of pod-partner/node",
  });

const pacingForms = "expected true, false or { shared, perSecond, burst }";
/** The longest window of a ceiling, in seconds: a day. */
const maxWindow = 86_400;

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
      z.refine(({ perSecond = 1, burst = 1 }) => perSecond <= 0 || burst / perSecond <= maxWindow, {
        path: ["perSecond"],
        error: `is too low: \`burst / perSecond\` can be at most ${maxWindow} seconds, a day`,
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

/** The options of a client that has no others. */
export const defaults = {
  timeout: 30_000,
  retry: { retries: 7, baseDelay: 250, maxDelay: 10_000, maxRetryAfter: 120_000 } satisfies RetryOptions,
  pacing: { shared: undefined, ceiling: undefined },
  storageLost: "hold",
  responses: "report",
  maxResponseSize: 32 * 1024 * 1024,
  assumptions,
  dangerouslyAllowBrowser: false,
} as const;

const optional = {
  timeout: positive,
  deadline: positive,
  retry: retryOverrides,
  pacing,
  storage,
  storageLost: () => z.enum(["hold", "continue"]),
  responses: () => z.enum(["throw", "report"]),
  maxResponseSize: () => z.int().check(z.positive()),
  fetch: () => z.custom<FetchLike>(isFunction, { error: "expected a function" }),
  transport,
  hooks,
  logger,
  clock,
  assumptions: () => z.strictObject(assumptionFields()),
  dangerouslyAllowBrowser: () => z.boolean(),
};

/** Whether the caller gives an option. */
const isGiven = (given: unknown, name: string): boolean => propertyOf(given, name) !== undefined;

/** Checks the options of a client. Only the schemas of the options that are given are built: building all takes milliseconds of each new process. */
export const optionsSchema =
  (given: unknown): Schema =>
  () => {
    const absent = z.optional(z.unknown());
    const schemas = Object.entries(optional).map(([name, schema]) => [name, isGiven(given, name) ? schema() : absent]);
    return z.strictObject({ baseUrl: baseUrl(), secretKey: secretKey(), ...Object.fromEntries(schemas) });
  };

/** The defaults of the options that are not given. */
export const defaultsBeside = (given: unknown) =>
  Object.fromEntries(Object.entries(defaults).filter(([name]) => !isGiven(given, name)));

/** What the error about an unknown option of a client says. */
export const unknownClientOption = unknownOption({
  apiKey: "secretKey",
  key: "secretKey",
  token: "secretKey",
  url: "baseUrl",
  endpoint: "baseUrl",
  maxRetries: "retry.retries",
  retries: "retry.retries",
  maxRetryAfter: "retry.maxRetryAfter",
  perSecond: "pacing.perSecond",
  burst: "pacing.burst",
});
