/** Requested calls and their results, from conversations that repeat their history in every request. */
import type { RequestedCall, Message, ReportedResult } from '../../../collectors/collector.ts';
import { holdIn } from '../../model/control-flow.ts';
import { jsonText } from '../../model/json.ts';
import { countBelow } from '../../model/nano-time.ts';
import { endOf } from '../../model/span.ts';
import type { Node } from './span-tree.ts';

/** A call as the model's messages report it. */
export interface Requested {
  readonly call: RequestedCall;
  /** Number of the model turn that requested it. */
  readonly turn: number;
  /** Position among all requested calls. */
  readonly order: number;
  readonly requestedAtUnixNano: bigint;
  /** When the request before it ended, for a call that only a later request reports. */
  readonly askedAfterUnixNano?: bigint;
  /** The first request after it, which mostly holds its result. */
  readonly answeredBy: Node | undefined;
  readonly fromLogs: boolean;
  /** The id that later requests have for it, where the framework numbers calls anew. */
  readonly laterId?: string;
}

/** Calls that the agent's models requested. Later requests repeat the history; the history of the first one belongs to earlier runs. */
export function requestedCalls(models: readonly Node[]): readonly Requested[] {
  const found: Requested[] = [];
  const next = nextAmong(models);
  const [known, past] = [new KnownCalls(), new Map<string, number>()];
  const latest = new Map<string, RequestedCall>();
  const history = models[0]?.reading.facts.inputMessages ?? none;
  const present = afterUser(history);
  const refused = refusedIds(history.slice(present));
  history.forEach(({ requested }, at) => {
    for (const call of requested) {
      if (at >= present) {
        known.add(call);
        if (call.id !== undefined && refused.has(call.id)) found.push(refusedCall(call, found.length, models[0]));
      } else if (call.id !== undefined) count(past, call.id);
      if (call.id !== undefined) latest.set(call.id, call);
    }
  });
  models.forEach((node, index) => {
    if (index > 0) addRepeated(node, { index, earlier: models[index - 1], known, past, found });
    const answeredBy = next(index);
    let isRequestedAgain: ReturnType<typeof requestsAgain> | undefined;
    const asked = new Map<string, RequestedCall[]>();
    for (const message of node.reading.facts.outputMessages ?? none) {
      for (const call of message.requested) {
        const isBeside = call.id !== undefined && isBesideOthers(call, asked, call.id);
        if (call.id !== undefined && !isBeside && (known.times(call) > 0 || past.has(call.id))) {
          isRequestedAgain ??= requestsAgain(node, latest);
          if (!isRequestedAgain(call, call.id)) continue;
        }
        known.add(call);
        if (call.id !== undefined) latest.set(call.id, call);
        found.push({
          call,
          turn: index,
          order: found.length,
          requestedAtUnixNano: endOf(node.span),
          answeredBy,
          fromLogs: node.reading.fromLogs.has('outputMessages'),
        });
      }
    }
  });
  return found;
}

const none: readonly never[] = [];

/** Calls that an earlier run asked for and a person refused, so that this run goes on with the refusal. */
function refusedIds(messages: readonly Message[]): ReadonlySet<string> {
  return new Set(
    messages.flatMap(({ results }) => results.flatMap(({ id, result }) => (id !== undefined && holdIn(result) === 'refused' ? [id] : []))),
  );
}

function refusedCall(call: RequestedCall, order: number, request: Node | undefined): Requested {
  const fromLogs = request?.reading.fromLogs.has('inputMessages') === true;
  return { call, turn: -1, order, requestedAtUnixNano: request?.span.startUnixNano ?? 0n, answeredBy: request, fromLogs };
}

/** Limit of calls of one answer under one id. */
const callsPerIdMax = 64;

/** True when the same answer holds other calls under the id. Notes this one. */
function isBesideOthers(call: RequestedCall, asked: Map<string, RequestedCall[]>, id: string): boolean {
  const others = asked.get(id);
  if (others === undefined) asked.set(id, [call]);
  if (others === undefined || others.length >= callsPerIdMax) return false;
  const isOther = others.every((one) => !isSameCall(one, call));
  if (isOther) others.push(call);
  return isOther;
}

/**
 * Some providers number call ids from one in each turn. A known id is a new call if the request already has its result; unless the answer
 * repeats the history, which then includes that result.
 */
function requestsAgain(
  { reading: { facts } }: Node,
  latest: ReadonlyMap<string, RequestedCall>,
): (call: RequestedCall, id: string) => boolean {
  const taken = new Set<string>();
  let before: ReadonlySet<string> | undefined;
  let beside: ReadonlySet<string> | undefined;
  return (call, id) => {
    before ??= resultIds(facts.inputMessages);
    beside ??= resultIds(facts.outputMessages);
    const last = latest.get(id);
    if (taken.has(id) || !before.has(id) || (beside.has(id) && last !== undefined && isSameCall(last, call))) return false;
    taken.add(id);
    return true;
  };
}

function resultIds(messages: readonly Message[] = none): ReadonlySet<string> {
  return new Set(messages.flatMap(({ results }) => results.flatMap(({ id }) => id ?? [])));
}

