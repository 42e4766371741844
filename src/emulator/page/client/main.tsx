import { render } from "preact";
import type { ControlView } from "../view.ts";
import { App } from "./app.tsx";
import { followLocation } from "./location.ts";
import { controls } from "./store.ts";
import { follow, keepCurrent, read, worldName } from "./stream.ts";
import "./styles/app.css";

followLocation();
if (worldName !== "") document.title = `${worldName} · ${document.title}`;

const place = document.getElementById("app");
if (place !== null) render(<App />, place);

follow();
keepCurrent();
read<{ readonly controls: readonly ControlView[] }>("/_emulator")
  .then((list) => {
    controls.value = list.controls;
  })
  .catch(() => {});
