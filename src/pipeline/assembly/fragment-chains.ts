/**
 * Joins requests and tools without an enclosing span into runs. The order of arrival matters only for spans with the same start. A part
 * that fits two runs equally well, as when users ask the same at the same time, joins neither.
 */
import { wire } from '../../model/attributes.ts';
import type { TraceId } from '../../model/ids.ts';
import { textAttribute } from '../../model/span.ts';
import { isRequestKey, isHistoryKey, tiesOf, tiesOfWhole, type Ties } from './fragments.ts';
import { modelSpans } from './model-calls.ts';
import { below, byStart, type Node } from './span-tree.ts';

/** Spans of one trace, or of several that are one run. */
export interface Chain {
  /** Sorted by start time. */
  readonly pieces: readonly Piece[];
}

export interface Piece {
  readonly roots: readonly Node[];
  readonly own: readonly Node[];
  readonly sessionId: string | undefined;
  /** The earliest span. */
  readonly first: Node;
  readonly endUnixNano: bigint;
  readonly ties: Ties;
  /** True when the piece has no request. */
  readonly isTool: boolean;
}

/** Some SDKs round to milliseconds, so a span may seem to end after the next one began. */
export const slackNano = 2_000_000n;
/** Longest pause before a run's next request, unless an id ties it. */
export const pauseMaxNano = 3_600_000_000_000n;

export function chainsOf(roots: readonly Node[]): readonly Chain[] {
  const pieces = [...Map.groupBy(roots, (root): TraceId => root.span.traceId).values()]
    .map(pieceOf)
    .sort((a, b) => byStart(a.first, b.first));
  const chains: Piece[][] = [];
  const offering = new Map<string, Set<Piece[]>>();
  for (const piece of pieces) {
    const found = new Set(piece.ties.seeks.flatMap((key) => [...(offering.get(key) ?? [])].filter((chain) => goesOn(piece, chain, key))));
    const [only, ...others] = found;
    const chain = only === undefined || others.length > 0 ? [] : only;
    if (chain.length === 0) chains.push(chain);
    chain.push(piece);
    for (const key of piece.ties.offers) offering.set(key, (offering.get(key) ?? new Set()).add(chain));
  }
  return chains.map((chain) => ({ pieces: chain }));
}

function pieceOf(roots: readonly Node[]): Piece {
  const own = roots.flatMap((root) => [root, ...below(root)]);
  const sessionId = own.find((node) => node.reading.facts.sessionId !== undefined)?.reading.facts.sessionId;
  return {
    roots,
    own,
    sessionId,
    first: own.reduce((first, node) => (byStart(node, first) < 0 ? node : first)),
    endUnixNano: own.reduce((greatest, { span }) => (span.endUnixNano > greatest ? span.endUnixNano : greatest), 0n),
    ties: tiesOf(own, sessionId),
    isTool: modelSpans(own).length === 0,
  };
}

function goesOn(piece: Piece, chain: readonly Piece[], key: string): boolean {
  const from = chain.findLast((other) => other.ties.offers.includes(key));
  if (from === undefined || !mayBeOne(piece.sessionId, sessionOf(chain))) return false;
  // A call runs once, so a second tool span of an id belongs to another run.
  if (piece.isTool) return !chain.some((other) => other.isTool && other.ties.seeks.includes(key));
  const first = chain.find((other) => other.ties.turn !== undefined);
  if (!mayBeOne(piece.ties.turn, first?.ties.turn)) return false;
  // Joins only the last open request: a run that already continued cannot continue twice from the same point.
  const last = chain.findLast((other) => !other.isTool && (other.ties.offers.length > 0 || hasAnswered(other)));
  if (last !== undefined && last !== from && !last.ties.offers.some((offer) => piece.ties.seeks.includes(offer))) return false;
  return (
    !isHistoryKey(key) ||
    (from === last &&
      // The span of a streamed answer may end after its tools have run.
      (isRequestKey(key) || from.endUnixNano <= piece.first.span.startUnixNano + slackNano) &&
      piece.first.span.startUnixNano - from.endUnixNano <= pauseMaxNano)
  );
}

function hasAnswered({ own }: Piece): boolean {
  return own.some(({ reading: { facts } }) => facts.role === 'model' && (facts.outputMessages?.length ?? 0) > 0);
}

/** The first session that a piece names. */
export function sessionOf(pieces: readonly Piece[]): string | undefined {
  return pieces.find(({ sessionId }) => sessionId !== undefined)?.sessionId;
}

/** Two known values must be equal. */
export function mayBeOne(a: string | undefined, b: string | undefined): boolean {
  return a === undefined || b === undefined || a === b;
}

/** A span that reports a whole conversation, while its requests and tools are in other traces. */
export interface Whole {
  readonly node: Node;
  readonly ties: Ties;
}

export function wholeOf(node: Node): Whole | undefined {
  const ties = tiesOfWhole(node);
  return ties.turn === undefined && ties.offers.length === 0 ? undefined : { node, ties };
}

export interface Placed {
  /** Chains by the whole that they are part of. */
  readonly within: ReadonlyMap<Whole, readonly Chain[]>;
  /** Chains that are runs by themselves. */
  readonly alone: readonly Chain[];
}

/** Assigns chains to wholes. A chain that fits several wholes belongs to none and is not a run. */
export function placed(chains: readonly Chain[], wholes: readonly Whole[]): Placed {
  const within = new Map<Whole, Chain[]>();
  const alone: Chain[] = [];
  const fitting = chains.map((chain) => ({
    chain,
    byId: wholes.filter((whole) => holdsCall(whole, chain)),
    byTime: wholes.filter((whole) => encloses(whole, chain)),
  }));
  // A whole that competes for requests gets none of them by time.
  const contested = new Set(fitting.flatMap(({ byId, byTime }) => (byId.length === 0 && byTime.length > 1 ? byTime : [])));
  for (const { chain, byId, byTime } of fitting) {
    const fits = byId.length > 0 ? byId : byTime;
    const [only, ...others] = fits;
    if (only === undefined) alone.push(chain);
    else if (others.length === 0 && (byId.length > 0 || !contested.has(only))) within.set(only, [...(within.get(only) ?? []), chain]);
  }
  return { within, alone };
}

function holdsCall({ ties, node }: Whole, { pieces }: Chain): boolean {
  return pieces.some(
    (piece) =>
      [...piece.ties.offers, ...piece.ties.seeks].some((key) => !isHistoryKey(key) && ties.offers.includes(key)) && isDuring(piece, node),
  );
}

function encloses({ ties, node }: Whole, { pieces }: Chain): boolean {
  return (
    ties.turn !== undefined &&
    pieces.some((piece) => piece.ties.turn === ties.turn) &&
    pieces.every((piece) => isDuring(piece, node) && isOfService(piece, node))
  );
}

function isDuring(
  {
    first: {
      span: { startUnixNano },
    },
    endUnixNano,
    sessionId,
  }: Piece,
  { span, reading }: Node,
): boolean {
  return (
    startUnixNano + slackNano >= span.startUnixNano &&
    endUnixNano <= span.endUnixNano + slackNano &&
    mayBeOne(sessionId, reading.facts.sessionId)
  );
}

function isOfService({ roots }: Piece, { span }: Node): boolean {
  return roots.every((root) => textAttribute(root.span.resource, wire.serviceName) === textAttribute(span.resource, wire.serviceName));
}
