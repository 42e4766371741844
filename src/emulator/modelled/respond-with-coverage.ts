import { controlRoot, uncachedJson } from "../core/control-plane.ts";
import { allRoutes } from "../routes/table.ts";
import { endpointCoverage, everyEndpoint } from "./endpoints.ts";
import { gaps } from "./gaps.ts";
import type { Switches } from "./switches.ts";

/** What changes a behaviour, with both lists. */
const complete = ({ options = [], controls = [] }: Switches) => ({ options, controls });

/** What the emulator models of each endpoint, what it assumes where the specification shows nothing, and what changes each. */
const coverage = () => ({
  everyEndpoint: { models: everyEndpoint.models, switch: complete(everyEndpoint) },
  endpoints: allRoutes().map(({ endpoint: { call, method, path } }) => {
    const { models = "", ...switches } = endpointCoverage[call] ?? {};
    return { call, method, path, models, switch: complete(switches) };
  }),
  notShown: gaps.map(({ section, notShown, emulator, ...switches }) => ({
    section,
    notShown,
    emulator,
    switch: complete(switches),
  })),
});

/** Responds to a GET of `/_emulator/coverage`. Returns undefined for another path. */
export const respondWithCoverage = ({ pathname }: URL): Response | undefined =>
  pathname === `${controlRoot}/coverage` ? uncachedJson(coverage()) : undefined;
