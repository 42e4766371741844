import { duration, type Finding, failed, ok, skipped, warning } from "./finding.ts";
import type { Probe } from "./probe.ts";

/** A difference that makes claim windows, resets and dates in Retry-After wrong, in milliseconds. */
const wrong = 60_000;
const notable = 5_000;

/** Compares the service's `Date` header with this machine's clock. */
export function checkClock({ response }: Probe): Finding {
  const date = Date.parse(response?.header("date") ?? "");
  if (response === undefined || Number.isNaN(date)) return skipped("Not checked: the response has no date");
  // The header has whole seconds: on average it is half a second behind the service's clock.
  const differenceMs = Math.round(date + 500 - response.at);
  const apart = Math.abs(differenceMs);
  const details = { differenceMs };
  if (apart < notable) return ok("This machine and the service agree", { details });
  const message = `This machine is ${duration(apart)} ${differenceMs > 0 ? "behind" : "ahead of"} the service.`;
  const action =
    "Synchronise this machine's clock (NTP): deadlines of claims and token resets depend on it. An emulator can have a clock of its own.";
  return apart < wrong ? warning(message, { action, details }) : failed(message, { action, details });
}
