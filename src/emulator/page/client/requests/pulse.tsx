import type { RequestSummary } from "../../../recorder/request-json.ts";
import { opened, requests } from "../live/store.ts";
import { plural, span } from "../ui/format.ts";
import { isError, statusText, toneOf } from "./outcome.ts";

/** The number of requests that the chart shows. */
const bars = 120;
const height = 40;

/** The height of a bar: 1 ms is the lowest, 10 s the highest, by the logarithm. */
const heightOf = ({ duration }: RequestSummary): number =>
  duration === null ? height : 4 + (height - 4) * Math.min(1, Math.log10(Math.max(1, duration)) / 4);

/** How the requests ended that did not succeed: `2 × 429 · 1 dropped · 3 faults struck`. */
function describe(latest: readonly RequestSummary[]): string {
  const failed = Map.groupBy(latest.filter(isError), statusText);
  const struck = latest.filter(({ fault }) => fault !== null).length;
  const parts = [
    ...[...failed].map(([status, those]) => `${those.length} × ${status}`),
    ...(struck > 0 ? [`${plural(struck, "fault")} struck`] : []),
  ];
  return parts.length === 0 ? "no errors" : parts.join(" · ");
}

const slowest = (latest: readonly RequestSummary[]): RequestSummary | undefined =>
  latest.reduce<RequestSummary | undefined>(
    (worst, summary) => ((summary.duration ?? 0) > (worst?.duration ?? 0) ? summary : worst),
    undefined,
  );

/** The latest requests as bars, newest at the right: colour is how each ended, height how long it took. */
export function Pulse() {
  const latest = requests.value.slice(0, bars);
  if (latest.length === 0) return null;
  const worst = slowest(latest);
  const tone = (summary: RequestSummary) => (summary.fault === null ? toneOf(summary) : "fault");
  return (
    <section class="pulse" aria-label="The latest requests">
      <p class="pulse-text">
        <b>{latest.length === 1 ? "The first request" : `Last ${latest.length} requests`}</b> {describe(latest)}
        {worst?.duration == null ? null : (
          <>
            {" · slowest "}
            <button type="button" class="link" onClick={() => (opened.value = worst.id)}>
              {worst.call ?? worst.path} {span(worst.duration)}
            </button>
          </>
        )}
      </p>
      <svg viewBox={`0 0 ${bars * 6} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        {latest.map((summary, position) => (
          // biome-ignore lint/a11y/noStaticElementInteractions: a shortcut for the pointer; the list has the same for the keyboard.
          <rect
            key={summary.id}
            class={`bar ${tone(summary)}`}
            x={(bars - 1 - position) * 6}
            y={height - heightOf(summary)}
            width={5}
            height={heightOf(summary)}
            onClick={() => (opened.value = summary.id)}
          >
            <title>{`${summary.call ?? summary.path}: ${statusText(summary)}, ${span(summary.duration ?? 0)}`}</title>
          </rect>
        ))}
      </svg>
    </section>
  );
}
