/**
 * Runs that an SDK spreads over several traces: without a span around the loop, every request, or even every span, is a separate trace. Content ties
 * the parts: a later request repeats earlier calls under the same ids, or the same history; a tool span has the id of its call; a graph's span has
 * all ids. The question to an agent that works as a tool is the text of a call.
 */
import { hash } from 'node:crypto';
import type { Message, RequestedCall } from '../../../collectors/collector.ts';
import { lastText, readMessages } from '../../../collectors/parsing/messages.ts';
import { isJsonArray, jsonText } from '../../model/json.ts';
import { canonical, messagesAfterUser } from './requested-calls.ts';
import { modelSpans } from './model-calls.ts';
import type { Node } from './span-tree.ts';

/** The ties of one part of a run, as keys. */
export interface Fragment {
  /** Keys that another part can continue. */
  readonly offers: readonly string[];
  /** Keys that this part continues, or whose part it is. */
  readonly seeks: readonly string[];
  /** True when it has results of calls that it did not request, so that an earlier part must exist. */
  readonly lacksEarlier: boolean;
}

/** The ties of some spans of a run. */
export interface Ties {
  readonly offers: readonly string[];
  readonly seeks: readonly string[];
  /** The keys of `seeks` that must exist. */
  readonly needs: readonly string[];
  /** Hash of the conversation up to the question; absent when no request has it. */
  readonly turn?: string;
  /** Keys of the texts of requested calls, which may be questions to other agents. */
  readonly tasks?: readonly string[];
  /** The key of the question, which may be the text of another agent's call. */
  readonly task?: string;
}

/** Limit of keys per part. */
export const fragmentKeysMax = 1_000;
/** Limit of earlier answers that a request seeks. */
const answersBackMax = 16;
/** Shorter texts, such as names of cities, are questions and arguments of many. */
const taskCharsMin = 12;
/** Longer texts of a call are documents. */
const taskCharsMax = 20_000;
/** Limit of texts per call. */
const textsPerCallMax = 8;

/** Ties of requests and tools without an enclosing span. */
export function tiesOf(own: readonly Node[], sessionId: string | undefined): Ties {
  const offers = new Set<string>();
  const needs = new Set<string>();
  const seeks = new Set<string>();
  const tasks = new Set<string>();
  let turn: string | undefined;
  let question: string | undefined;
  for (const {
    reading: { facts },
  } of modelSpans(own)) {
    const { inputMessages = [], outputMessages = [] } = facts;
    const after = messagesAfterUser(inputMessages);
    turn ??= turnOf(inputMessages);
    question ??= questionOf(inputMessages);
    const requested = outputMessages.flatMap((message) => message.requested);
    for (const call of requested) {
      if (call.id !== undefined) offers.add(idKey(call.id));
      else if (sessionId !== undefined) offers.add(sessionKey(sessionId, call.name, canonical(call)));
      for (const text of textsOf(call)) tasks.add(taskKey(text));
    }
    const ids = after.flatMap((message) => message.results.flatMap(({ id }) => id ?? []));
    for (const id of ids) needs.add(idKey(id));
    const isTied = requested.some((call) => call.id !== undefined);
    // An answer without call ids, as in some streams, is identified by the history that a later request repeats.
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
    ...(tasks.size === 0 ? {} : { tasks: [...tasks].slice(0, fragmentKeysMax) }),
    ...(question === undefined ? {} : { task: taskKey(question) }),
  };
}

/** Ties of a span that reports a whole conversation. */
export function tiesOfWhole({
  reading: {
    facts: { inputMessages = [], outputMessages = [] },
  },
}: Node): Ties {
  const turn = turnOf(inputMessages);
  const ids = outputMessages.flatMap((message) => message.requested.flatMap(({ id }) => id ?? []));
  return { offers: [...new Set(ids.map(idKey))].slice(0, fragmentKeysMax), seeks: [], needs: [], ...(turn === undefined ? {} : { turn }) };
}

