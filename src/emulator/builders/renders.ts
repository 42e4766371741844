import type { RenderInput } from "../../resources/renders/renders.schema.ts";
import { withOverrides } from "../../util/fields.ts";
import { type BuilderEmulator, validImage } from "./orders.ts";

/**
 * Makes a valid render request: a slim case in the studio, for one rendertoken. The image exists in the emulator.
 *
 * @param overrides Fields that replace those of the valid request.
 * @example
 * const { reference } = await partner.renders.create(validRender(emulator));
 */
export const validRender = (emulator: BuilderEmulator, overrides: Partial<RenderInput> = {}): RenderInput =>
  withOverrides(
    {
      compositionReference: emulator.demo.compositions.studio,
      imageReference: overrides.imageReference ?? validImage(emulator),
    },
    overrides,
  );
