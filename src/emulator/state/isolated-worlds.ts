import type { EmulatorOptions } from "../settings/options.ts";

/** The isolated worlds of a port as the controls use them. */
export interface IsolatedWorlds {
  readonly names: readonly string[];
  create(options: { readonly name?: string; readonly seed?: NonNullable<EmulatorOptions["seed"]> }): {
    readonly name: string;
    readonly baseUrl: string;
    readonly secretKey: string;
  };
  remove(name: string): void;
}
