/** The contract of a backend that has spans already. */
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from '../../../model/json.ts';
import { type Micros, timeText } from '../../../model/timestamp.ts';

export interface ImportBackend {
  readonly title: string;
  /** The word that the backend has for `--project`; the question cannot be asked without one when it is needed. */
  readonly project: { readonly noun: string; readonly isNeeded: boolean };
  /**
   * Resolves with whole traces behind the cursor, so that no run is scored in parts. Undefined: the first page. `sent`: traces of earlier pages, to
   * which a backend with pages of spans adds. Throws an ImportFault.
   */
  page(ask: Ask, wanted: Wanted, cursor: string | undefined, sent: SentTraces): Promise<Page>;
}

export interface SentTraces {
  has(trace: string): boolean;
  add(trace: string): void;
}

/** Spans that began in the period. */
export interface Wanted {
  readonly project: string | undefined;
  readonly from: Micros;
  readonly to: Micros;
}

export interface Page {
  /** Resource blocks of an OTLP request, each with the spans of one resource. */
  readonly blocks: readonly JsonObject[];
  /** Undefined: this is the last page. */
  readonly next: string | undefined;
}

/** Asks the backend; the path begins with a slash and is below the address. Resolves with its JSON. Throws an ImportFault. */
export type Ask = (path: string, request?: { readonly query?: Query; readonly body?: JsonObject }) => Promise<JsonValue>;

export interface Query {
  readonly [name: string]: string | number | undefined;
}

/** The backend or the service cannot be asked, or answers nonsense. The message names it, and the remedy. */
export class ImportFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ImportFault';
  }
}

/** A period that is read piece by piece. The cursor holds the beginning and the length of the next piece, in microseconds. */
export function pieceAt({ from, to }: Wanted, cursor: string | undefined): { readonly from: Micros; readonly to: Micros } {
  const [begin = from, length = firstPieceMicros] = (cursor ?? '').split('+').map((text) => (text === '' ? undefined : Number(text)));
  return { from: begin, to: Math.min(to, begin + length) };
}

const firstPieceMicros = 3_600_000_000;
const leastPieceMicros = 1_000_000;

/** The cursor of the first half of a piece with more traces than the backend answers at once. Throws an ImportFault when the piece is too short. */
export function halved({ from, to }: { readonly from: Micros; readonly to: Micros }, title: string): string {
  if (to - from > leastPieceMicros) return `${from}+${Math.ceil((to - from) / 2)}`;
  throw new ImportFault(
    `${title} has more traces than it answers at once in the second from ${timeText(nanos(from))}. Name a project with --project, or leave that second out with --since and --until.`,
  );
}

/** The cursor behind the piece; a piece with little in it makes the next one longer. */
export function behind(piece: { readonly from: Micros; readonly to: Micros }, { to }: Wanted, isFull: boolean): string | undefined {
  return piece.to >= to ? undefined : `${piece.to}+${(piece.to - piece.from) * (isFull ? 1 : 2)}`;
}

export function nanos(micros: Micros): bigint {
  return BigInt(micros) * 1_000n;
}

/** The objects of a list in an answer. Throws an ImportFault when there is no such list. */
export function listIn(answer: JsonValue | undefined, key: string, title: string): readonly JsonObject[] {
  const list = isJsonObject(answer) ? member(answer, key) : undefined;
  if (!isJsonArray(list)) throw new ImportFault(`${title} answers without the list ${key}.`);
  return list.filter(isJsonObject);
}

/** A cursor or a token of an answer; `undefined` when it is absent or empty. */
export function cursorIn(answer: JsonValue, key: string): string | undefined {
  const text = isJsonObject(answer) ? member(answer, key) : undefined;
  return typeof text === 'string' && text !== '' ? text : undefined;
}
