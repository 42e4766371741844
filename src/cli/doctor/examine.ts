import { checkClock } from "./clock.ts";
import { checkConnection, checkKey } from "./connection.ts";
import { checkEnvironment } from "./environment.ts";
import { type Check, type CheckName, type Finding, skipped } from "./finding.ts";
import { probe } from "./probe.ts";
import { checkRateLimits } from "./rate-limits.ts";
import { checkPermissions, type Reads, readAll } from "./reads.ts";
import { checkRendertokens } from "./rendertokens.ts";
import { checkBaseUrl, checkKeyForm, type Sdk, type Settings } from "./settings.ts";
import { checkStores } from "./stores.ts";

const needs = (what: string): Finding => skipped(`Not checked: needs ${what}`);

/** Checks that cannot be run. */
const skipAll = (names: readonly CheckName[], what: string): readonly Check[] =>
  names.map((name) => [name, needs(what)]);

/** The rest of the report when no response of the service came. */
function* withoutResponse(keyForm: Finding | undefined, what: string): Generator<Check> {
  yield ["key", keyForm ?? needs(what)];
  yield* skipAll(["permissions", "environment", "clock", "rateLimits", "stores", "rendertokens"], what);
}

/** Runs all checks, and yields each when it is known. It sends `POST /auth/validate` and GETs. */
export async function* examine(sdk: Sdk, settings: Settings): AsyncGenerator<Check> {
  const address = checkBaseUrl(sdk, settings);
  yield ["baseUrl", address];
  const keyForm = checkKeyForm(sdk, settings);
  if (address.status === "failed") {
    yield ["connection", needs("a valid base URL")];
    yield* withoutResponse(keyForm, "a valid base URL");
    return;
  }
  const url = new URL(String(settings.baseUrl));
  const first = await probe(sdk, settings);
  const connection = checkConnection(sdk, first, url, settings.timeout);
  yield ["connection", connection];
  if (connection.status === "failed") {
    yield* withoutResponse(keyForm, "a connection");
    return;
  }
  const key = keyForm ?? checkKey(sdk, first);
  yield ["key", key];
  const reads = key.status === "ok" ? await readAll(first.partner) : undefined;
  const withReads = (check: (all: Reads) => Finding): Finding =>
    reads === undefined ? needs("a valid key") : check(reads);
  yield ["permissions", withReads((all) => checkPermissions(sdk, all))];
  yield ["environment", withReads((all) => checkEnvironment(all, url))];
  yield ["clock", checkClock(first)];
  yield ["rateLimits", checkRateLimits(first)];
  yield ["stores", withReads(checkStores)];
  yield ["rendertokens", withReads((all) => checkRendertokens(all, Date.now()))];
}
