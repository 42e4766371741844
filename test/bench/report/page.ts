import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import manifest from "../../../package.json" with { type: "json" };
import { clientNames } from "../clients.ts";
import peers from "../package.json" with { type: "json" };
import { base } from "../samples.ts";
import { isOwn, type Measurement } from "./measurement.ts";

const versions: Readonly<Record<string, string>> = { ...manifest.devDependencies, ...peers.dependencies };

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

function table(measurements: readonly Measurement[]): string {
  const rows = clientNames.map((name) => {
    const bold = (text: string) => (isOwn(name) ? `**${text}**` : text);
    const version = versions[name];
    const cells = measurements.map(({ ratios, base: middle, unit }) => {
      const ratio = (ratios.get(name) ?? Number.NaN).toFixed(2);
      return bold(name === base ? `${ratio} (${middle.toFixed(0)} ${unit})` : ratio);
    });
    return row([bold(version === undefined ? name : `${name} ${version}`), ...cells]);
  });
  const titles = measurements.map(({ title }) => title);
  return [row(["", ...titles]), row(["---", ...titles.map(() => "--:")]), ...rows].join("\n");
}

/** A load average above this value before the run shows that other programs use the machine. */
const idle = 0.5;

/** Fills the measured parts of the page into its text. `load` is the machine's load average before the run. */
export function page(measurements: readonly Measurement[], load: number): string {
  const [cpu] = cpus();
  const machine = `${cpu?.model.trim()}, ${cpus().length} cores, ${process.platform} ${process.arch}, Node ${process.versions.node}`;
  const text = readFileSync(new URL("page.template.md", import.meta.url), "utf8");
  const warning = `**Other programs used the machine during this run (load average ${load.toFixed(1)}): the numbers are not reliable.**\n\n`;
  return text
    .replace("{machine}", machine)
    .replace("{warning}\n\n", load > idle ? warning : "")
    .replace("{table}", table(measurements));
}