function isSameCall(one: RequestedCall, other: RequestedCall): boolean {
  return one.name === other.name && canonical(one) === canonical(other);
}

/** The state before a request. */
interface Before {
  readonly index: number;
  readonly earlier: Node | undefined;
  readonly known: KnownCalls;
  readonly past: ReadonlyMap<string, number>;
  readonly found: Requested[];
}

/** Adds calls that this request repeats from an answer that no span carries. */
function addRepeated(node: Node, { index, earlier: asked, known, past, found }: Before): void {
  const { facts, fromLogs } = node.reading;
  const messages = facts.inputMessages ?? none;
  const from = afterUser(messages);
  const before = past.size > 0 ? idsBefore(messages, from) : noCounts;
  let seen: Map<string, number> | undefined;
  let unrepeated: ReadonlyMap<string, number[]> | undefined;
  for (let at = from; at < messages.length; at++) {
    for (const call of messages[at]?.requested ?? none) {
      const key = identity(call);
      // Without a user message, earlier turns look like the current one.
      const pastHere = Math.max(0, (past.get(key) ?? 0) - (before.get(key) ?? 0));
      if (count((seen ??= new Map<string, number>()), key) <= known.times(call) + pastHere) continue;
      known.add(call);
      // A streamed answer may lack the call ids that the next request has, and a framework may give its own.
      const named = call.id;
      unrepeated ??= unrepeatedCalls(found, messages, index);
      const same = named === undefined ? undefined : unrepeated.get(plainIdentity(call))?.shift();
      const earlier = same === undefined ? undefined : found[same];
      if (same !== undefined && earlier !== undefined && named !== undefined) {
        found[same] = earlier.call.id === undefined ? { ...earlier, call: { ...earlier.call, ...call } } : { ...earlier, laterId: named };
        continue;
      }
      found.push({
        call,
        turn: index - 1,
        order: found.length,
        requestedAtUnixNano: node.span.startUnixNano,
        ...(asked === undefined ? {} : { askedAfterUnixNano: endOf(asked.span) }),
        answeredBy: node,
        fromLogs: fromLogs.has('inputMessages'),
      });
    }
  }
}

/** Places of the calls of earlier requests that these messages have under no id known of them, by name and arguments. */
function unrepeatedCalls(found: readonly Requested[], messages: readonly Message[], index: number): ReadonlyMap<string, number[]> {
  const repeated = new Set(messages.flatMap(({ requested }) => requested.flatMap(({ id }) => id ?? [])));
  const places = new Map<string, number[]>();
  for (const [place, { call, turn, laterId }] of found.entries()) {
    if (turn >= index || repeated.has(call.id ?? '') || repeated.has(laterId ?? '')) continue;
    const key = plainIdentity(call);
    const others = places.get(key);
    if (others === undefined) places.set(key, [place]);
    else others.push(place);
  }
  return places;
}

const noCounts: ReadonlyMap<string, number> = new Map();

function idsBefore(messages: readonly Message[], end: number): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (let at = 0; at < end; at++) for (const { id } of messages[at]?.requested ?? none) if (id !== undefined) count(found, id);
  return found;
}

/** Gives the first request that began after the one at an index ended; when clocks differ, the next one. */
function nextAmong(models: readonly Node[]): (index: number) => Node | undefined {
  const starts = models.map((node) => node.span.startUnixNano);
  const areInOrder = starts.every((start, at) => at === 0 || (starts[at - 1] ?? 0n) <= start);
  return (index) => {
    const node = models[index];
    return models[node === undefined || !areInOrder ? index + 1 : Math.max(index + 1, countBelow(starts, endOf(node.span)))];
  };
}

/** True when the request after a call holds its result. Without ids, any result counts. */
export function isResultReported({ call: { id }, answeredBy }: Requested): boolean {
  const messages = answeredBy?.reading.facts.inputMessages ?? none;
  return messages.slice(afterUser(messages)).some(({ results }) => results.some((one) => one.id === undefined || one.id === id));
}

function count(counts: Map<string, number>, key: string): number {
  const next = (counts.get(key) ?? 0) + 1;
  counts.set(key, next);
  return next;
}

/** Calls under their id and without it, as a later request may repeat them without the id. */
class KnownCalls {
  readonly #byId = new Map<string, number>();
  readonly #plain = new Map<string, number>();
  /** Written out only for a call without an id: most conversations have none. */
  #notInPlain: RequestedCall[] = [];

