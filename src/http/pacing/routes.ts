import { specified } from "./tokens.ts";

/** An endpoint, as pacing sees it. */
export interface Route {
  /** Its name. */
  readonly call: string;
  /** The policies that its requests draw from by the specification. */
  readonly policies: readonly string[];
}

/** The maximum number of routes that are remembered: `request` can take any number of paths. */
const maxRoutes = 1_000;

interface Known {
  policies: readonly string[];
  /** Policies that it certainly draws from: the service refused a request because they were empty. */
  readonly certain: Set<string>;
}

/**
 * Which policies each route draws from: by its descriptor, and by its responses (specification 8: the assignment may change).
 *
 * A route draws from the policies that its latest response names. Some services name all of their policies in every response. Then the name
 * of a policy that the specification assigns to other routes proves nothing, and neither does any other new name beside it: only a refusal
 * for an empty policy does.
 */
export class Routes {
  readonly #routes = new Map<string, Known>();

  of({ call, policies }: Route): readonly string[] {
    return this.#routes.get(call)?.policies ?? policies;
  }

  /** Learns which policies a response names. Returns those that the route did not draw from before. */
  learn(route: Route, named: readonly string[]): readonly string[] {
    const known = this.#known(route);
    const before = known.policies;
    const namesAll = named.some((policy) => specified.has(policy) && !route.policies.includes(policy));
    const drawn = named.filter(
      (policy) => route.policies.includes(policy) || known.certain.has(policy) || !(namesAll || specified.has(policy)),
    );
    if (drawn.length === 0) return [];
    const added = drawn.filter((policy) => !before.includes(policy));
    known.policies = [...before.filter((policy) => drawn.includes(policy)), ...added];
    return added;
  }

  /** Records that the service refused a request because a policy was empty. Returns whether the route is new to the policy. */
  addRefusal(route: Route, policy: string): boolean {
    const known = this.#known(route);
    known.certain.add(policy);
    if (known.policies.includes(policy)) return false;
    known.policies = [...known.policies, policy];
    return true;
  }

  #known({ call, policies }: Route): Known {
    let known = this.#routes.get(call);
    if (known === undefined) {
      known = { policies, certain: new Set() };
      this.#routes.set(call, known);
      const [oldest] = this.#routes.keys();
      if (this.#routes.size > maxRoutes && oldest !== undefined) this.#routes.delete(oldest);
    }
    return known;
  }
}
