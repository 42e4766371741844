import type { PartnerClock } from "../../../src/util/clock.ts";
import type { Service } from "./service.ts";

/** Another client, without pacing: it takes a token at once, and then one every `interval` milliseconds up to `until`. */
export function startUnpacedClient(
  clock: PartnerClock,
  service: Service,
  interval: number,
  until = Number.POSITIVE_INFINITY,
): void {
  const take = () => {
    service.drain("default", 1);
    if (clock.now() < until) clock.after(interval, take);
  };
  take();
}
