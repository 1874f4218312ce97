/**
 * Runs of recorded spans, each as soon as its trace is whole, so that memory holds the traces that are open and not the inputs. The inputs are
 * read twice: first for the last piece of each trace, then for the spans. The runs are those of `recordedRuns`.
 */
import { collectors } from '../../../collectors/index.ts';
import { configuredCollector } from '../../../collectors/configured/dialect.ts';
import type { Run } from '../../model/agent-trace.ts';
import { JuryError, unreadable } from '../../model/errors.ts';
import type { TraceId } from '../../model/ids.ts';
import type { LogRecord, Span } from '../../model/span.ts';
import { keyShapes, type KeyShapes } from '../../otlp/read/key-shapes.ts';
import { regathering } from '../../pipeline/gathering/regathered-runs.ts';
import { noTelemetry } from '../../telemetry/telemetry.ts';
import { placeKey, type Reading } from './inspection.ts';
import { changed, type Piece, piecesOf } from './pieces.ts';
import { collecting, type Input, readPiece, type Recorded } from './recording.ts';

/** Runs of some traces, with the spans of these traces. */
interface RunBatch {
  readonly runs: readonly Run[];
  readonly spans: readonly Span[];
  /** The place of the span of a run among all spans. */
  readonly placeOf: (run: Run) => number;
}

interface StreamedRuns {
  readonly batches: Iterable<RunBatch>;
  /** Complete after the last batch; one for each place and reason. */
  readonly rejections: Recorded['rejections'];
}

interface StreamOptions {
  readonly reading: Reading;
  readonly pieceBytes?: number;
}

/** Throws INPUT_UNREADABLE, also while the batches are read. */
export function streamedRuns(inputs: readonly Input[], { reading, pieceBytes }: StreamOptions): StreamedRuns {
  const { dialects = [], ...times } = reading;
  const shapes = keyShapes();
  const cut = pieceBytes === undefined ? {} : { pieceBytes };
  const rejections = new Map<string, Recorded['rejections'][number]>();

  function* batches(): Iterable<RunBatch> {
    const index = indexOf(inputs, shapes, cut);
    const gather = regathering({ ...times, collectors, dialects: dialects.map(configuredCollector), telemetry: noTelemetry });
    const open = new Map<TraceId, Held>();
    const left: Held[] = [];
    let place = 0;
    for (const [number, piece] of allPieces(inputs, index.whole, cut)) {
      const read = collecting(shapes);
      readPiece(piece, read);
      for (const one of read.rejections) {
        const key = JSON.stringify([one.where, one.reason]);
        rejections.set(key, { ...one, count: one.count + (rejections.get(key)?.count ?? 0) });
      }
      for (const { traceId } of [...read.spans, ...read.records])
        if ((index.last.get(traceId) ?? Infinity) < number) throw unreadable(piece.name, changed);
      for (const span of read.spans) heldIn(open, span.traceId).spans.push({ span, place: place++ });
      for (const record of read.records) heldIn(open, record.traceId).records.push({ record, place: place++ });
      const ready: Held[] = [];
      for (const [traceId, held] of open) {
        if ((index.last.get(traceId) ?? Infinity) > number) continue;
        open.delete(traceId);
        if (index.linked.has(traceId)) left.push(held);
        else ready.push(held);
      }
      if (ready.length === 0) continue;
      const { runs, left: others } = gather.whole(recordingOf(ready));
      left.push(...ready.filter(({ traceId }) => others.has(traceId)));
      yield batchOf(
        runs,
        ready.filter(({ traceId }) => !others.has(traceId)),
      );
    }
    left.push(...open.values());
    yield batchOf(gather.rest(recordingOf(left)), left);
  }

  return {
    batches: batches(),
    get rejections() {
      return [...rejections.values()];
    },
  };
}

/** State of a trace that is held. */
interface Held {
  readonly traceId: TraceId;
  readonly spans: { readonly span: Span; readonly place: number }[];
  readonly records: { readonly record: LogRecord; readonly place: number }[];
}

function heldIn(open: Map<TraceId, Held>, traceId: TraceId): Held {
  const held = open.get(traceId) ?? { traceId, spans: [], records: [] };
  open.set(traceId, held);
  return held;
}

/** In the order of the inputs. */
function recordingOf(traces: readonly Held[]): { readonly spans: readonly Span[]; readonly records: readonly LogRecord[] } {
  const inOrder = <Item extends { readonly place: number }>(items: readonly Item[]): readonly Item[] =>
    items.toSorted((a, b) => a.place - b.place);
  return {
    spans: inOrder(traces.flatMap(({ spans }) => spans)).map(({ span }) => span),
    records: inOrder(traces.flatMap(({ records }) => records)).map(({ record }) => record),
  };
}

function batchOf(runs: ReadonlyMap<string, Run>, traces: readonly Held[]): RunBatch {
  const held = traces.flatMap(({ spans }) => spans).sort((a, b) => a.place - b.place);
  const places = new Map(held.map(({ span, place }) => [placeKey(span), place]));
  return {
    runs: [...runs.values()],
    spans: held.map(({ span }) => span),
    placeOf: (run) => places.get(placeKey(run)) ?? 0,
  };
}

