import { base } from "../samples.ts";
import { isOwn, type Measurement } from "./measurement.ts";

/** Pixels. */
const width = 880;
const columns = 2;
const gap = 40;
const panelWidth = (width - gap) / columns;
const labelWidth = 204;
const valueWidth = 44;
const scale = panelWidth - labelWidth - valueWidth;
const rowHeight = 21;
const barHeight = 12;
const titleHeight = 44;
const headHeight = 64;

/** The colours in light and in dark mode, with a background of its own: the page around it can have the other mode. */
const style = `
  text { font: 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #59636e }
  .head { font-size: 18px; font-weight: 600; fill: #1f2328 }
  .title { font-size: 14px; font-weight: 600; fill: #1f2328 }
  .own { font-weight: 600; fill: #1f2328 }
  .value { font-variant-numeric: tabular-nums }
  rect { fill: #afb8c1 }
  rect.own { fill: #0969da }
  rect.page { fill: #ffffff; stroke: #d1d9e0 }
  line { stroke: #59636e; stroke-dasharray: 2 3 }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1 }
    .head, .title, .own { fill: #f0f6fc }
    rect { fill: #545d68 }
    rect.own { fill: #4493f8 }
    rect.page { fill: #0d1117; stroke: #3d444d }
    line { stroke: #9198a1 }
  }`;

/** A number with at most one decimal. */
const n = (value: number): string => String(Math.round(value * 10) / 10);

function panel({ title, unit, base: middle, ratios }: Measurement, left: number, top: number): string {
  const rows = [...ratios].sort(([, a], [, b]) => a - b);
  const longest = Math.max(...ratios.values());
  const axis = left + labelWidth;
  const one = axis + scale / longest;
  const bars = rows.map(([name, ratio], index) => {
    const own = isOwn(name) ? "own" : "";
    const y = top + titleHeight + index * rowHeight;
    const length = (ratio / longest) * scale;
    const text = y + rowHeight / 2 + 4.5;
    return `<text class="${own}" x="${n(left)}" y="${n(text)}">${name}</text>
    <rect class="${own}" x="${n(axis)}" y="${n(y + (rowHeight - barHeight) / 2)}" width="${n(length)}" height="${barHeight}" rx="2"/>
    <text class="value ${own}" x="${n(left + panelWidth)}" y="${n(text)}" text-anchor="end">${ratio.toFixed(2)}</text>`;
  });
  const bottom = top + titleHeight + rows.length * rowHeight;
  return `<g>
    <text class="title" x="${n(left)}" y="${n(top + 14)}">${title}</text>
    <text x="${n(left)}" y="${n(top + 32)}">${base}: ${middle.toFixed(0)} ${unit}</text>
    ${bars.join("\n    ")}
    <line x1="${n(one)}" x2="${n(one)}" y1="${n(top + titleHeight - 2)}" y2="${n(bottom + 2)}"/>
  </g>`;
}

/** Draws one panel of bars for each measurement. Shorter bars are better. */
export function chart(measurements: readonly Measurement[]): string {
  const [first] = measurements;
  const panelHeight = titleHeight + (first?.ratios.size ?? 0) * rowHeight + 36;
  const height = headHeight + Math.ceil(measurements.length / columns) * panelHeight - 16;
  const panels = measurements.map((each, index) => {
    const left = (index % columns) * (panelWidth + gap);
    return panel(each, left, headHeight + Math.floor(index / columns) * panelHeight);
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-20 -16 ${width + 40} ${n(height + 32)}" width="${width + 40}" height="${n(height + 32)}" role="img" aria-labelledby="title description">
  <title id="title">The cost of pod-partner and of other clients</title>
  <desc id="description">Bars of the ratio to ${base}, one panel for each measurement. The table of the page has the same numbers.</desc>
  <style>${style}
  </style>
  <rect class="page" x="-19.5" y="-15.5" width="${width + 39}" height="${n(height + 31)}" rx="8"/>
  <text class="head" x="0" y="20">Cost compared with ${base}</text>
  <text x="0" y="41">Shorter is better. The dotted line is ${base}.</text>
  ${panels.join("\n  ")}
</svg>
`;
}
