import { dismiss, notice } from "../live/actions.ts";
import { Button } from "../ui/button.tsx";

/** The result of the last button. Screen readers read it, too. */
export function Notice() {
  const current = notice.value;
  return (
    <div class="notice-place" role="status" aria-live="polite">
      {current === undefined ? null : (
        <div class={`notice ${current.bad ? "bad" : ""}`}>
          <span>{current.text}</span>
          <Button kind="quiet" label="Dismiss" onPress={dismiss}>
            ✕
          </Button>
        </div>
      )}
    </div>
  );
}