interface TraceIndex {
  /** Number of the last piece of each trace. A trace that is not in it is open to the end. */
  readonly last: ReadonlyMap<string, number>;
  /** Traces that links name, and those with the links. */
  readonly linked: ReadonlySet<string>;
  /** Inputs that are read in one piece. */
  readonly whole: ReadonlySet<Input>;
}

function indexOf(inputs: readonly Input[], shapes: KeyShapes, cut: Cut): TraceIndex {
  const last = new Map<string, number>();
  const linked = new Set<string>();
  const whole = new Set<Input>();
  /** `false`: it can be read only as a whole. */
  const add = (input: Input, at: number, isWhole: boolean): boolean => {
    for (const [number, piece] of piecesIn(input, at, { ...cut, isWhole })) {
      const found = namedIn(piece, shapes);
      if (found === undefined) return false;
      for (const traceId of found.traces) last.set(traceId, number);
      for (const traceId of found.linked) linked.add(traceId);
    }
    return true;
  };
  for (const [at, input] of inputs.entries()) {
    if (add(input, at, false)) continue;
    whole.add(input);
    add(input, at, true);
  }
  return { last, linked, whole };
}

interface Cut {
  readonly pieceBytes?: number;
}

function* allPieces(inputs: readonly Input[], whole: ReadonlySet<Input>, cut: Cut): Iterable<NumberedPiece> {
  for (const [at, input] of inputs.entries()) yield* piecesIn(input, at, { ...cut, isWhole: whole.has(input) });
}

type NumberedPiece = readonly [number: number, piece: Piece];

/** The number of a piece grows from input to input. */
function* piecesIn(input: Input, at: number, cut: Cut & { readonly isWhole: boolean }): Iterable<NumberedPiece> {
  const bytes = input.open();
  try {
    let number = at * piecesMax;
    for (const piece of piecesOf(input.name, bytes, cut)) yield [number++, piece];
  } finally {
    bytes.close();
  }
}

/** More than the pieces of any input. */
const piecesMax = 2 ** 32;

interface Named {
  readonly traces: Iterable<string>;
  readonly linked: Iterable<string>;
}

/** The traces that a piece names. `undefined`: its input can be read only as a whole. */
function namedIn(piece: Piece, shapes: KeyShapes): Named | undefined {
  const named = tracesNamed(piece.bytes);
  if (named !== undefined) return { traces: named, linked: [] };
  const read = collecting(shapes);
  try {
    readPiece(piece, read);
  } catch (error) {
    if (!(error instanceof JuryError)) throw error;
    // The second reading throws the error of a whole input again, after the faults of inputs before this one.
    return piece.form === 'requests' ? undefined : { traces: [], linked: [] };
  }
  if (piece.form === 'requests' && read.spans.length === 0) return undefined;
  const { spans, records } = read;
  return {
    traces: [...spans, ...records].map(({ traceId }) => traceId),
    linked: spans.flatMap((span) => (span.links.length === 0 ? [] : [span.traceId, ...span.links.map(({ traceId }) => traceId)])),
  };
}

/** A line of JSON lines, or a document on one line; a blank one at the end. */
const OTLP_START = /^\uFEFF?(?:\s*\{\s*"resource_?(?:spans|logs)"\s*:|\s{0,90}$)/i;
const startBytes = 100;
const ID_VALUE = /^\s*:\s*"([\da-f]{32})"/i;
const idValueBytes = 60;
/** White space up to the end of what is looked at, or the beginning of an id: the value is further on. */
const FAR_VALUE = /^\s*(?::\s*(?:"[\da-f]{0,32})?)?$/i;
const HAS_LINKS = /^\s*(?:$|:\s*(?:$|\[\s*(?:$|\{)))/;
const linkBytes = 60;
/** An ASCII letter or digit that is escaped, as a name or an id might be. */
const ESCAPED = /^(?:3\d|[4-7][\da-f])/i;

/** The trace ids of an OTLP request in JSON, found without a parse. `undefined` when only a parse finds them. */
function tracesNamed(bytes: Buffer): ReadonlySet<string> | undefined {
  for (const at of [0, ...placesOf('\n', bytes)]) if (!OTLP_START.test(bytes.toString('utf8', at, at + startBytes))) return undefined;
  const follows = (sign: string, length: number, form: RegExp): boolean => {
    for (const at of placesOf(sign, bytes)) if (form.test(bytes.toString('latin1', at, at + length))) return true;
    return false;
  };
  if (follows('"links"', linkBytes, HAS_LINKS) || follows('\\u00', 2, ESCAPED)) return undefined;
  const found = new Set<string>();
  for (const name of ['"traceId"', '"trace_id"']) {
    if (follows(name, idValueBytes, FAR_VALUE)) return undefined;
    for (const at of placesOf(name, bytes)) {
      const id = ID_VALUE.exec(bytes.toString('latin1', at, at + idValueBytes))?.[1];
      if (id !== undefined) found.add(id.toLowerCase());
    }
  }
  return found;
}

/** The places behind each occurrence. */
function* placesOf(text: string, bytes: Buffer): Iterable<number> {
  const sought = Buffer.from(text);
  for (let at = bytes.indexOf(sought); at !== -1; at = bytes.indexOf(sought, at + sought.length)) yield at + sought.length;
}
