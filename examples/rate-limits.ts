/** Shows the rate limits: remaining tokens, waiting calls and pauses. The SDK paces the calls by itself. */
import { PodPartner } from "pod-partner";
import { createEmulator } from "pod-partner/testing";

// 20 tokens, 5 a second: small enough to show the pacing.
const emulator = createEmulator({ limits: { default: { quota: 20, window: 4_000 } } });
const pauses: { endpoint: string; reason: string; length: number }[] = [];
const partner = new PodPartner({ ...emulator.clientOptions, hooks: { onPause: (pause) => pauses.push(pause) } });

function gauge(when: string): void {
  const { remaining, quota, window, nextTokenIn, waiting } = partner.rateLimits.policies.default ?? { remaining: 0 };
  console.log(
    `${when}: ${remaining} of ${quota} per ${window} ms, next in ${Math.round(nextTokenIn ?? 0)} ms, ${waiting} wait`,
  );
}

gauge("at first, by the specification");
await partner.auth.validate();
gauge("after one response, by its headers");

// Another client of the organization empties the bucket. The next call gets a 429, waits for `Retry-After`, and succeeds.
emulator.drain("default");
const { timeline } = await partner.auth.validate().withResponse();
console.log(timeline.map(({ step, outcome }) => `${step} ${outcome}`).join(" → "));

// A burst of more calls than the bucket has tokens: all of them succeed, none is refused.
const from = emulator.requests.length;
const burst = Promise.all(Array.from({ length: 12 }, () => partner.auth.validate()));
await partner.auth.validate({ priority: "high" });
gauge("in the burst");
await burst;

const requests = emulator.requests.slice(from);
const refused = requests.filter(({ status }) => status === 429).length;
console.log(`burst: ${requests.length} requests, ${pauses.length > 0 ? "some" : "none"} paused, ${refused} refused`);
