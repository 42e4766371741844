import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The block that other pages go on from, by the link that says so. */
const [page, link] = ["docs/quick-start.md", "](quick-start.md#set-up)"];

/** The code above the first block of a page: the set-up of the quick start, if the page links to it. */
export function setUpOf(file: string, text: string, root: string): string {
  if (!file.startsWith("docs/") || !text.includes(link)) return "";
  const [, section = ""] = readFileSync(join(root, page), "utf8").split("\n## Set-up\n");
  return /^```ts\n([\s\S]*?)^```$/m.exec(section)?.[1] ?? "";
}
