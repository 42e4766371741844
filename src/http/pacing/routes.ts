import type { Endpoint } from "../endpoint/endpoint.ts";

/** Paths of `request` may be without number: the routes that were met first are forgotten beyond so many. */
const memory = 1_000;
/** So many answers in a row that show no token of a policy less than before tell that the route draws none from it. */
const proof = 3;

/** What an answer says of one policy, and when its request was made. */
export interface Sighting {
  readonly remaining: number | undefined;
  /** Milliseconds in which one token refills. */
  readonly interval: number;
  readonly sentAt: number;
  readonly now: number;
}

/** Answers that followed one another, since the level was last seen lower. */
interface Series {
  readonly remaining: number;
  readonly sentAt: number;
  readonly seenAt: number;
  answers: number;
}

interface Route {
  policies: readonly string[];
  /** Named in its answers, and yet not drawn from. */
  readonly ruledOut: Set<string>;
  /** Drawn from for sure: a request was refused for want of its tokens. */
  readonly certain: Set<string>;
  readonly series: Map<string, Series>;
}

/**
 * Which policies each route draws from: by its descriptor, and by what its answers show (specification 8: the assignment may change).
 *
 * An answer that names other policies in place of one tells that the route no longer draws from it. One that it names besides counts,
 * until it is seen that the route's own requests take none of its tokens: some services name all of their policies everywhere.
 */
export class Routes {
  readonly #routes = new Map<string, Route>();

  of(endpoint: Endpoint): readonly string[] {
    return this.#routes.get(endpoint.call)?.policies ?? endpoint.policies;
  }

  /**
   * Learns which policies an answer names. Gives those that the route draws from since now.
   *
   * @param specified Policies that are known to be other routes': to be named is not enough for them.
   */
  hear(endpoint: Endpoint, named: readonly string[], specified: ReadonlySet<string>): readonly string[] {
    const route = this.#route(endpoint);
    const before = route.policies;
    const also = named.filter(
      (policy) =>
        endpoint.policies.includes(policy as never) ||
        route.certain.has(policy) ||
        !(specified.has(policy) || route.ruledOut.has(policy)),
    );
    if (also.length === 0) return [];
    route.policies = [
      ...before.filter((policy) => also.includes(policy)),
      ...also.filter((policy) => !before.includes(policy)),
    ];
    return route.policies.filter((policy) => !before.includes(policy));
  }

  /** A request was refused for want of a policy's token. Gives whether that is news. */
  refused(endpoint: Endpoint, policy: string): boolean {
    const route = this.#route(endpoint);
    route.certain.add(policy);
    route.ruledOut.delete(policy);
    if (route.policies.includes(policy)) return false;
    route.policies = [...route.policies, policy];
    return true;
  }

  /** Looks whether a policy that an answer has taught is drawn from at all, and rules it out where it is not. */
  watch(endpoint: Endpoint, policy: string, { remaining, interval, sentAt, now }: Sighting): void {
    const route = this.#route(endpoint);
    if (remaining === undefined || route.certain.has(policy)) return;
    const series = route.series.get(policy);
    if (series === undefined || remaining < series.remaining) {
      route.series.set(policy, { remaining, sentAt, seenAt: now, answers: 0 });
      return;
    }
    // Of two requests that were on their way together, the one that was counted first may be answered last.
    if (sentAt < series.seenAt) return;
    series.answers += 1;
    const refilled = (now - series.sentAt) / interval;
    if (series.answers < proof + 2 * refilled || route.policies.length === 1) return;
    route.ruledOut.add(policy);
    route.series.delete(policy);
    route.policies = route.policies.filter((drawn) => drawn !== policy);
  }

  #route(endpoint: Endpoint): Route {
    let route = this.#routes.get(endpoint.call);
    if (route === undefined) {
      route = { policies: endpoint.policies, ruledOut: new Set(), certain: new Set(), series: new Map() };
      this.#routes.set(endpoint.call, route);
      const [oldest] = this.#routes.keys();
      if (this.#routes.size > memory && oldest !== undefined) this.#routes.delete(oldest);
    }
    return route;
  }
}
