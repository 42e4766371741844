import type { RenderReference } from "../../references/references.ts";
import {
  createRender,
  getRender,
  getRenderMedia,
  getRenderThumbnail,
} from "../../resources/renders/renders.endpoints.ts";
import { getRendertokens } from "../../resources/rendertokens/rendertokens.endpoints.ts";
import { found, known, Problem } from "../base/problem.ts";
import { fileResponse, immutable, pendingResponse } from "../http/respond.ts";
import { type Route, rawRoute, route } from "../http/route.ts";
import { type RenderPart, renderFile, renderStatus, toRender } from "../rules/renders.ts";
import type { World } from "../state/world.ts";
import type { StoredRender } from "../work/records.ts";
import { availableComposition } from "./rendering.ts";

const renderOf = (world: World, reference: RenderReference): StoredRender =>
  found(world.renders.get(reference), `Render ${reference}`);

function respondWithFile(world: World, request: Request, reference: RenderReference, part: RenderPart): Response {
  const render = renderOf(world, reference);
  const status = renderStatus(world, render);
  if (status === "pending") return pendingResponse(world.clock.toWire(render.completed - world.now()));
  if (status === "failed") throw new Problem("render_failed", "The render failed, so it has no files");
  return fileResponse(request, {
    bytes: renderFile(world, render, part),
    type: "image/png",
    cacheControl: immutable,
    modified: render.completed,
  });
}

export const renderRoutes: readonly Route[] = [
  route(createRender, ({ world, body }) => {
    const { compositionReference, imageReference } = body;
    const composition = known(world.compositions.get(compositionReference), `Composition ${compositionReference}`);
    known(world.images.get(imageReference), `Image ${imageReference}`);
    world.rendertokens.spend(availableComposition(composition).tokenCost);

    const reference = world.make.named("Render", `${compositionReference}/${imageReference}`);
    if (world.renders.get(reference) === undefined) {
      const created = world.now();
      const completed = created + world.settings.renderDuration;
      world.renders.add({
        reference,
        compositionReference,
        imageReference,
        created,
        completed,
        failed: false,
      });
      world.agenda.add(completed, { kind: "finishRender", render: reference });
    }
    return { reference };
  }),
  route(getRender, ({ world, path }) => toRender(world, renderOf(world, path.renderReference))),
  rawRoute(getRenderMedia, ({ world, path, request }) =>
    respondWithFile(world, request, path.renderReference, "media"),
  ),
  rawRoute(getRenderThumbnail, ({ world, path, request }) =>
    respondWithFile(world, request, path.renderReference, "thumbnail"),
  ),
];

export const rendertokenRoutes: readonly Route[] = [route(getRendertokens, ({ world }) => world.rendertokens.state())];
