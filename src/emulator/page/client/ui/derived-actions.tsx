import type { ControlView } from "../../overview/view.ts";
import { act } from "../live/actions.ts";
import { controls } from "../live/store.ts";
import { Button } from "./button.tsx";

interface Props {
  /** What the controls act on: `order`. */
  readonly on: string;
  readonly reference: string;
  /** The controls that have a button of their own, or that the state does not allow. */
  readonly except: readonly string[];
}

/** `startProduction` → `start production`. */
const wordsOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** Buttons for the other controls of a record: those that need nothing but its reference. */
export function DerivedActions({ on, reference, except }: Props) {
  const isOffered = (control: ControlView) =>
    control.on === on && control.required.length === 1 && !except.includes(control.name);
  return (
    <>
      {controls.value.filter(isOffered).map(({ name, about, required: [field = ""] }) => (
        <Button key={name} title={about} onPress={() => act(name, { [field]: reference }, `${wordsOf(name)}: done`)}>
          {wordsOf(name)}
        </Button>
      ))}
    </>
  );
}
