import { useRef } from "preact/hooks";
import type { RequestSummary } from "../../recorder/request-json.ts";
import { act } from "./actions.ts";
import { curlOf } from "./curl.ts";
import { count, plural, span } from "./format.ts";
import { useShortcut } from "./hooks.ts";
import { Button, Empty } from "./parts.tsx";
import { filtered, kind, kinds, RequestList, text } from "./request-list.tsx";
import { isError, statusText, toneOf } from "./request-outcome.ts";
import { baseUrl, opened, requests, skipped } from "./store.ts";
import { reloadRequests } from "./stream.ts";

/** The filter of the list. The key `/` moves to it. */
function FilterBar() {
  const input = useRef<HTMLInputElement>(null);
  useShortcut("/", () => input.current?.select());
  const all = requests.value.length;
  const found = filtered.value.length;
  return (
    <div class="filter-bar">
      <input
        ref={input}
        type="search"
        class="filter"
        placeholder="Filter: orders 4xx slow…"
        aria-label="Filter the requests"
        aria-keyshortcuts="/"
        value={text.value}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
      />
      <fieldset class="segments">
        <legend class="hidden">Show</legend>
        {kinds.map((name) => (
          <Button key={name} kind="quiet" pressed={kind.value === name} onPress={() => (kind.value = name)}>
            {name}
          </Button>
        ))}
      </fieldset>
      <span class="found" role="status">
        {found === all ? count(all) : `${count(found)} of ${count(all)}`}
      </span>
      <Button kind="quiet" disabled={all === 0} onPress={() => act("requests.clear", {}, "Cleared the requests")}>
        Clear
      </Button>
    </div>
  );
}

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
function Pulse() {
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

function Skipped() {
  if (skipped.value === 0) return null;
  return (
    <p class="skipped">
      {count(skipped.value)} requests came too fast to be shown live.{" "}
      <Button onPress={reloadRequests}>Read the list again</Button>
    </p>
  );
}

function Content() {
  if (filtered.value.length > 0) return <RequestList />;
  if (requests.value.length > 0) return <Empty title="No request matches" hint="Change the filter, or choose “all”." />;
  return (
    <Empty
      title="Waiting for the first request"
      hint="Point your integration at this base URL, or paste this line into a terminal. The key is in the output of the emulator."
      line={curlOf(`${baseUrl.value}/orders`)}
    />
  );
}

/** The live list of requests. */
export function RequestsPane() {
  return (
    <div class="requests">
      <FilterBar />
      <Pulse />
      <Skipped />
      <Content />
    </div>
  );
}
