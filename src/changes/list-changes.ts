import type { RequestOptions } from "../http/request-options.ts";
import type { ApiCall } from "../http/send.ts";
import type { PagedEndpoint } from "../pagination/paginator.ts";
import type { Reference, ReferenceKind } from "../references/references.ts";
import type { OpenEnum, Schema } from "../schemas/shape.ts";

/** An entry of a list that has a reference. */
export interface Referenced {
  readonly reference: Reference;
}

/** The kind of a list entry's reference: `Product`. */
export type KindOf<Item extends Referenced> = Item["reference"] extends `${infer Kind extends ReferenceKind}_${string}`
  ? Kind
  : never;

/** The name of a field of a list entry. The service may add fields at any time (specification 9.4). */
export type FieldOf<Item> = OpenEnum<Exclude<keyof Item & string, "reference">>;

/** A value in a snapshot: the value itself if it is short, otherwise an array with its hash. An empty array is a missing field. */
export type SnapshotCell = string | number | boolean | null | readonly string[];

/**
 * The content of a list as a plain JSON value. Store it unchanged and pass it as `since` the next time.
 *
 * It takes less than 200 bytes of JSON per product. The order of its keys does not matter, so a database may store it as JSON. It belongs to
 * one environment and one organization, because references differ between them.
 */
export type ListSnapshot<Item extends Referenced> = {
  /** The version of this format. */
  readonly version: 1;
  /** The kind of the references of the list. */
  readonly kind: KindOf<Item>;
  /** The names of the fields, in the order of the cells of each row. */
  readonly fields: readonly string[];
  /** For each entry of the list: its reference without the prefix, and a cell for each field. */
  readonly rows: readonly (readonly SnapshotCell[])[];
};

/** An entry of a list that differs from the snapshot. */
export interface ListChange<Listed extends Referenced, Current extends Listed = Listed> {
  /** The entry now. */
  readonly current: Current;
  /**
   * The entry in the snapshot: the reference, and each short value. Long texts, objects and arrays are missing, because the snapshot has only
   * their hashes.
   */
  readonly previous: Pick<Listed, "reference"> & Partial<Omit<Listed, "reference">>;
  /** The names of the fields that differ, unknown fields included. */
  readonly fields: readonly FieldOf<Listed>[];
}

/** The differences between a list and a snapshot. */
export interface ListChanges<Listed extends Referenced, Current extends Listed = Listed> {
  /** The entries that the snapshot does not have. Without `since`, all entries. */
  readonly added: readonly Pick<ListChange<Listed, Current>, "current">[];
  /** The entries that differ from the snapshot. */
  readonly changed: readonly ListChange<Listed, Current>[];
  /** The entries of the snapshot that the service no longer has. */
  readonly removed: readonly Pick<ListChange<Listed>, "previous">[];
  /** The value for `since` the next time. Store it after you have handled the changes. */
  readonly snapshot: ListSnapshot<Listed>;
}

/** Options of `changes`: those of each request, and the snapshot to compare with. `deadline` limits the whole call. */
export interface ChangesOptions<Listed extends Referenced> extends RequestOptions {
  /** The `snapshot` of an earlier result. It is not modified. Default, also for null: none, so that every entry is `added`. */
  readonly since?: ListSnapshot<Listed> | null | undefined;
}

/** A list whose changes can be found. */
export interface ChangingList<Listed> {
  readonly kind: ReferenceKind;
  readonly list: PagedEndpoint<Listed, object>;
  readonly options: Schema;
  /** Reads one entry, if the service has an endpoint for it. Its response has the fields of the list entry, and more. */
  readonly get?: (reference: never, options: RequestOptions) => ApiCall<Listed>;
}
