import type { StoredRender } from "../../records/records.ts";
import { statusOf } from "../../rules/renders.ts";
import type { World } from "../../state/world.ts";
import { newest } from "./newest.ts";
import { renderPath } from "./paths.ts";
import type { Listed, RenderView } from "./view.ts";

const view =
  (world: World) =>
  (render: StoredRender): RenderView => {
    const status = statusOf(world, render);
    const composition = world.compositions.get(render.compositionReference);
    return {
      reference: render.reference,
      status,
      created: render.created,
      finished: render.completed,
      product: composition?.product.name ?? "",
      scene: composition?.scene.name ?? "",
      tokenCost: composition?.tokenCost ?? 0,
      picture: status === "completed" ? renderPath(render.reference) : null,
    };
  };

export const rendersView = (world: World): Listed<RenderView> => newest([...world.renders.values()], view(world));
