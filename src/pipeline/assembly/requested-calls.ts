/** What an agent's models asked for and were told, read out of conversations that repeat their history with every request. */
import type { RequestedCall, Message, ReportedResult } from '../../../collectors/collector.ts';
import { jsonText } from '../../model/json.ts';
import { countBelow } from '../../model/nano-time.ts';
import type { Node } from './span-tree.ts';

/** A call as the model's messages tell it. */
export interface Requested {
  readonly call: RequestedCall;
  /** Number of the model turn that asked. */
  readonly turn: number;
  /** Position among all calls asked for. */
  readonly order: number;
  readonly askedAtUnixNano: bigint;
  readonly answeredAtUnixNano: bigint | undefined;
  readonly fromLogs: boolean;
}

/** Calls asked for by the agent's models. A later request repeats the history; what the first one held is not this run's. */
export function requestedCalls(models: readonly Node[]): readonly Requested[] {
  const found: Requested[] = [];
  const starts = models.map((node) => node.span.startUnixNano);
  const [known, past] = [new Map<string, number>(), new Map<string, number>()];
  const latest = new Map<string, RequestedCall>();
  const history = models[0]?.reading.facts.inputMessages ?? none;
  const present = afterUser(history);
  history.forEach(({ asked }, at) => {
    for (const call of asked) {
      if (at >= present) countCall(known, call);
      else if (call.id !== undefined) count(past, call.id);
      if (call.id !== undefined) latest.set(call.id, call);
    }
  });
  models.forEach((node, index) => {
    if (index > 0) addRepeated(node, index, known, past, found);
    const answeredAtUnixNano = nextAfter(models, index, starts)?.span.startUnixNano;
    const isAskedAgain = asksAgain(node, latest);
    for (const message of node.reading.facts.outputMessages ?? none) {
      for (const call of message.asked) {
        const key = identity(call);
        if (call.id !== undefined && (known.has(key) || past.has(key)) && !isAskedAgain(call, call.id)) continue;
        countCall(known, call);
        if (call.id !== undefined) latest.set(call.id, call);
        found.push({
          call,
          turn: index,
          order: found.length,
          askedAtUnixNano: node.span.endUnixNano,
          answeredAtUnixNano,
          fromLogs: node.reading.fromLogs.has('outputMessages'),
        });
      }
    }
  });
  return found;
}

const none: readonly never[] = [];

/**
 * Providers that count ids from one give a later turn the ids of an earlier one. A known id is a new call where the request already holds its result, unless the answer repeats
 * the history: then it tells that result too.
 */
function asksAgain({ reading: { facts } }: Node, latest: ReadonlyMap<string, RequestedCall>): (call: RequestedCall, id: string) => boolean {
  const taken = new Set<string>();
  let before: ReadonlySet<string> | undefined;
  let beside: ReadonlySet<string> | undefined;
  return (call, id) => {
    before ??= toldIds(facts.inputMessages);
    beside ??= toldIds(facts.outputMessages);
    const last = latest.get(id);
    if (taken.has(id) || !before.has(id) || (beside.has(id) && last !== undefined && isSameCall(last, call))) return false;
    taken.add(id);
    return true;
  };
}

function toldIds(messages: readonly Message[] = none): ReadonlySet<string> {
  return new Set(messages.flatMap(({ told }) => told.flatMap(({ id }) => id ?? [])));
}

function isSameCall(one: RequestedCall, other: RequestedCall): boolean {
  return one.name === other.name && canonical(one) === canonical(other);
}

/** Calls that an earlier model span asked for without carrying its answer: this request repeats it. */
function addRepeated(
  { reading: { facts, fromLogs }, span: { startUnixNano } }: Node,
  index: number,
  known: Map<string, number>,
  past: ReadonlyMap<string, number>,
  found: Requested[],
): void {
  const messages = facts.inputMessages ?? none;
  const from = afterUser(messages);
  const [before, seen] = [new Map<string, number>(), new Map<string, number>()];
  if (past.size > 0)
    for (let at = 0; at < from; at++) for (const { id } of messages[at]?.asked ?? none) if (id !== undefined) count(before, id);
  for (let at = from; at < messages.length; at++) {
    for (const call of messages[at]?.asked ?? none) {
      const key = identity(call);
      // A request without a message of the user shows earlier turns as if they were the present one.
      const pastHere = Math.max(0, (past.get(key) ?? 0) - (before.get(key) ?? 0));
      if (count(seen, key) <= (known.get(key) ?? 0) + pastHere) continue;
      countCall(known, call);
      const withoutId =
        call.id === undefined ? -1 : found.findIndex((one) => one.call.id === undefined && one.turn < index && isSameCall(one.call, call));
      const asked = found[withoutId];
      // A streamed answer may tell its calls without their ids, which the next request does.
      if (asked !== undefined) {
        found[withoutId] = { ...asked, call: { ...asked.call, ...call } };
        continue;
      }
      found.push({
        call,
        turn: index - 1,
        order: found.length,
        askedAtUnixNano: startUnixNano,
        answeredAtUnixNano: startUnixNano,
        fromLogs: fromLogs.has('inputMessages'),
      });
    }
  }
}

