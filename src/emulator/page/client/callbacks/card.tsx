import type { CallbackView } from "../../overview/view.ts";
import { act } from "../live/actions.ts";
import { Ago } from "../ui/ago.tsx";
import { Button } from "../ui/button.tsx";
import { count, dayAndTime, span, timeOfDay } from "../ui/format.ts";
import { Pill, type Tone } from "../ui/pill.tsx";
import { Reference } from "../ui/reference.tsx";

const tones: Readonly<Record<CallbackView["status"], Tone>> = { waiting: "warn", delivered: "good", stopped: "quiet" };

/** One callback with each try and its response. */
export function CallbackCard({ callback }: { readonly callback: CallbackView }) {
  const { id, order, orderName, url, status, due, tried, tries } = callback;
  return (
    <article class="card" aria-label={`Callback of ${orderName}`}>
      <header class="card-head">
        <h3>{orderName}</h3>
        <Pill tone={tones[status]}>{status}</Pill>
      </header>
      <p class="card-facts">
        <Reference value={order} />
        <span>{tried === 1 ? "1 try" : `${count(tried)} tries`}</span>
        {due === null ? null : (
          <span>
            next try <Ago at={due} />
          </span>
        )}
      </p>
      <p class="target">GET {url}</p>
      <ol class="tries">
        {tries.map((one) => (
          <li key={one.at}>
            <time dateTime={new Date(one.at).toISOString()} title={dayAndTime(one.at)}>
              {timeOfDay(one.at)}
            </time>
            <span class={`status ${one.ok ? "good" : "bad"}`}>{one.outcome}</span>
            <span class="muted">{span(one.duration)}</span>
          </li>
        ))}
      </ol>
      <div class="actions">
        <Button onPress={() => act("callbacks.resend", { id }, "Sent the callback again")}>Send again</Button>
      </div>
    </article>
  );
}
