import type { Case, Move } from "./case.ts";

/**
 * Milliseconds that a service may take: `assumptions.processingTime`, or the shortest search after a response that is lost at once, each
 * less a margin.
 */
const allowed = { long: 29_500, short: 3_500 };
const gatewayTimeouts: readonly (number | undefined)[] = [408, 504, 524, 598, 599];

/** Whether the service finishes later than the SDK assumes. */
function finishesTooLate({ carried = 0, head = 0, throws, rejects, returns, status, body }: Move): boolean {
  if (carried === "never") return false;
  // A `fetch` that throws does so at once.
  const slow = throws === undefined && (head === "never" || (head >= 250 && status !== 500 && body === undefined));
  const gateway = [throws, rejects, returns].every((odd) => odd === undefined) && gatewayTimeouts.includes(status);
  return carried > (slow || gateway ? allowed.long : allowed.short);
}

/** Whether two processes place one order at the same time. */
function placesTogether({ calls, together = false }: Case): boolean {
  const names = calls.map(({ operation }) => operation).filter((name) => name.startsWith("orders.ensure"));
  const restarted = names.indexOf("orders.ensure, restarted");
  return restarted >= 0 && (together || names.lastIndexOf("orders.ensure") > restarted);
}

/** Whether a case is beyond a limit that the README states, so that something may be created twice. */
export const mayCreateTwice = (plan: Case): boolean => plan.moves.some(finishesTooLate) || placesTogether(plan);
