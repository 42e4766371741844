import * as z from "zod/mini";
import type { Policy } from "../../http/endpoint.ts";
import { filledText } from "../../schemas/shape.ts";
import { policies } from "../core/rate-limit.ts";
import { control } from "./control.ts";
import { organizationNamed } from "./find.ts";

/** Controls that use up limits. */
export interface LimitControls {
  /**
   * Draws tokens from a rate-limit bucket, as another client of the organization does. Default: all tokens of the demo organization.
   */
  drain(policy: Policy, options?: { readonly tokens?: number; readonly organization?: string }): void;
}

export const limitControls = {
  drain: control({
    about: "Draws tokens from a rate-limit bucket, as another client of the organization does. Default: all tokens.",
    on: "limit",
    required: ["policy"],
    fields: () => ({
      policy: z.enum(policies),
      tokens: z.optional(z.number().check(z.gte(0))),
      organization: z.optional(filledText()),
    }),
    run: (emulation, { policy, tokens, organization }) =>
      organizationNamed(emulation, organization).rateLimits.drain(policy, tokens),
  }),
};
