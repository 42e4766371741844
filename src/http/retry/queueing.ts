import { tooFarError } from "../pacing/distance.ts";
import type { Permit } from "../pacing/pacer.ts";
import { TokenTooFar } from "../pacing/queue/wait-queue.ts";
import type { Wait } from "../pacing/wait.ts";
import type { CallDetails } from "./call-details.ts";

/** Takes the tokens that a request of the call needs, if they are available now. */
export function takeTokens({ core, endpoint }: CallDetails): Permit | undefined {
  return core.paced ? core.pacer.tryAcquire(endpoint) : core.pacer.takeAnyway(endpoint);
}

/**
 * Waits in the queue for the tokens that a request of the call needs.
 *
 * @param again Whether the call has sent a request before: it then comes before the others of its priority.
 */
export async function queueForTokens(call: CallDetails, again: boolean): Promise<Permit> {
  const { core, endpoint, name, options, retry, scope, recorder } = call;
  checkDistance(call);
  let waitedFor = "default";
  const report = ({ reason, policy, ms }: Wait) => {
    waitedFor = policy;
    core.observe("onPause", { endpoint: name, reason, policy, length: ms });
  };
  const done = recorder.begin("queue");
  try {
    for (;;) {
      try {
        const priority = options.priority ?? "normal";
        return await core.pacer.acquire(endpoint, priority, scope, { again, patience: retry.maxRetryAfter, report });
      } catch (error) {
        if (scope.ended(error) || !(error instanceof TokenTooFar)) throw error;
        checkDistance(call);
      }
    }
  } finally {
    done(waitedFor);
  }
}

/** Throws if the next token of a bucket is further away than the call waits, whichever header reported it. */
function checkDistance({ core, endpoint, name, retry }: CallDetails): void {
  const far = core.pacer.forecast.tooFar(endpoint, retry.maxRetryAfter);
  if (far !== undefined) throw tooFarError(name, far, retry.maxRetryAfter);
}
