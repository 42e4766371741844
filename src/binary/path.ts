import { shorten } from "../errors/base.ts";
import { textOf, wordsOf } from "../util/foreign.ts";
import { builtIn } from "../util/runtime.ts";

/** The name of a file in a message. */
export const nameOfFile = (path: string | undefined): string =>
  path === undefined ? "the file" : `the file ${JSON.stringify(shorten(path))}`;

/** Maximum characters of a path on any system. */
const maxPathLength = 32_767;

/** Whether a text is a URL. A scheme of one letter is a drive of Windows. */
const isUrl = (text: string): boolean => /^(file|data):|^[a-z][a-z\d+.-]+:\/\//i.test(text);

/** Reads a file's path, given as a path or a `file:` URL, or says what is wrong with it. `otherwise`: what to do with any other URL. */
export function readPath(given: unknown, otherwise: string): { readonly path: string } | { readonly fault: string } {
  const text = typeof given === "string" ? given : textOf(given, "href");
  if (text === undefined) return { fault: "expected a file's path or URL" };
  if (/^data:/i.test(text))
    return { fault: `expected a path, not a data URL: ${otherwise.replace("`fetch`", "`fetch(dataUrl)`")}` };
  const file = nameOfFile(text);
  let path = text;
  if (isUrl(text)) {
    if (!/^file:/i.test(text) && typeof given !== "string")
      return { fault: `expected a \`file:\` URL; for any other URL, ${otherwise}` };
    if (!/^file:/i.test(text)) return { fault: `${file} is a URL: ${otherwise}` };
    try {
      path = builtIn("node:url")?.fileURLToPath(text) ?? new URL(text).pathname;
    } catch (error) {
      return { fault: `${file} is not the URL of a file of this machine: ${shorten(wordsOf(error), 200)}` };
    }
  }
  if (path === "") return { fault: "the path is empty" };
  if (path.includes("\0")) return { fault: `${file} is no path: it contains the character U+0000` };
  if (path.length > maxPathLength) return { fault: `${file} is no path: it has ${path.length} characters` };
  return { path };
}
