import type { RenderReference } from "../../references/references.ts";
import { reference } from "../../schemas/shape.ts";
import { ControlError } from "../base/control-error.ts";
import { renderStatus } from "../rules/renders.ts";
import type { Emulation } from "../state/emulation.ts";
import { control, find } from "./control.ts";

/** Controls that finish renders at once instead of after `renderDuration`. */
export interface RenderControls {
  /** Completes a pending render now. */
  completeRender(render: RenderReference): void;
  /** Makes a pending render fail now. */
  failRender(render: RenderReference): void;
}

function finish(emulation: Emulation, reference: RenderReference, failed: boolean): void {
  const { world, record: render } = find(emulation, "renders", reference);
  if (renderStatus(world, render) !== "pending")
    throw new ControlError(`Only a pending render can be finished; ${reference} is ${renderStatus(world, render)}`);
  render.completed = world.now();
  render.failed = failed;
}

const fields = () => ({ render: reference("Render") });

export const renderControls = {
  completeRender: control({
    about: "Completes a pending render now.",
    on: "render",
    required: ["render"],
    fields,
    run: (emulation, { render }) => finish(emulation, render, false),
  }),
  failRender: control({
    about: "Makes a pending render fail now.",
    on: "render",
    required: ["render"],
    fields,
    run: (emulation, { render }) => finish(emulation, render, true),
  }),
};