/** Ties of joined parts. `whole`: a span that encloses them in time is among them. */
export function fragmentOf(parts: readonly Ties[], whole: boolean): Fragment {
  const offers = new Set(parts.flatMap((ties) => ties.offers));
  const turns = new Set(parts.flatMap(({ turn }) => (turn === undefined ? [] : [turnKey(turn)])));
  // Keys that were found stay in `seeks`: another part that offers them too makes the match ambiguous.
  const seeks = parts.flatMap((ties) => ties.seeks);
  const tasks = whole ? [] : parts.flatMap((ties) => ties.tasks ?? []);
  const asked = whole ? [] : parts.flatMap(({ task }) => task ?? []);
  return {
    offers: [...new Set([...offers, ...(whole ? turns : []), ...tasks])].slice(0, fragmentKeysMax),
    seeks: [...new Set([...seeks, ...(whole ? [] : turns), ...asked])].slice(0, fragmentKeysMax),
    lacksEarlier:
      !whole &&
      parts.some((ties) => ties.needs.some((key) => !offers.has(key)) && !ties.seeks.some((key) => isRequestKey(key) && offers.has(key))),
  };
}

export function isHistoryKey(key: string): boolean {
  return key.startsWith(`${ending} `) || isRequestKey(key);
}

/** The history up to an answer that requests tools. */
export function isRequestKey(key: string): boolean {
  return key.startsWith(`${requesting} `);
}

const ending = 'end';
const requesting = 'ask';

function idKey(id: string): string {
  return `id ${id}`;
}

function turnKey(turn: string): string {
  return `in ${turn}`;
}

function taskKey(text: string): string {
  return `task ${hashed([text])}`;
}

function sessionKey(sessionId: string, tool: string, written: string): string {
  return `of ${hashed([sessionId, tool, written])}`;
}

/** The texts of a call that may be a question to another agent. */
export function textsOf({ arguments: given }: RequestedCall): readonly string[] {
  const texts: string[] = [];
  for (const written of Object.values(given ?? {})) {
    // Haystack passes messages on.
    const value = isJsonArray(written) ? lastText(readMessages(written.slice(0, textsPerCallMax), 'user'), 'user') : written;
    if (typeof value !== 'string' || value.length < taskCharsMin || value.length > taskCharsMax) continue;
    if (texts.length === textsPerCallMax) break;
    texts.push(value.trim());
  }
  return texts;
}

/** The question to an agent at the beginning of a conversation; `undefined` when more came before it. */
export function questionOf(messages: readonly Message[]): string | undefined {
  const [first, ...more] = saidUntilAnswer(messages);
  return more.length === 0 && first?.role === 'user' ? first.text : undefined;
}

function turnOf(messages: readonly Message[]): string | undefined {
  const said = saidUntilAnswer(messages);
  return said.length === 0 ? undefined : hashed(said.flatMap(({ role, text }) => [role, text]));
}

/** Up to the question, without instructions and tools, which frameworks report inconsistently. */
function saidUntilAnswer(messages: readonly Message[]): readonly { readonly role: string; readonly text: string }[] {
  return messages.slice(0, messages.length - messagesAfterUser(messages).length).flatMap(({ role, text = '' }) => {
    const said = text.trim();
    return (role === 'user' || role === 'assistant') && said !== '' ? [{ role, text: said }] : [];
  });
}

/** A key for the history up to each answer of the agent, the latest last. */
function answersIn(turn: string | undefined, messages: readonly Message[]): readonly string[] {
  if (turn === undefined) return [];
  const found: string[] = [];
  let history = turn;
  for (const { role, text = '', requested, results } of messages) {
    history += jsonText([
      role,
      text.trim(),
      requested.map((call) => [call.name, canonical(call)]),
      results.map(({ result = null }) => result),
    ]);
    if (role !== 'assistant') continue;
    history = hash('sha256', history, 'base64');
    found.push(`${requested.length > 0 ? requesting : ending} ${history}`);
  }
  return found.slice(-answersBackMax);
}

function hashed(parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64');
}
