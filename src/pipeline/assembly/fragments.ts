/**
 * Runs that an SDK spreads over several traces: with no span around the loop every request to a model is a trace of its own, and some
 * SDKs even make one of every span. What ties such parts together is what they say: a later request repeats the calls that an earlier
 * one asked for, under the same ids, or at least the same history; a tool's span has the id of the call; a graph's span has them all.
 */
import { hash } from 'node:crypto';
import type { Message } from '../../../collectors/collector.ts';
import { jsonText } from '../../model/json.ts';
import { canonical, messagesAfterUser } from './requested-calls.ts';
import { modelSpans } from './model-calls.ts';
import type { Node } from './span-tree.ts';

/** The ties of one part of such a run, as keys. */
export interface Fragment {
  /** What others can go on from. */
  readonly offers: readonly string[];
  /** What it goes on from, or is part of. */
  readonly seeks: readonly string[];
  /** True: it was told about calls that nobody in it asked for, so an earlier part must be somewhere. */
  readonly lacksEarlier: boolean;
}

/** Ties of some spans, before it is known whether they are all of their run. */
export interface Ties {
  readonly offers: readonly string[];
  readonly seeks: readonly string[];
  /** Those of `seeks` that must exist somewhere. */
  readonly needs: readonly string[];
  /** Hash of what the user and the agent had said up to the question; absent where no request tells it. */
  readonly turn?: string;
}

/** More keys than this are not kept of one part. */
export const fragmentKeysMax = 1_000;
/** A request looks this many answers back for the one that it goes on from. */
const answersBackMax = 16;

/** Requests and tools with nothing around them. */
export function tiesOf(own: readonly Node[], sessionId: string | undefined): Ties {
  const offers = new Set<string>();
  const needs = new Set<string>();
  const seeks = new Set<string>();
  let turn: string | undefined;
  for (const {
    reading: { facts },
  } of modelSpans(own)) {
    const { inputMessages = [], outputMessages = [] } = facts;
    const after = messagesAfterUser(inputMessages);
    turn ??= turnOf(inputMessages);
    const asked = outputMessages.flatMap((message) => message.asked);
    for (const call of asked) {
      if (call.id !== undefined) offers.add(idKey(call.id));
      else if (sessionId !== undefined) offers.add(sessionKey(sessionId, call.name, canonical(call)));
    }
    const ids = after.flatMap((message) => message.told.flatMap(({ id }) => id ?? []));
    for (const id of ids) needs.add(idKey(id));
    const isTied = asked.some((call) => call.id !== undefined);
    // An answer that tells its calls without ids, as some do when it is streamed, is known by the history that a later request repeats.
    if (ids.length > 0 || !isTied) for (const key of answersIn(turnOf(inputMessages), after)) seeks.add(key);
    if (!isTied && outputMessages.length > 0)
      for (const key of answersIn(turnOf(inputMessages), [...after, ...outputMessages]).slice(-1)) offers.add(key);
  }
  for (const {
    reading: {
      facts: { role, tool },
    },
  } of own) {
    if (role !== 'tool' || tool === undefined) continue;
    if (tool.id !== undefined) seeks.add(idKey(tool.id));
    else if (sessionId !== undefined && tool.name !== undefined) seeks.add(sessionKey(sessionId, tool.name, canonical(tool)));
  }
  const others = (keys: ReadonlySet<string>): readonly string[] => [...keys].filter((key) => !offers.has(key)).slice(0, fragmentKeysMax);
  return {
    offers: [...offers].slice(0, fragmentKeysMax),
    needs: others(needs),
    seeks: others(new Set([...needs, ...seeks])),
    ...(turn === undefined ? {} : { turn }),
  };
}

/** A span that tells a whole conversation although nothing lies below it. */
export function tiesOfWhole({
  reading: {
    facts: { inputMessages = [], outputMessages = [] },
  },
}: Node): Ties {
  const turn = turnOf(inputMessages);
  const ids = outputMessages.flatMap((message) => message.asked.flatMap(({ id }) => id ?? []));
  return { offers: [...new Set(ids.map(idKey))].slice(0, fragmentKeysMax), seeks: [], needs: [], ...(turn === undefined ? {} : { turn }) };
}

/** The ties of parts that were put together. `whole`: a span that encloses them in time is among them. */
export function fragmentOf(parts: readonly Ties[], whole: boolean): Fragment {
  const offers = new Set(parts.flatMap((ties) => ties.offers));
  const turns = new Set(parts.flatMap(({ turn }) => (turn === undefined ? [] : [turnKey(turn)])));
  // What was found is sought further: if somebody else offers it too, it was not theirs to give.
  const seeks = parts.flatMap((ties) => ties.seeks);
  return {
    offers: [...offers, ...(whole ? turns : [])].slice(0, fragmentKeysMax),
    seeks: [...new Set([...seeks, ...(whole ? [] : turns)])].slice(0, fragmentKeysMax),
    lacksEarlier:
      !whole &&
      parts.some((ties) => ties.needs.some((key) => !offers.has(key)) && !ties.seeks.some((key) => isAskingKey(key) && offers.has(key))),
  };
}

export function isHistoryKey(key: string): boolean {
  return key.startsWith(`${ending} `) || isAskingKey(key);
}

/** The history up to an answer that asks for tools. */
export function isAskingKey(key: string): boolean {
  return key.startsWith(`${asking} `);
}

const ending = 'end';
const asking = 'ask';

function idKey(id: string): string {
  return `id ${id}`;
}

function turnKey(turn: string): string {
  return `in ${turn}`;
}

function sessionKey(sessionId: string, tool: string, written: string): string {
  return `of ${hashed([sessionId, tool, written])}`;
}

/** Instructions and tools are left out: frameworks tell them here and leave them out there. */
function turnOf(messages: readonly Message[]): string | undefined {
  const question = messages.slice(0, messages.length - messagesAfterUser(messages).length);
  const said = question.flatMap(({ role, text = '' }) =>
    (role === 'user' || role === 'assistant') && text.trim() !== '' ? [role, text.trim()] : [],
  );
  return said.length === 0 ? undefined : hashed(said);
}

/** A key for the history up to each answer of the agent's, the latest last. */
function answersIn(turn: string | undefined, messages: readonly Message[]): readonly string[] {
  if (turn === undefined) return [];
  const found: string[] = [];
  let history = turn;
  for (const { role, text = '', asked, told } of messages) {
    history += jsonText([role, text.trim(), asked.map((call) => [call.name, canonical(call)]), told.map(({ result = null }) => result)]);
    if (role !== 'assistant') continue;
    history = hash('sha256', history, 'base64');
    found.push(`${asked.length > 0 ? asking : ending} ${history}`);
  }
  return found.slice(-answersBackMax);
}

function hashed(parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64');
}
