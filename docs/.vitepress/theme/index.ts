import "@shikijs/vitepress-twoslash/style.css";
import TwoslashFloatingVue from "@shikijs/vitepress-twoslash/client";
import type { Theme } from "vitepress";
import DefaultTheme from "vitepress/theme";
import { Diagram } from "./diagram.ts";
import "./style.css";

const theme: Theme = {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component("Diagram", Diagram);
    app.use(TwoslashFloatingVue);
  },
};

export default theme;