/** The first model that began when this one had ended. */
function nextAfter(models: readonly Node[], index: number, starts: readonly bigint[]): Node | undefined {
  return models[Math.max(index + 1, countBelow(starts, models[index]?.span.endUnixNano ?? 0n))];
}

function count(counts: Map<string, number>, key: string): number {
  const next = (counts.get(key) ?? 0) + 1;
  counts.set(key, next);
  return next;
}

/** A later request may repeat a call without the id that the answer told it with, so that it counts under both. */
function countCall(known: Map<string, number>, call: RequestedCall): void {
  if (call.id !== undefined) count(known, call.id);
  count(known, plainIdentity(call));
}

function identity(call: RequestedCall): string {
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

/** The messages of the present turn: those after the last thing that the user said. */
export function messagesAfterUser(messages: readonly Message[]): readonly Message[] {
  return messages.slice(afterUser(messages));
}

/** Where they begin. */
function afterUser(messages: readonly Message[]): number {
  return messages.findLastIndex((message) => message.role === 'user' && message.told.length === 0) + 1;
}

/** What the models of a run were told under call ids. */
export interface OwnReadings {
  /** The result under an id: that of the present turn before one that its history holds. */
  of(id: string): ReportedResult | undefined;
  /** The result under an id that several calls of the run have: what the first model after this turn was told last. */
  after(turn: number, id: string): ReportedResult | undefined;
}

/** Tellings of one run. Providers that count ids from one give each turn, and each run, the same ones. */
export function ownReadings(models: readonly Node[]): OwnReadings {
  const [present, past] = [new Map<string, ReportedResult>(), new Map<string, ReportedResult>()];
  for (const node of models) {
    const { inputMessages = none, outputMessages = none } = node.reading.facts;
    const from = afterUser(inputMessages);
    inputMessages.forEach(({ told }, at) => addFirst(told, at < from ? past : present));
    // An SDK that runs the tools by itself tells the results beside the calls.
    for (const { told } of outputMessages) addFirst(told, present);
  }
  return {
    of: (id) => present.get(id) ?? past.get(id),
    after(turn, id) {
      for (let at = turn + 1; at < models.length; at++) {
        const messages = models[at]?.reading.facts.inputMessages ?? none;
        const told = messages.slice(afterUser(messages)).findLast((message) => message.told.some((one) => one.id === id))?.told;
        if (told !== undefined) return told.findLast((one) => one.id === id);
      }
      return undefined;
    },
  };
}

function addFirst(told: readonly ReportedResult[], found: Map<string, ReportedResult>): void {
  for (const one of told) {
    if (one.id === undefined) continue;
    const known = found.get(one.id);
    if (known === undefined) found.set(one.id, one);
    // Some tell a result twice, and only once that it is an error.
    else if (one.isError === true && known.isError !== true && isSameResult(known, one)) found.set(one.id, { ...known, isError: true });
  }
}

/** What any model of a trace was told, for the runs whose own models were not. */
export interface TracedReadings {
  /** Undefined too where models were told different results under the id: which run each belongs to is not known then. */
  only(id: string): ReportedResult | undefined;
}

/** Read when the first run asks for it: most runs are told their results themselves. */
export function tracedReadings(nodes: readonly Node[]): TracedReadings {
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
    for (const { told } of [...inputMessages, ...outputMessages]) {
      for (const one of told) {
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

/** Results without an id, in order; only the longest telling, for every request repeats the history. */
export function reportedWithoutId(models: readonly Node[]): readonly ReportedResult[] {
  let longest: readonly ReportedResult[] = none;
  for (let at = 1; at < models.length; at++) {
    const messages = models[at]?.reading.facts.inputMessages ?? none;
    const list = anonymous(messages, afterUser(messages));
    if (list.length > longest.length) longest = list;
  }
  const beside = models.flatMap(({ reading: { facts } }) => anonymous(facts.outputMessages ?? none, 0));
  return beside.length === 0 ? longest : [...longest, ...beside];
}

function anonymous(messages: readonly Message[], from: number): readonly ReportedResult[] {
  let found: ReportedResult[] | undefined;
  for (let at = from; at < messages.length; at++)
    for (const one of messages[at]?.told ?? none) if (one.id === undefined) (found ??= []).push(one);
  return found ?? none;
}
