import type { LimitView, RendertokensView } from "../view.ts";
import { act } from "./actions.ts";
import { count, few, span } from "./format.ts";
import { Ago, Button } from "./parts.tsx";
import { sinceReading, state } from "./store.ts";

interface GaugeProps {
  readonly name: string;
  readonly remaining: number;
  readonly quota: number;
  readonly note: preact.ComponentChildren;
  readonly onDrain?: () => unknown;
}

const levelOf = (share: number): string => (share <= 0 ? "empty" : share < 0.2 ? "low" : "fine");

function Gauge({ name, remaining, quota, note, onDrain }: GaugeProps) {
  const share = quota === 0 ? 0 : remaining / quota;
  return (
    <section class={`gauge ${levelOf(share)}`} aria-label={name}>
      <div class="gauge-head">
        <h2>{name}</h2>
        <p class="gauge-level">
          <b>{count(remaining)}</b> <span class="muted">of {count(quota)}</span>
        </p>
      </div>
      <meter class="hidden" min={0} max={quota} value={remaining} aria-label={`${name}: tokens left`} />
      <div class="track" aria-hidden="true">
        <div class="level" style={{ width: `${100 * Math.min(1, share)}%` }} />
      </div>
      <div class="gauge-foot">
        <p class="gauge-note">{note}</p>
        {onDrain === undefined ? null : (
          <Button
            kind="quiet"
            label={`Drain ${name}`}
            title="Take all tokens, as another client would"
            onPress={onDrain}
          >
            Drain
          </Button>
        )}
      </div>
    </section>
  );
}

/** Tokens a millisecond, in words. */
const rate = (perMs: number): string =>
  perMs * 1000 >= 1 ? `${few(perMs * 1000)} a second` : `${few(perMs * 60_000)} a minute`;

/** A bucket as it refills now: the emulator's last reading, and the time since then. */
function Bucket({ limit }: { readonly limit: LimitView }) {
  const { policy, quota, window, remaining } = limit;
  const tokens = Math.min(quota, remaining + (sinceReading.value * quota) / window);
  const next = tokens < 1 ? ((1 - tokens) * window) / quota : 0;
  return (
    <Gauge
      name={policy}
      remaining={Math.floor(tokens + 1e-6)}
      quota={quota}
      note={tokens < 1 ? `empty: next token in ${span(next)}` : `refills ${rate(quota / window)}`}
      onDrain={() => act("drain", { policy, organization: state.value?.organization }, `Drained ${policy}`)}
    />
  );
}

function Rendertokens({ tokens }: { readonly tokens: RendertokensView }) {
  return (
    <Gauge
      name="rendertokens"
      remaining={tokens.remaining}
      quota={tokens.limit}
      note={
        <>
          resets <Ago at={Date.parse(tokens.resets)} />
        </>
      }
    />
  );
}

/** What the integration has left: the three buckets and the rendertokens of the week. */
export function Gauges({ inert }: { readonly inert: boolean }) {
  if (state.value === undefined) return null;
  return (
    <div class="gauges" inert={inert}>
      {state.value.limits.map((limit) => (
        <Bucket key={limit.policy} limit={limit} />
      ))}
      <Rendertokens tokens={state.value.rendertokens} />
    </div>
  );
}
