import type { RenderView } from "../view.ts";
import { act } from "./actions.ts";
import { plural } from "./format.ts";
import { useSteady } from "./hooks.ts";
import { Ago, Button, Card, Empty, Fresh, More, NotHere, Pill, Reference, Thumbnail } from "./parts.tsx";
import { state } from "./store.ts";

const tones = { pending: "busy", completed: "good", failed: "bad" } as const;

function Picture({ render }: { readonly render: RenderView }) {
  if (render.picture === null) return <div class={`placeholder ${render.status}`}>{render.status}</div>;
  const alt = `${render.product} in the scene ${render.scene}`;
  return <Thumbnail small={render.picture} full={`${render.picture}?part=media`} alt={alt} />;
}

/** One render with its picture. A pending render can be completed or failed at once. */
function RenderCard({ render }: { readonly render: RenderView }) {
  const { reference } = render;
  return (
    <Card reference={reference} label={`Render of ${render.product}`} kind="render">
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
    </Card>
  );
}

export function RendersPane() {
  const renders = state.value?.renders;
  const { shown, fresh, show, listProps } = useSteady(renders?.items ?? [], ({ reference }) => reference);
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
      <NotHere known={renders.items.map(({ reference }) => reference)} noun="renders" />
      <div class="steady" {...listProps}>
        <Fresh amount={fresh} noun="render" onShow={show} />
        <ul class="gallery">
          {shown.map((render) => (
            <li key={render.reference}>
              <RenderCard render={render} />
            </li>
          ))}
        </ul>
      </div>
      <More list={renders} noun="renders" />
    </>
  );
}
