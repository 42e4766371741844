import type { RenderView } from "../view.ts";
import { act } from "./actions.ts";
import { plural } from "./format.ts";
import { Ago, Button, Empty, More, Pill, Reference } from "./parts.tsx";
import { state } from "./store.ts";
import { inWorld } from "./stream.ts";

const tones = { pending: "busy", completed: "good", failed: "bad" } as const;

function Picture({ render }: { readonly render: RenderView }) {
  if (render.picture === null) return <div class={`placeholder ${render.status}`}>{render.status}</div>;
  return (
    <a class="picture" href={inWorld(`${render.picture}?part=media`)} target="_blank" rel="noreferrer">
      <img src={inWorld(render.picture)} alt={`${render.product} in the scene ${render.scene}`} loading="lazy" />
    </a>
  );
}

/** One render with its picture. A pending render can be completed or failed at once. */
function RenderCard({ render }: { readonly render: RenderView }) {
  const { reference } = render;
  return (
    <article class="card render" aria-label={`Render of ${render.product}`}>
      <Picture render={render} />
      <div class="render-facts">
        <header class="card-head">
          <h3>{render.product}</h3>
          <Pill tone={tones[render.status]}>{render.status}</Pill>
        </header>
        <p class="card-facts">
          <Reference value={reference} />
          <span>{render.scene}</span>
          <span>{plural(render.tokenCost, "token")}</span>
          <Ago at={render.created} />
        </p>
        {render.status === "pending" ? (
          <>
            <p class="muted">
              finishes <Ago at={render.finished} />
            </p>
            <div class="actions">
              <Button
                kind="tonal"
                onPress={() =>
                  act("completeRender", { render: reference }, `Completed the render of ${render.product}`)
                }
              >
                Complete
              </Button>
              <Button
                kind="danger"
                onPress={() => act("failRender", { render: reference }, `The render of ${render.product} failed`)}
              >
                Fail
              </Button>
            </div>
          </>
        ) : null}
      </div>
    </article>
  );
}

export function RendersPane() {
  const renders = state.value?.renders;
  if (renders === undefined) return null;
  if (renders.items.length === 0)
    return (
      <Empty
        title="No renders"
        hint="Upload an image, look a composition up and create a render: partner.renders.create(…). Its picture appears here when it is completed."
      />
    );
  return (
    <>
      <ul class="gallery">
        {renders.items.map((render) => (
          <li key={render.reference}>
            <RenderCard render={render} />
          </li>
        ))}
      </ul>
      <More list={renders} noun="renders" />
    </>
  );
}
