import * as z from "zod/mini";
import type { Policy } from "../../http/endpoint.ts";
import { filledText } from "../../schemas/shape.ts";
import { ControlError } from "../base/control-error.ts";
import { unknownPattern } from "../base/endpoint-names.ts";
import { policies } from "../base/rate-limit.ts";
import { allEndpoints } from "../routes/table.ts";
import { control, organizationNamed } from "./control.ts";

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

/** The fields of a key to change. */
export interface KeyChanges {
  /** The calls that the key may make, such as `orders.get` or `orders.*`; null for all. */
  readonly permissions?: readonly string[] | null;
  /** Whether requests with the key get a 401. */
  readonly revoked?: boolean;
}

/** Controls that change keys. */
export interface KeyControls {
  /**
   * Changes a key, as the partner dashboard does.
   *
   * @throws {@link ControlError} for an unknown key or call.
   *
   * @example
   * emulator.updateKey(emulator.secretKey, { revoked: true });
   */
  updateKey(secretKey: string, changes: KeyChanges): void;
}

export const keyControls = {
  updateKey: control({
    about: "Changes the permissions of a key, or revokes it.",
    on: "key",
    required: ["secretKey"],
    fields: () => ({
      secretKey: filledText(),
      permissions: z.optional(z.nullable(z.array(filledText()) as z.ZodMiniType<readonly string[]>)),
      revoked: z.optional(z.boolean()),
    }),
    run: ({ worlds }, { secretKey, permissions, revoked }) => {
      const keys = worlds.flatMap((world) => [...world.keys.values()]);
      const key = keys.find((candidate) => candidate.secretKey === secretKey);
      if (key === undefined) throw new ControlError("The emulator has no such key");
      const unknown = unknownPattern(permissions ?? [], allEndpoints);
      if (unknown !== undefined) throw new ControlError(`The emulator has no call ${unknown}`);
      if (permissions !== undefined) key.permissions = permissions;
      if (revoked !== undefined) key.revoked = revoked;
    },
  }),
};
