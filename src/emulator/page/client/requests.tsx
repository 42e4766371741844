import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { RequestSummary } from "../../recorder/request-json.ts";
import { act } from "./actions.ts";
import { curlOf } from "./curl.ts";
import { count, plural, span } from "./format.ts";
import { useShortcut } from "./hooks.ts";
import { openRequest } from "./location.ts";
import { Button, Empty } from "./parts.tsx";
import { filtered, type Kind, kind, kinds, RequestList, rows, text } from "./request-list.tsx";
import { isError, statusText, toneOf } from "./request-outcome.ts";
import { baseUrl, requests, skipped } from "./store.ts";
import { reloadRequests } from "./stream.ts";

/** The filter of the list. The key `/` moves to it. */
function FilterBar() {
  const input = useRef<HTMLInputElement>(null);
  useShortcut("/", () => input.current?.select());
  const all = requests.value.length;
  const found = filtered.value.length;
  const amount = found === all ? count(all) : `${count(found)} of ${count(all)}`;
  /** What a screen reader says: only after a change of the filter, not with each request. */
  const said = useSignal("");
  const filter = (change: () => void) => {
    change();
    said.value = `${count(filtered.value.length)} of ${count(requests.value.length)} requests`;
  };
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
        onInput={({ currentTarget }) =>
          filter(() => {
            text.value = currentTarget.value;
          })
        }
      />
      <fieldset class="segments">
        <legend class="hidden">Show</legend>
        {kinds.map((name) => (
          <Button
            key={name}
            kind="quiet"
            pressed={kind.value === name}
            onPress={() =>
              filter(() => {
                kind.value = name;
              })
            }
          >
            {name}
          </Button>
        ))}
      </fieldset>
      <span class="found">{amount}</span>
      <span class="hidden" role="status">
        {said.value}
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

/** The heights of the bars, by the logarithm: the quickest of them is the lowest, the slowest the highest. */
function heightsOf(latest: readonly RequestSummary[]): (summary: RequestSummary) => number {
  const durations = latest.flatMap(({ duration }) => (duration === null ? [] : [Math.log(Math.max(0.1, duration))]));
  const least = Math.min(...durations);
  const range = Math.max(Math.max(...durations) - least, 1);
  return ({ duration }) =>
    duration === null ? height : 6 + ((height - 6) * (Math.log(Math.max(0.1, duration)) - least)) / range;
}

const slowest = (latest: readonly RequestSummary[]): RequestSummary | undefined =>
  latest.reduce<RequestSummary | undefined>(
    (worst, summary) => ((summary.duration ?? 0) > (worst?.duration ?? 0) ? summary : worst),
    undefined,
  );

/** A part of the summary that filters the list. */
function FilterLink({
  label,
  words,
  only = "all",
}: {
  readonly label: string;
  readonly words: string;
  readonly only?: Kind;
}) {
  const isOn = text.value === words && kind.value === only;
  return (
    <button
      type="button"
      class="link"
      aria-pressed={isOn}
      onClick={() => {
        text.value = isOn ? "" : words;
        kind.value = isOn ? "all" : only;
      }}
    >
      {label}
    </button>
  );
}

/** The latest requests as bars, newest at the right: colour is how each ended, height how long it took. Its words filter the list. */
function Pulse() {
  const latest = requests.value.slice(0, bars);
  if (latest.length === 0) return null;
  const worst = slowest(latest);
  const heightOf = heightsOf(latest);
  const failed = [...Map.groupBy(latest.filter(isError), statusText)];
  const struck = latest.filter(({ fault }) => fault !== null).length;
  const tone = (summary: RequestSummary) => (summary.fault === null ? toneOf(summary) : "fault");
  return (
    <section class="pulse" aria-label="The latest requests">
      <p class="pulse-text">
        <b>{latest.length === 1 ? "The first request" : `Last ${latest.length} requests`}</b>
        {failed.length + struck === 0 ? <span>no errors</span> : null}
        {failed.map(([status, those]) => (
          <FilterLink key={status} label={`${those.length} × ${status}`} words={status} />
        ))}
        {struck === 0 ? null : <FilterLink label={`${plural(struck, "fault")} struck`} words="" only="faults" />}
        {worst?.duration == null ? null : (
          <span>
            slowest{" "}
            <a href={`#/requests/${worst.id}`}>
              {worst.call ?? worst.path} {span(worst.duration)}
            </a>
          </span>
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
            onClick={() => openRequest(summary.id)}
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
  if (rows.value.length > 0) return <RequestList />;
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
    <div class="requests" tabIndex={-1}>
      <FilterBar />
      <Pulse />
      <Skipped />
      <Content />
    </div>
  );
}
