/** Texts of times, spans and numbers. */

const whole = new Intl.NumberFormat("en");

export const count = (value: number): string => whole.format(value);

const short = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

/** A number with one digit after the point: `3.5`. */
export const few = (value: number): string => short.format(value);

/** `1 order`, `3 orders`. */
export const plural = (value: number, noun: string): string => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;

/** A span: `4 ms`, `1.2 s`, `3 min`, `2 h`, `4 d`. */
export function span(ms: number): string {
  if (ms < 9.95) return `${ms < 0.05 ? 0 : ms.toFixed(1)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3_570_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 129_600_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} d`;
}

const pad = (value: number, length = 2): string => String(value).padStart(length, "0");

/** `14:03:27`, in the browser's time zone. */
export const timeOfDay = (at: number): string => {
  const date = new Date(at);
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
};

/** `14:03:27.042`, in the browser's time zone. */
export const timeToMs = (at: number): string => `${timeOfDay(at)}.${pad(new Date(at).getMilliseconds(), 3)}`;

const day = new Intl.DateTimeFormat("en", { weekday: "short", day: "numeric", month: "short", year: "numeric" });

export const dayOf = (at: number): string => day.format(at);

/** `Mon, 2 Nov 2026, 14:03:27`. */
export const dayAndTime = (at: number): string => `${dayOf(at)}, ${timeOfDay(at)}`;

/** `just now`, `12 s ago`, `in 3 min`. */
export function relative(at: number, now: number): string {
  const ms = now - at;
  if (Math.abs(ms) < 1000) return "just now";
  const size = Math.abs(ms);
  const text = size < 59_500 ? `${Math.round(size / 1000)} s` : span(size);
  return ms > 0 ? `${text} ago` : `in ${text}`;
}

/** `partially_shipped` → `partially shipped`. */
export const words = (name: string): string => name.replaceAll("_", " ");

/** The text of bytes: `512 B`, `3.4 kB`, `1.2 MB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
