import { visible } from "../util/visible.ts";

/** Escapes a foreign text for XML and HTML. XML has no control characters. */
export const escaped = (text: string): string =>
  visible(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

const style = `
  :root {
    color-scheme: light dark;
    --page: light-dark(#f4f5f7, #0d1015); --surface: light-dark(#ffffff, #14181f); --line: light-dark(#e2e5ea, #262d38);
    --text: light-dark(#171b21, #e7eaef); --muted: light-dark(#5a6270, #9aa4b3); --accent: light-dark(#2454c9, #8bb0ff);
    --good: light-dark(#146c3c, #5fd08f); --warn: light-dark(#8a5200, #f0b454); --bad: light-dark(#b3261e, #ff8f86);
    --sunken: light-dark(#f0f1f4, #0f1319);
    --mono: ui-monospace, "SF Mono", "Cascadia Mono", "JetBrains Mono", "DejaVu Sans Mono", monospace;
  }
  * { box-sizing: border-box }
  body { margin: 0; background: var(--page); color: var(--text); font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif }
  main { max-width: 60rem; margin: 0 auto; padding: 2rem 1.25rem 4rem }
  h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .35rem }
  a { color: var(--accent) }
  code { font: 12.5px var(--mono); background: var(--sunken); border-radius: 4px; padding: .05rem .25rem; overflow-wrap: anywhere }
  .facts { color: var(--muted); margin: 0; overflow-wrap: anywhere }
  .facts code { background: none; padding: 0 }
  @media (max-width: 40rem) { main { padding: 1.25rem 1rem 3rem } }`;

/** A report as one HTML page, which needs nothing else. Its colours are those of the emulator's page. */
export const htmlPage = (command: string, title: string, ownStyle: string, body: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>pod-partner ${command}: ${title}</title>
<style>${style}${ownStyle}
</style>
<main>
<h1>${title}</h1>
${body}
</main>
</html>
`;
