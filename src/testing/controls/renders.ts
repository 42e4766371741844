import type { RenderReference } from "../../references/references.ts";
import { statusOf } from "../rules/renders.ts";
import type { World } from "../state/world.ts";

/** Controls that finish renders at once instead of after `renderDuration`. */
export interface RenderControls {
  /** Completes a pending render now. */
  completeRender(render: RenderReference): void;
  /** Makes a pending render fail now. */
  failRender(render: RenderReference): void;
}

export function createRenderControls(world: World): RenderControls {
  const finish = (reference: RenderReference, failed: boolean) => {
    const render = world.renders.get(reference);
    if (render === undefined) throw new Error(`The emulator has no render ${reference}`);
    if (statusOf(world, render) !== "pending")
      throw new Error(`Only a pending render can be finished; ${reference} is ${statusOf(world, render)}`);
    render.completed = world.now();
    render.failed = failed;
  };
  return {
    completeRender: (reference) => finish(reference, false),
    failRender: (reference) => finish(reference, true),
  };
}
