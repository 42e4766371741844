/**
 * Characters that a terminal or an editor does not show: control characters, line separators, direction marks, characters without a width
 * (such as the Hangul fillers), lone surrogates and noncharacters.
 */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu;

const escaped = (character: string): string => {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
};

/** Writes invisible characters of a foreign text as escapes, such as `\u202E`. Line ends and tabs are escaped, too: one line stays one. */
export const inOneLine = (text: string): string => text.replace(invisible, escaped);

/** Writes invisible characters of a foreign text as escapes, such as `\u202E`. Line ends and tabs stay. */
export const visible = (text: string): string =>
  text.replace(invisible, (character) => (character === "\n" || character === "\t" ? character : escaped(character)));

/** Deeper values are cut, because recursive code such as `JSON.stringify` would overflow the stack. */
const maxDepth = 100;

/** Copies a JSON value and changes each string in it: names and values of fields, items of lists. */
export function mapTexts(value: unknown, change: (text: string) => string, depth = 0): unknown {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth === maxDepth) return "[nested deeper]";
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change, depth + 1));
  const fields = Object.entries(value).map(([name, item]) => [change(name), mapTexts(item, change, depth + 1)]);
  return Object.fromEntries(fields);
}
