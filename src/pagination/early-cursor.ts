/** A cursor that is the last field of an object, without escapes. In JSON, a string cannot contain these quotes. */
const lastField = /[{,]\s*"nextCursor"\s*:\s*"([^"\\]*)"\s*\}\s*$/;
/** The number of characters at the end of a page that are searched. A longer cursor is read with the page. */
const searched = 1_000;

/**
 * Finds the cursor at the end of a page's text, so that the next page can be requested before this one is parsed. Undefined if the text
 * ends with anything else.
 */
export function cursorAtEnd(text: string): string | undefined {
  const cursor = lastField.exec(text.slice(-searched))?.[1];
  // A part of a string keeps the whole string in memory, and cursors are remembered. The copy does not.
  return cursor && JSON.parse(JSON.stringify(cursor));
}
