import type { CallbackOptions } from "../callbacks/options.ts";
import type { OrganizationOptions } from "../catalog/organization-options.ts";
import type { EmulatorOptions } from "../settings/options.ts";

/** An option of the emulator, or one of its parts. */
type OptionName =
  | keyof EmulatorOptions
  | `callbacks.${keyof CallbackOptions}`
  | `seed.${keyof NonNullable<EmulatorOptions["seed"]>}`
  | `organizations.${keyof OrganizationOptions}`;

/** What changes a behaviour of the emulator. */
export interface Switches {
  readonly options?: readonly OptionName[];
  /** The names of controls: `POST /_emulator/<name>`. */
  readonly controls?: readonly string[];
}
