import * as z from "zod/mini";
import type { RenderReference } from "../../references/references.ts";
import {
  createRender,
  getRender,
  getRenderMedia,
  getRenderThumbnail,
} from "../../resources/renders/renders.endpoints.ts";
import { getRendertokens } from "../../resources/rendertokens/rendertokens.ts";
import { reference } from "../../schemas/shape.ts";
import { retryAfterHeader } from "../base/messages.ts";
import { found, known, Problem } from "../base/problem.ts";
import { fileResponse, immutable, pendingResponse } from "../http/respond.ts";
import { ifAny, named, only, type Promised, type Route, rawRoute, referenceOnly, route } from "../http/route.ts";
import { type RenderPart, renderFile, renderStatus, toRender } from "../rules/renders.ts";
import type { World } from "../state/world.ts";
import type { StoredRender } from "../work/records.ts";
import { availableComposition } from "./rendering.ts";

const render = () =>
  z.strictObject({ compositionReference: reference("Composition"), imageReference: reference("Image") });

const promisedFile: Promised = (value) => only(named("mimeType", "extension", "size"))(ifAny(value));

const renderOf = (world: World, reference: RenderReference): StoredRender =>
  found(world.renders.get(reference), `Render ${reference}`);

function respondWithFile(world: World, request: Request, reference: RenderReference, part: RenderPart): Response {
  const render = renderOf(world, reference);
  const status = renderStatus(world, render);
  if (status === "pending") return pendingResponse(world.clock.toWire(render.completed - world.now()));
  if (status === "failed") throw new Problem("render_failed", "The render failed, so it has no files");
  return fileResponse(world, request, {
    bytes: renderFile(world, render, part),
    type: "image/png",
    cacheControl: immutable,
    modified: render.completed,
    // 4.6 rule 3.
    promised: ["Cache-Control"],
  });
}

export const renderRoutes: readonly Route[] = [
  route(createRender, {
    models:
      "the same composition and image have one render; each request costs rendertokens; 410 for an archived product, which is assumed",
    options: ["renderDuration", "rendertokenLimit"],
    controls: ["updateProduct"],
    body: render,
    promises: referenceOnly,
    handle: ({ world, body }) => {
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
    },
  }),
  route(getRender, {
    models: "pending renders with Retry-After, completed and failed ones",
    options: ["renderDuration"],
    controls: ["completeRender", "failRender", "clock.advance"],
    promises: only({
      ...named("reference", "compositionReference", "imageReference", "status", "created"),
      thumbhash: ifAny,
      media: promisedFile,
      thumbnail: promisedFile,
      completed: ifAny,
    }),
    handle: ({ world, path }) => toRender(world, renderOf(world, path.renderReference)),
    headers: ({ world, path }) => {
      const render = renderOf(world, path.renderReference);
      // A Retry-After is promised of the files only (4.6).
      const { shapes, assumptions } = world.settings;
      if (shapes === "minimal" || !assumptions.renderRetryAfter || renderStatus(world, render) !== "pending") return {};
      return retryAfterHeader(world.clock.toWire(render.completed - world.now()));
    },
  }),
  rawRoute(getRenderMedia, {
    models: "202 with Retry-After, then a PNG of the print image",
    options: ["renderDuration"],
    controls: ["completeRender", "failRender"],
    handle: ({ world, path, request }) => respondWithFile(world, request, path.renderReference, "media"),
  }),
  rawRoute(getRenderThumbnail, {
    models: "202 with Retry-After, then a small PNG",
    options: ["renderDuration"],
    controls: ["completeRender", "failRender"],
    handle: ({ world, path, request }) => respondWithFile(world, request, path.renderReference, "thumbnail"),
  }),
];

export const rendertokenRoutes: readonly Route[] = [
  route(getRendertokens, {
    models: "the tokens of the week, until Monday 00:00 Europe/Amsterdam",
    options: ["rendertokenLimit"],
    controls: ["clock.advance"],
    promises: only(named("used", "limit", "remaining", "resets")),
    handle: ({ world }) => world.rendertokens.state(),
  }),
];
