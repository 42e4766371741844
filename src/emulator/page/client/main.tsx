import { render } from "preact";
import type { ControlView } from "../overview/view.ts";
import { read } from "./live/api.ts";
import { keepCurrent } from "./live/due.ts";
import { controls } from "./live/store.ts";
import { follow } from "./live/stream.ts";
import { App } from "./shell/app.tsx";

const place = document.getElementById("app");
if (place !== null) render(<App />, place);

follow();
keepCurrent();
read<{ readonly controls: readonly ControlView[] }>("/_emulator")
  .then((list) => {
    controls.value = list.controls;
  })
  .catch(() => {});
