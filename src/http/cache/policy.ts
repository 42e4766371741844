import CachePolicy from "http-cache-semantics";
import { nameByHash } from "../../util/digest.ts";
import { attempt } from "../../util/foreign.ts";
import type { HeaderFields } from "../../util/response-head.ts";

/** Headers by their names in lower case. */
export type Fields = Readonly<Record<string, string>>;

/** The headers of a request, as a policy compares them. */
export interface Asked {
  readonly headers: Fields;
}

/** The response headers that are kept with a file. Others can be secret, or are about one response only. */
const kept = [
  "cache-control",
  "expires",
  "pragma",
  "date",
  "age",
  "vary",
  "etag",
  "last-modified",
  "content-type",
  "content-disposition",
  "content-language",
];

/** The request headers that decide about the cache, or that the SDK itself writes. Any other one can be secret. */
const readable = new Set(["cache-control", "pragma", "accept", "accept-encoding"]);

/** The value of a header as the package compares it: it knows the directives in lower case. */
const comparable = (name: string, value: string): string =>
  name === "cache-control" || name === "pragma" ? value.toLowerCase() : value;

/** Reads a request. `Vary` can name any of its headers, so those that can be secret are replaced by a hash. */
export async function askedBy(headers: Fields): Promise<Asked> {
  const selecting = Object.entries(headers).filter(([name]) => !name.startsWith("if-"));
  const fields = selecting.map(async ([name, value]) => [
    name,
    readable.has(name) ? comparable(name, value) : await nameByHash(`${name}\n${value}`),
  ]);
  return { headers: Object.fromEntries(await Promise.all(fields)) };
}

function keptOf(headers: HeaderFields): Fields {
  const fields = kept.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, comparable(name, value)]];
  });
  return Object.fromEntries(fields);
}

/** The cache belongs to one organization, so it is private; a file without a lifetime is revalidated each time. */
const options = { shared: false, cacheHeuristic: 0 };

/** What RFC 9111 says about one stored response. */
export class FilePolicy {
  readonly #policy: CachePolicy;

  private constructor(policy: CachePolicy) {
    this.#policy = policy;
  }

  /** The policy of a response that has arrived. */
  static of(asked: Asked, headers: HeaderFields, now: () => number): FilePolicy {
    return FilePolicy.#made(asked, keptOf(headers), now);
  }

  /** Reads what {@link FilePolicy.toJSON} has written; undefined if it is something else. */
  static from(value: unknown, now: () => number): FilePolicy | undefined {
    return attempt(() => new FilePolicy(timed(now).fromObject(value as CachePolicy.CachePolicyObject)));
  }

  static #made(asked: Asked, headers: Fields, now: () => number): FilePolicy {
    return new FilePolicy(new (timed(now))(asked, { status: 200, headers }, options));
  }

  toJSON(): object {
    return this.#policy.toObject();
  }

  /** Whether the response may be stored. */
  storable(): boolean {
    return this.#policy.storable() && this.headers().vary !== "*";
  }

  /**
   * Whether the stored response can be used for a request without a further request. It cannot when the clock was set back by
   * more than the lifetime: then its age is not known. A stale file is never used, also when the request allows it (`max-stale`).
   */
  isFresh(asked: Asked): boolean {
    const isKnown = -this.#policy.age() <= this.#policy.maxAge();
    return isKnown && !this.#policy.stale() && this.#policy.satisfiesWithoutRevalidation(asked);
  }

  /**
   * The conditions that ask whether the response is still valid, together with the request's own. Undefined if one request cannot ask
   * for both. None if the response has no validator, or if it belongs to another kind of request (`Vary`).
   */
  conditions(asked: Asked, given: Fields): Fields | undefined {
    const { "if-none-match": tag, "if-modified-since": date } = this.#policy.revalidationHeaders(asked) as Fields;
    const { "if-none-match": tags, "if-modified-since": since } = given;
    if (tags?.trim() === "*") return undefined;
    if (tags !== undefined) return tag === undefined ? undefined : { "if-none-match": `${tags}, ${tag}` };
    if (since !== undefined) return undefined;
    return {
      ...(tag !== undefined && { "if-none-match": tag }),
      ...(date !== undefined && { "if-modified-since": date }),
    };
  }

  /**
   * The policy after a 304 (RFC 9111, 4.3.4); undefined if the 304 is about another version of the file.
   *
   * @param alone Whether the request named no other version: then the 304 needs no validator.
   */
  refreshed(asked: Asked, headers: HeaderFields, alone: boolean, now: () => number): FilePolicy | undefined {
    const fresh = keptOf(headers);
    const { matches } = this.#policy.revalidatedPolicy(asked, { status: 304, headers: fresh });
    const unnamed = alone && !("etag" in fresh || "last-modified" in fresh);
    if (!matches && !unnamed) return undefined;
    const { age: _, ...stored } = this.headers();
    // The body stays the same, and so does its type.
    const { "content-type": __, ...changed } = fresh;
    return FilePolicy.#made(asked, { ...stored, ...changed }, now);
  }

  /** The headers of the response now, with its age, which a clock that was set back would make negative. */
  headers(): Fields {
    const headers = this.#policy.responseHeaders() as Fields;
    return { ...headers, age: `${Math.max(0, Number(headers.age))}` };
  }
}

/** The package reads the machine's time, and the clock of a client can be another one. */
function timed(now: () => number) {
  return class extends CachePolicy {
    now(): number {
      return now();
    }
  };
}
