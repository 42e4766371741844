/** `warning`: it works, but the partner should know. `skipped`: it could not be checked. */
export type Status = "ok" | "warning" | "failed" | "skipped";

/** What one check found. */
export interface Finding {
  readonly status: Status;
  /** What is so, in one sentence. */
  readonly message: string;
  /** What to do about it. */
  readonly action?: string;
  /** The values behind the message, for machines. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** All checks, in the order of the report, with their titles. */
export const checks = {
  baseUrl: "Base URL",
  connection: "Connection",
  key: "Key",
  permissions: "Permissions",
  environment: "Environment",
  clock: "Clock",
  rateLimits: "Rate limits",
  stores: "Stores",
  rendertokens: "Rendertokens",
} as const;

export type CheckName = keyof typeof checks;

/** One line of the report. */
export type Check = readonly [name: CheckName, finding: Finding];

type Rest = Omit<Finding, "status" | "message">;

export const ok = (message: string, rest: Rest = {}): Finding => ({ status: "ok", message, ...rest });
export const warning = (message: string, rest: Rest = {}): Finding => ({ status: "warning", message, ...rest });
export const failed = (message: string, rest: Rest = {}): Finding => ({ status: "failed", message, ...rest });
export const skipped = (message: string): Finding => ({ status: "skipped", message });

/** `1 store`, `2 stores`. */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

const units = [
  [86_400_000, "day"],
  [3_600_000, "hour"],
  [60_000, "minute"],
  [1_000, "second"],
] as const;

/** A duration in its two largest units: `3 minutes 20 seconds`. */
export function duration(ms: number): string {
  const at = units.findIndex(([unit]) => ms >= unit);
  const [unit, name] = units[at === -1 ? units.length - 1 : at] ?? units[3];
  const count = Math.floor(ms / unit);
  const next = units[at + 1];
  const rest = at === -1 || next === undefined ? 0 : Math.floor((ms % unit) / next[0]);
  const large = counted(count, name);
  return next === undefined || rest === 0 ? large : `${large} ${counted(rest, next[1])}`;
}
