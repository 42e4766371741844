import type { RequestSummary } from "../../../recorder/request-json.ts";
import { span, timeOfDay } from "../ui/format.ts";
import { Pill } from "../ui/pill.tsx";
import { isSlow, reasonOf, statusText, toneOf } from "./outcome.ts";

interface Props {
  readonly summary: RequestSummary;
  readonly position: number;
  readonly total: number;
  readonly active: boolean;
  readonly open: boolean;
  readonly onOpen: (id: number) => void;
}

/** A row of the list: what was called, how it ended, why, and how long it took. */
export function Row({ summary, position, total, active, open, onOpen }: Props) {
  const reason = reasonOf(summary);
  const { id, time, method, path, call, duration } = summary;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the listbox handles the keys of its options.
    <div
      id={`request-${id}`}
      class={`row ${active ? "active" : ""} ${open ? "open" : ""}`}
      role="option"
      tabIndex={-1}
      aria-selected={open}
      aria-posinset={position + 1}
      aria-setsize={total}
      onClick={() => onOpen(id)}
    >
      <time class="row-time" dateTime={new Date(time).toISOString()}>
        {timeOfDay(time)}
      </time>
      <span class={`status ${toneOf(summary)}`}>{statusText(summary)}</span>
      <span class="row-call">{call ?? "no endpoint"}</span>
      <span class="row-target">
        <span class="row-path">
          <span class="method">{method}</span> {path}
        </span>
        {reason === null ? null : <Pill tone={reason.tone}>{reason.text}</Pill>}
      </span>
      <span class={`row-duration ${isSlow(summary) ? "slow" : ""}`}>{duration === null ? "" : span(duration)}</span>
    </div>
  );
}
