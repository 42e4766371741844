import { useRef } from "preact/hooks";
import { Button } from "../ui/button.tsx";
import { useShortcut } from "../ui/shortcut.ts";

const keys = [
  ["/", "filter the requests"],
  ["↑ ↓", "move in the list"],
  ["Enter", "open a request"],
  ["Esc", "close it"],
  ["?", "show this list"],
] as const;

/** The keys of the page, in a dialog. */
export function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  const show = () => dialog.current?.showModal();
  useShortcut("?", show);
  return (
    <>
      <Button kind="quiet" title="Keys (?)" onPress={show}>
        Keys
      </Button>
      <dialog ref={dialog} class="keys" aria-label="Keys">
        <dl>
          {keys.map(([key, effect]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{effect}</dd>
            </div>
          ))}
        </dl>
        <Button onPress={() => dialog.current?.close()}>Close</Button>
      </dialog>
    </>
  );
}
