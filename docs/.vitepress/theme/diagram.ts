import source from "@mermaid-js/tiny/dist/mermaid.tiny.js?url";
import { useData } from "vitepress";
import { defineComponent, h, onMounted, ref, useId, watch } from "vue";

interface Mermaid {
  initialize(options: object): void;
  render(id: string, code: string): Promise<{ readonly svg: string }>;
}

declare global {
  var mermaid: Mermaid | undefined;
}

let loading: Promise<Mermaid> | undefined;

/** Loads the library, which is a script and no module, for the first diagram of a visit. */
function load(): Promise<Mermaid> {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = source;
    script.onerror = reject;
    script.onload = () => (globalThis.mermaid === undefined ? reject() : resolve(globalThis.mermaid));
    document.head.append(script);
  });
  return loading;
}

/** A diagram in the colours of the page. Until it is drawn, its source is shown. */
export const Diagram = defineComponent({
  props: { code: { type: String, required: true } },
  setup({ code }) {
    const { isDark } = useData();
    const id = `diagram-${useId()}`;
    const drawn = ref("");
    const draw = async () => {
      const mermaid = await load();
      const style = getComputedStyle(document.documentElement);
      const colour = (name: string) => style.getPropertyValue(`--vp-c-${name}`).trim();
      mermaid.initialize({
        startOnLoad: false,
        flowchart: { rankSpacing: 24 },
        theme: "base",
        fontFamily: style.getPropertyValue("--vp-font-family-base"),
        themeVariables: {
          dropShadow: "none",
          darkMode: isDark.value,
          background: colour("bg"),
          primaryColor: colour("bg-soft"),
          primaryBorderColor: colour("border"),
          primaryTextColor: colour("text-1"),
          lineColor: colour("text-2"),
          textColor: colour("text-1"),
          edgeLabelBackground: colour("bg"),
          noteBkgColor: colour("brand-soft"),
          noteBorderColor: colour("border"),
          noteTextColor: colour("text-1"),
        },
      });
      drawn.value = (await mermaid.render(id, code)).svg;
    };
    onMounted(draw);
    watch(isDark, draw, { flush: "post" });
    return () =>
      drawn.value === ""
        ? h("pre", { class: "diagram" }, code)
        : h("div", { class: "diagram", role: "group", "aria-label": "Diagram", tabindex: 0, innerHTML: drawn.value });
  },
});
