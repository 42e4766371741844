import { now } from "../live/clock.ts";
import { dayAndTime, relative } from "./format.ts";

/** A point in time, relative to the emulator's clock. The absolute time is its title. */
export function Ago({ at }: { readonly at: number }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={dayAndTime(at)}>
      {relative(at, now.value)}
    </time>
  );
}
