import { Button } from "./button.tsx";
import { copy } from "./copy.ts";

interface Props {
  readonly title: string;
  readonly hint: string;
  /** A line to paste into a terminal. */
  readonly line?: string;
}

/** What a list shows while it has nothing: what to do next. */
export function Empty({ title, hint, line }: Props) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      <p>{hint}</p>
      {line === undefined ? null : (
        <div class="snippet">
          <code>{line}</code>
          <Button label="Copy the line" onPress={() => copy(line, "the line")}>
            Copy
          </Button>
        </div>
      )}
    </div>
  );
}
