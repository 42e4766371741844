import { describe, expect, it } from "vitest";
import { type BrokenService, startBrokenService } from "./broken-service.ts";
import { createProject, type Engine, isMissing, runtimes } from "./runtimes.ts";

/** The results of a read, of a call that cannot be sent twice, and of an upload from a stream. */
interface Outcome {
  readonly GET: string;
  readonly POST: string;
  readonly upload: string;
}

const neverSent: Outcome = {
  GET: "ConnectionError, never sent",
  POST: "ConnectionError, never sent",
  upload: "ConnectionError, never sent",
};

const sent: Outcome = {
  GET: "ConnectionError, sent",
  POST: "OutcomeUnknownError by ConnectionError, sent",
  upload: "ConnectionError, sent",
};

const redirect: Outcome = { GET: "RedirectError", POST: "RedirectError", upload: "RedirectError" };

const timedOut: Outcome = {
  GET: "RequestTimeoutError",
  POST: "OutcomeUnknownError by RequestTimeoutError",
  upload: "RequestTimeoutError",
};

type Row = Readonly<Record<Engine, Outcome>>;

const everywhere = (outcome: Outcome): Row => ({ node: outcome, bun: outcome, deno: outcome });

/** Bun does not distinguish these from later failures: they count as sent. */
const notKnownToBun: Row = { node: neverSent, bun: sent, deno: neverSent };

/** The request cannot have been sent. */
const before: Readonly<Record<string, Row>> = {
  refused: everywhere(neverSent),
  unresolvable: everywhere(neverSent),
  "self-signed": everywhere(neverSent),
  "TLS to a plain port": notKnownToBun,
  "closed at TLS hello": notKnownToBun,
};

/** The service has received the complete request. */
const after: Readonly<Record<string, Row>> = {
  reset: everywhere(sent),
  closed: everywhere(sent),
  "half-head": everywhere(sent),
  garbage: everywhere(sent),
  "half-body": everywhere(sent),
  "half-chunked": everywhere(sent),
  redirect: everywhere(redirect),
};

/** TLS that breaks when the service has received the request: Node's fetch does not notice it. */
const tls: Readonly<Record<string, Row>> = { "tls-broken": { node: timedOut, bun: sent, deno: sent } };

const pick = (rows: Readonly<Record<string, Row>>, engine: Engine) =>
  Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, row[engine]]));

const counted = (service: BrokenService, names: readonly string[]) =>
  names.map((name) => [name, service.received(name, "GET"), service.received(name, "POST")]);

describe.each(runtimes)("on $name", (runtime) => {
  describe.skipIf(isMissing(runtime))("a connection that breaks", () => {
    it.each([
      { what: "before the request is sent", rows: before, trusts: false, gets: 0, posts: 0 },
      { what: "after the request has arrived", rows: after, trusts: false, gets: 1, posts: 2 },
      { what: "within TLS, after the request has arrived", rows: tls, trusts: true, gets: 1, posts: 2 },
    ])("$what is reported correctly, and nothing is sent twice", async ({ rows, trusts, gets, posts }) => {
      await using project = await createProject();
      await using service = await startBrokenService();
      const names = Object.keys(rows);
      const baseUrls = Object.fromEntries(names.map((name) => [name, service.baseUrls[name]]));
      // Shorter only where nothing else ends the call. Even so, a busy machine opens a connection meanwhile.
      const timeout = rows === tls && runtime.engine === "node" ? 5_000 : 10_000;
      const input = { baseUrls, timeout, secretKey: "test-key-5up3r53cr3t-4d5f6" };
      const outcomes = await project.run(runtime, "faults.mjs", input, trusts);
      expect(outcomes).toEqual(pick(rows, runtime.engine));
      // The upload is a POST, too.
      expect(counted(service, names)).toEqual(names.map((name) => [name, gets, posts]));
    });
  });
});
