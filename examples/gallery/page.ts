/** Writes the page of the gallery: a section for each design, a picture for each product. */
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { thumbHashToDataURL } from "thumbhash";
import { style } from "./style.ts";

/** A place on the page. It begins empty. Later it gets a picture, or the reason why the picture is missing. */
export interface Place {
  readonly design: string;
  readonly product: string;
  /** The picture of the design. */
  readonly image: string;
  readonly picture?: string;
  /** A blurred version of the picture. */
  readonly thumbhash?: string | null | undefined;
  readonly why?: string;
}

export interface PageState {
  readonly places: readonly Place[];
  readonly running: boolean;
  /** What the run has cost so far, for example `188 rendertokens`. */
  readonly costs: string;
}

const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

const count = (number: number, what: string): string => `<b>${number}</b> ${what}`;

/** Each placeholder once, as a class: the renders of one design often have the same. */
function classesOf(places: readonly Place[]): ReadonlyMap<string, string> {
  const hashes = new Set(places.flatMap(({ thumbhash }) => thumbhash ?? []));
  return new Map([...hashes].map((hash, index) => [hash, `p${index}`]));
}

/** The picture of the address fills the window: a lightbox without a script. */
function figure(place: Place, classes: ReadonlyMap<string, string>): string {
  const { design, product, picture, thumbhash, why } = place;
  const name = escaped(`${design} on ${product}`);
  const id = name.replaceAll(/\W+/g, "-");
  const state = picture !== undefined ? "done" : why !== undefined ? "failed" : "waiting";
  const inside = {
    done: `<a href="#${id}"><img src="${picture}" width="600" height="800" loading="lazy" decoding="async" alt="${name}"></a><a class="close" href="#gallery">Close</a>`,
    failed: `<p role="img" aria-label="${name}: failed">${escaped(why ?? "")}</p>`,
    waiting: `<p role="img" aria-label="${name}: is being rendered"></p>`,
  }[state];
  const background = classes.get(thumbhash ?? "") ?? "";
  return `<figure><div class="frame ${state} ${background}"${state === "done" ? ` id="${id}"` : ""}>${inside}</div><figcaption>${escaped(product)}</figcaption></figure>`;
}

function section(design: string, places: readonly Place[], classes: ReadonlyMap<string, string>): string {
  const failed = places.filter(({ why }) => why !== undefined).length;
  const note = failed > 0 ? ` <small>${failed} failed</small>` : "";
  const figures = places.map((place) => figure(place, classes)).join("\n");
  const [{ image = "" } = {}] = places;
  return `<section><h2><img class="design" src="${image}" width="60" height="80" alt="">${escaped(design)}${note}</h2>\n<div class="strip" tabindex="0" aria-label="${escaped(design)}">\n${figures}\n</div></section>`;
}

/** What failed, by its reason: one line for each reason. */
function failures(places: readonly Place[]): string {
  const byReason = Map.groupBy(
    places.filter(({ why }) => why !== undefined),
    ({ why }) => why ?? "",
  );
  if (byReason.size === 0) return "";
  const rows = [...byReason].map(([why, failed]) => {
    const where = [...Map.groupBy(failed, ({ design }) => design)].map(([design, of]) =>
      of.length > 2
        ? `${design} (${of.length} products)`
        : of.map(({ product }) => `${design} on ${product}`).join(", "),
    );
    return `<li><b>${escaped(why)}</b><br>${escaped(where.join(", "))}</li>`;
  });
  return `<details open><summary>What failed, and why</summary><ul>${rows.join("")}</ul></details>`;
}

export function html({ places, running, costs }: PageState): string {
  const classes = classesOf(places);
  const done = places.filter(({ picture }) => picture !== undefined).length;
  const failed = places.filter(({ why }) => why !== undefined).length;
  const designs = Map.groupBy(places, ({ design }) => design);
  const urlOf = (hash: string) => thumbHashToDataURL(Buffer.from(hash, "base64"));
  const rules = [...classes].map(([hash, name]) => `.${name}{background:url(${urlOf(hash)}) center/cover}`);
  const left = places.length - done - failed;
  const figures = [
    count(done, "pictures"),
    ...(failed > 0 ? [count(failed, "failed")] : []),
    ...(left > 0 ? [count(left, "to come")] : []),
  ];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${running ? '<meta http-equiv="refresh" content="1">' : ""}
<title>${running ? `${done + failed} of ${places.length} · ` : ""}Gallery</title>
<style>${style}${rules.join("")}</style>
<header>
<h1>${designs.size} designs × ${places.length / Math.max(1, designs.size)} products</h1>
<p>${figures.join(" · ")} · ${escaped(costs)}</p>
<progress max="${places.length}" value="${done + failed}" aria-label="Progress"${running ? "" : " hidden"}></progress>
</header>
<main id="gallery">
${failures(places)}
${[...designs].map(([design, of]) => section(design, of, classes)).join("\n")}
</main>
</html>
`;
}

/** Writes the page atomically: a browser that loads it meanwhile sees the old or the new one. */
export async function writePage(folder: string, state: PageState): Promise<void> {
  const path = join(folder, "index.html");
  await writeFile(`${path}.part`, html(state));
  await rename(`${path}.part`, path);
}
