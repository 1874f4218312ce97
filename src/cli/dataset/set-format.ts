/** The contract of a format of other libraries' test sets: its examples, and the recorded runs beside them, in our own form. */
import type { JsonObject, JsonValue } from '../../model/json.ts';

export interface SetFormat {
  /** As `--from` names it. */
  readonly name: string;
  readonly summary: string;
  readonly read: (value: JsonValue) => ImportedSet;
}

export interface ImportedSet {
  readonly examples: readonly ImportedExample[];
  /** What cannot be taken over, with its place: nothing is written. */
  readonly faults: readonly string[];
  /** Entries that have no counterpart here, with the reason: the others are written. */
  readonly leftOut: readonly string[];
}

export interface ImportedExample {
  /** Absent: its number in the file. */
  readonly id?: string;
  readonly input?: JsonValue;
  readonly expect?: JsonObject;
  readonly tasks?: JsonValue;
  readonly constraints?: string;
  readonly tools?: JsonValue;
  readonly tags?: JsonValue;
  /** The other members of the entry. */
  readonly metadata?: JsonObject;
  /** The run of the entry, as an agent trace that `tracejury eval` reads; undefined when the entry has none. */
  readonly run?: JsonObject;
}
