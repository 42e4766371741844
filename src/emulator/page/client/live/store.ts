import { computed, signal } from "@preact/signals";
import type { RequestSummary } from "../../../recorder/request-json.ts";
import type { ControlView, PageState } from "../../overview/view.ts";

/** What the page shows. Each part of the page reads the signals that it draws. */

export const state = signal<PageState>();
export const controls = signal<readonly ControlView[]>([]);

/** The name of the organization that the reader chose. Undefined for the first one. */
export const organization = signal<string>();

/** Whether the event stream is connected. */
export const connection = signal<"connecting" | "live" | "lost">("connecting");

/** The most requests that the page keeps. */
export const capacity = 5000;

/** The requests, newest first. */
export const requests = signal<readonly RequestSummary[]>([]);

/** Requests that the event stream left out because too many came at once. */
export const skipped = signal(0);

/** The request whose details are open. */
export const opened = signal<number>();

export const baseUrl = computed(() => state.value?.baseUrl ?? "");
export const calls = computed(() => state.value?.calls ?? []);
