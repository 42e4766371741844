import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { BodyView, MessageView, RequestDetail, RequestSummary } from "../../recorder/request-json.ts";
import { copy } from "./actions.ts";
import { toCurl } from "./curl.ts";
import { aimAt } from "./faults.tsx";
import { count, dayAndTime, size, span } from "./format.ts";
import { isTyping, useShortcut } from "./hooks.ts";
import { closeRequest, openRequest, openTab } from "./location.ts";
import { Ago, Button, Linked, Pill } from "./parts.tsx";
import { rows } from "./request-list.tsx";
import { isOpen, messageOf, phasesOf, reasonOf, sentenceOf, statusText, toneOf } from "./request-outcome.ts";
import { spanOf, unityOf } from "./request-rows.ts";
import { baseUrl, requests } from "./store.ts";
import { read } from "./stream.ts";

/** JSON with indentation; other text as it is. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

function Body({ body }: { readonly body: BodyView | null }) {
  if (body === null) return <p class="no-body">No body</p>;
  if (body.text === null)
    return (
      <p class="no-body">
        {size(body.size)} of {body.type}
      </p>
    );
  return (
    <>
      <pre class="body">
        <Linked text={pretty(body.text)} />
      </pre>
      {body.truncated ? <p class="no-body">The rest of {size(body.size)} was not recorded.</p> : null}
    </>
  );
}

function Message({ title, message }: { readonly title: string; readonly message: MessageView }) {
  return (
    <section class="message">
      <h3>{title}</h3>
      <table class="headers">
        <tbody>
          {Object.entries(message.headers).map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Body body={message.body} />
    </section>
  );
}

/** Reads a request in full, again when its response arrives. */
function useDetail(id: number) {
  const detail = useSignal<RequestDetail>();
  const failure = useSignal<string>();
  const summary = requests.value.find((one) => one.id === id);
  useEffect(() => {
    let current = true;
    read<RequestDetail>(`/_emulator/requests/${id}`).then(
      (value) => {
        if (current) [detail.value, failure.value] = [value, undefined];
      },
      (error: Error) => {
        if (current) [detail.value, failure.value] = [undefined, error.message];
      },
    );
    return () => {
      current = false;
    };
  }, [id, summary]);
  return { detail: detail.value?.id === id ? detail.value : undefined, failure: failure.value };
}

function Facts({ detail }: { readonly detail: RequestDetail }) {
  const reason = reasonOf(detail);
  return (
    <p class="facts">
      <span class={`status ${toneOf(detail)}`}>{statusText(detail)}</span>
      {reason === null ? null : <Pill tone={reason.tone}>{reason.text}</Pill>}
      {detail.duration === null ? null : <b>{span(detail.duration)}</b>}
      <span title={dayAndTime(detail.time)}>{dayAndTime(detail.time)}</span>
      <span class="muted">
        <Ago at={detail.time} />
      </span>
      {Object.entries(detail.tokens ?? {}).map(([policy, left]) => (
        <span key={policy} class={left < 1 ? "failure-text" : "muted"}>
          {policy} {count(left)}
        </span>
      ))}
    </p>
  );
}

const percent = (part: number, whole: number): string => `${whole === 0 ? 0 : (100 * part) / whole}%`;

/** Why it ended so: the error's message, one sentence, and where the time went. */
function Why({ detail }: { readonly detail: RequestDetail }) {
  const message = messageOf(detail);
  const phases = phasesOf(detail);
  const end = detail.duration ?? phases.at(-1)?.to ?? 0;
  return (
    <section class="why" aria-label="Why">
      {message === undefined ? null : (
        <p class="headline">
          <Linked text={message} />
        </p>
      )}
      <p>{sentenceOf(detail)}</p>
      {phases.length === 0 ? null : (
        <ul class="waterfall">
          {phases.map(({ name, from, to, tone }) => (
            <li key={from}>
              <span class="phase-name">{name}</span>
              <span class="phase-track" aria-hidden="true">
                <span class={`phase ${tone}`} style={{ left: percent(from, end), width: percent(to - from, end) }} />
              </span>
              <span class="phase-span">{span(to - from)}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** The requests of the call that a request belongs to, each with its place in the time of the call. */
function Attempts({
  id,
  group,
}: {
  readonly id: number;
  readonly group: readonly [RequestSummary, ...RequestSummary[]];
}) {
  const { start } = group[0];
  const whole = Math.max(1, spanOf(group) ?? 0);
  return (
    <section class="attempts" aria-label="The requests of the call">
      <h3>
        {count(group.length)} {unityOf(group)}
      </h3>
      <ol class="waterfall">
        {group.map((summary) => (
          <li key={summary.id} aria-current={summary.id === id}>
            <button type="button" class="phase-name" onClick={() => openRequest(summary.id, true)}>
              <span class={`status ${toneOf(summary)}`}>{statusText(summary)}</span> {summary.call ?? summary.method}
            </button>
            <span class="phase-track" aria-hidden="true">
              <span
                class={`phase ${toneOf(summary)}`}
                style={{
                  left: percent(summary.start - start, whole),
                  width: `max(3px, ${percent(summary.duration ?? 0, whole)})`,
                }}
              />
            </span>
            <span class="phase-span">+{span(summary.start - start)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Opens the form of the faults with a call. */
function addFault(call: string): void {
  aimAt(call);
  openTab("Faults");
  setTimeout(() => document.getElementById("tab-Faults")?.focus());
}

/** One request in full. Escape closes it and returns to the list. */
export function Details({ id }: { readonly id: number }) {
  const { detail, failure } = useDetail(id);
  const row = rows.value.find((one) => "requests" in one && one.requests.some((summary) => summary.id === id));
  const group = row !== undefined && "requests" in row ? row.requests : undefined;
  const close = () => {
    closeRequest();
    // On a phone the list can take the focus only when the details are gone.
    setTimeout(() => document.querySelector<HTMLElement>(".rows")?.focus());
  };
  useShortcut("Escape", ({ target }) => {
    if (!isTyping(target) && document.querySelector("dialog[open]") === null) close();
  });
  return (
    <section class="details" aria-label="The opened request">
      <header class="details-head">
        <h2>{detail?.call ?? "Request"}</h2>
        <Button
          disabled={detail === undefined}
          onPress={() => detail && copy(toCurl(baseUrl.value, detail), "the request as curl")}
        >
          Copy as curl
        </Button>
        {detail?.call ? <Button onPress={() => addFault(detail.call ?? "")}>Add a fault…</Button> : null}
        <Button kind="quiet" label="Close the request" title="Close (Esc)" onPress={close}>
          ✕
        </Button>
      </header>
      {failure === undefined ? null : <p class="failure">{failure}</p>}
      {detail === undefined ? null : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it.
        <section class="details-body" tabIndex={0} aria-label="Headers and bodies">
          <p class="target">
            <span class="method">{detail.method}</span> <Linked text={detail.path} />
          </p>
          <Facts detail={detail} />
          <Why detail={detail} />
          {group === undefined || group.length === 1 ? null : <Attempts id={id} group={group} />}
          {detail.response === null ? (
            <p class="no-body">{isOpen(detail) ? "The response has not been sent." : "No response was sent."}</p>
          ) : (
            <Message title="Response" message={detail.response} />
          )}
          <Message title="Request" message={detail.request} />
        </section>
      )}
    </section>
  );
}
