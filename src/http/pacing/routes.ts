import type { Endpoint } from "../endpoint.ts";

/** The number of routes that are remembered; the oldest are removed, because `request` can take any number of paths. */
const memory = 1_000;
/** This many responses in a row without a lower level show that the route draws no token from a policy. */
const proof = 3;

/** What a response reports about one policy, and when its request was sent. */
export interface Sighting {
  readonly remaining: number | undefined;
  /** Milliseconds in which one token refills. */
  readonly interval: number;
  readonly sentAt: number;
  readonly now: number;
}

/** Responses in a row since the level was last lower. */
interface Series {
  readonly remaining: number;
  readonly sentAt: number;
  readonly seenAt: number;
  responses: number;
}

interface Route {
  policies: readonly string[];
  /** Policies that its responses name, and that it does not draw from. */
  readonly ruledOut: Set<string>;
  /** Policies that it certainly draws from: the service refused a request because they were empty. */
  readonly certain: Set<string>;
  readonly series: Map<string, Series>;
}

/**
 * Which policies each route draws from: by its descriptor, and by its responses (specification 8: the assignment may change).
 *
 * A route no longer draws from a policy when a response names other policies instead. An additional policy counts until responses show
 * that the route's requests take none of its tokens: some services name all of their policies in every response.
 */
export class Routes {
  readonly #routes = new Map<string, Route>();

  of(endpoint: Endpoint): readonly string[] {
    return this.#routes.get(endpoint.call)?.policies ?? endpoint.policies;
  }

  /**
   * Learns which policies a response names. Returns those that the route did not draw from before.
   *
   * @param specified Policies that the specification assigns to other routes. Some services name them in every response, which is not enough.
   */
  learn(endpoint: Endpoint, named: readonly string[], specified: ReadonlyMap<string, unknown>): readonly string[] {
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

  /** Records that the service refused a request because a policy was empty. Returns whether the route is new to the policy. */
  addRefusal(endpoint: Endpoint, policy: string): boolean {
    const route = this.#route(endpoint);
    route.certain.add(policy);
    route.ruledOut.delete(policy);
    if (route.policies.includes(policy)) return false;
    route.policies = [...route.policies, policy];
    return true;
  }

  /** Checks whether the route draws from a policy that a response named, and rules the policy out if it does not. */
  verify(endpoint: Endpoint, policy: string, { remaining, interval, sentAt, now }: Sighting): void {
    const route = this.#route(endpoint);
    if (remaining === undefined || route.certain.has(policy)) return;
    const series = route.series.get(policy);
    if (series === undefined || remaining < series.remaining) {
      route.series.set(policy, { remaining, sentAt, seenAt: now, responses: 0 });
      return;
    }
    // Of two requests in flight, the one that the service counted first may have its response last.
    if (sentAt < series.seenAt) return;
    series.responses += 1;
    const refilled = (now - series.sentAt) / interval;
    if (series.responses < proof + 2 * refilled || route.policies.length === 1) return;
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
