import { duration, type Finding, failed, ok, skipped, warning } from "./finding.ts";
import type { Reads } from "./reads.ts";

/** A reset in the time of the service: `Mon 30 Nov 00:00`. */
function inAmsterdam(time: number): string {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: "Europe/Amsterdam",
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
  });
  return `${format.format(time).replaceAll(",", "")} Amsterdam time`;
}

/** Checks how many rendertokens remain this week. */
export function checkRendertokens({ rendertokens }: Reads, now: number): Finding {
  if (rendertokens.status === "rejected") return skipped("Not checked: the rendertokens could not be read");
  const { used, limit, remaining, resets } = rendertokens.value;
  const details = { used, limit, remaining, resets };
  const at = Date.parse(resets);
  const reset = Number.isNaN(at) ? resets : `${inAmsterdam(at)}, in ${duration(Math.max(at - now, 0))}`;
  if (remaining <= 0) {
    return failed(`No rendertokens remain of ${limit.toLocaleString("en")}: the service refuses renders.`, {
      action: `Wait for the reset (${reset}), or ask the operator for a higher limit.`,
      details,
    });
  }
  const message = `${remaining.toLocaleString("en")} of ${limit.toLocaleString("en")} remain; reset ${reset}`;
  return remaining < limit / 10 ? warning(message, { details }) : ok(message, { details });
}
