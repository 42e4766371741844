/** The maximum number of characters of foreign text that a message quotes. */
const quoted = 80;

/** Cuts a text that a message quotes: a caller can pass megabytes by mistake. */
export const shorten = (text: string, most = quoted): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…`;
