import { render } from "preact";
import type { ControlView } from "../view.ts";
import { App } from "./app.tsx";
import { controls } from "./store.ts";
import { follow, keepCurrent, read } from "./stream.ts";
import "./styles/app.css";

const place = document.getElementById("app");
if (place !== null) render(<App />, place);

follow();
keepCurrent();
read<{ readonly controls: readonly ControlView[] }>("/_emulator")
  .then((list) => {
    controls.value = list.controls;
  })
  .catch(() => {});