  add(call: RequestedCall): void {
    if (call.id !== undefined) count(this.#byId, call.id);
    this.#notInPlain.push(call);
  }

  /** Counts the calls with this one's id, or the calls like this one when it has none. */
  times(call: RequestedCall): number {
    if (call.id !== undefined) return this.#byId.get(call.id) ?? 0;
    for (const one of this.#notInPlain) count(this.#plain, plainIdentity(one));
    this.#notInPlain = [];
    return this.#plain.get(plainIdentity(call)) ?? 0;
  }
}

/** A call by its id, else by its name and arguments. */
export function identity(call: RequestedCall): string {
  return call.id ?? plainIdentity(call);
}

function plainIdentity(call: RequestedCall): string {
  return `${call.name} ${canonical(call)}`;
}

export function canonical(call: { readonly arguments?: RequestedCall['arguments']; readonly argumentsText?: string }): string {
  return call.arguments === undefined || call.arguments === null
    ? (call.argumentsText ?? '')
    : jsonText(call.arguments, { sortKeys: true });
}

/** The messages after the last one of the user. */
export function messagesAfterUser(messages: readonly Message[]): readonly Message[] {
  return messages.slice(afterUser(messages));
}

/** Index of the first message after the last one of the user. */
function afterUser(messages: readonly Message[]): number {
  return messages.findLastIndex((message) => message.role === 'user' && message.results.length === 0) + 1;
}

/** Results of calls that a run's models received. */
export interface RunResults {
  /** The result under an id; one of the current turn wins over one of the history. */
  of(id: string): ReportedResult | undefined;
  /**
   * The result of a call whose id others share: one that the first request after its turn has. The last results there belong to the calls of
   * that turn, in their order.
   */
  after(one: Requested, sharing: readonly Requested[]): ReportedResult | undefined;
}

/** Results of one run. Providers that number ids from one reuse them in each turn and run. */
export function runResults(models: readonly Node[]): RunResults {
  const [present, past] = [new Map<string, ReportedResult>(), new Map<string, ReportedResult>()];
  for (const node of models) {
    const { inputMessages = none, outputMessages = none } = node.reading.facts;
    const from = afterUser(inputMessages);
    inputMessages.forEach(({ results }, at) => addFirst(results, at < from ? past : present));
    // An SDK that runs tools itself reports the results beside the calls.
    for (const { results } of outputMessages) addFirst(results, present);
  }
  return {
    of: (id) => present.get(id) ?? past.get(id),
    after(one, sharing) {
      const ofTurn = sharing.filter(({ turn }) => turn === one.turn);
      for (let at = one.turn + 1; at < models.length; at++) {
        const messages = models[at]?.reading.facts.inputMessages ?? none;
        const told = messages.slice(afterUser(messages)).flatMap(({ results }) => results.filter(({ id }) => id === one.call.id));
        const last = told.slice(-ofTurn.length);
        if (last.length > 0) return last[ofTurn.indexOf(one)];
      }
      return undefined;
    },
  };
}

function addFirst(results: readonly ReportedResult[], found: Map<string, ReportedResult>): void {
  for (const one of results) {
    if (one.id === undefined) continue;
    const known = found.get(one.id);
    if (known === undefined) found.set(one.id, one);
    // Some SDKs report a result twice, in other words, and mark only one as an error.
    else if (one.isError === true && known.isError !== true) found.set(one.id, { ...known, isError: true });
  }
}

/** Results that any model of a trace received, for runs whose own models did not. */
export interface TraceResults {
  /** `undefined` also when the results under an id differ, as their runs are then unknown. */
  only(id: string): ReportedResult | undefined;
}

/** Computed lazily, as most runs have their own results. */
export function traceResults(nodes: readonly Node[]): TraceResults {
  let found: ReadonlyMap<string, ReportedResult | undefined> | undefined;
  return {
    only(id) {
      found ??= onlyResults(nodes);
      return found.get(id);
    },
  };
}

function onlyResults(nodes: readonly Node[]): ReadonlyMap<string, ReportedResult | undefined> {
  const found = new Map<string, ReportedResult | undefined>();
  for (const node of nodes) {
    const { inputMessages = none, outputMessages = none } = node.reading.facts;
    for (const { results } of [...inputMessages, ...outputMessages]) {
      for (const one of results) {
        if (one.id === undefined) continue;
        const known = found.get(one.id);
        if (known === undefined && !found.has(one.id)) found.set(one.id, one);
        else if (known !== undefined && !isSameResult(known, one)) found.set(one.id, undefined);
      }
    }
  }
  return found;
}

function isSameResult(one: ReportedResult, other: ReportedResult): boolean {
  return (
    one.result === other.result || jsonText(one.result ?? null, { sortKeys: true }) === jsonText(other.result ?? null, { sortKeys: true })
  );
}

/** Results without an id, in order. The longest list counts, as every request repeats the history. */
export function reportedWithoutId(models: readonly Node[]): readonly ReportedResult[] {
  let longest: readonly ReportedResult[] = none;
  for (let at = 1; at < models.length; at++) {
    const messages = models[at]?.reading.facts.inputMessages ?? none;
    const list = anonymous(messages, afterUser(messages));
    if (list.length > longest.length) longest = list;
  }
  const beside: ReportedResult[] = [];
  for (const { reading } of models) for (const one of anonymous(reading.facts.outputMessages ?? none, 0)) beside.push(one);
  return beside.length === 0 ? longest : [...longest, ...beside];
}

function anonymous(messages: readonly Message[], from: number): readonly ReportedResult[] {
  let found: ReportedResult[] | undefined;
  for (let at = from; at < messages.length; at++)
    for (const one of messages[at]?.results ?? none) if (one.id === undefined) (found ??= []).push(one);
  return found ?? none;
}
