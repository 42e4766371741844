import type { RenderView } from "../../overview/view.ts";
import { act } from "../live/actions.ts";
import { inWorld } from "../live/path.ts";
import { Ago } from "../ui/ago.tsx";
import { Button } from "../ui/button.tsx";
import { plural } from "../ui/format.ts";
import { Pill } from "../ui/pill.tsx";
import { Reference } from "../ui/reference.tsx";

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
export function RenderCard({ render }: { readonly render: RenderView }) {
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
