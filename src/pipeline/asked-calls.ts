/** What an agent's models asked for and were told, read out of conversations that repeat their history with every request. */
import type { AskedCall, Message, ToldResult } from '../../collectors/collector.ts';
import { jsonText } from '../model/json.ts';
import { countBelow } from './times.ts';
import type { Node } from './tree.ts';

/** A call as the model's messages tell it. */
export interface Asked {
  readonly call: AskedCall;
  /** Number of the model turn that asked. */
  readonly turn: number;
  /** Position among all calls asked for. */
  readonly order: number;
  readonly askedAtUnixNano: bigint;
  readonly answeredAtUnixNano: bigint | undefined;
  readonly fromLogs: boolean;
}

/** Calls asked for by the agent's models. A later request repeats the history; what the first one held is not this run's. */
export function askedCalls(models: readonly Node[]): readonly Asked[] {
  const found: Asked[] = [];
  const starts = models.map((node) => node.span.startUnixNano);
  const known = new Map<string, number>();
  const history = models[0]?.told.facts.inputMessages ?? [];
  for (const message of history) for (const call of message.asked) if (call.id !== undefined) count(known, identity(call));
  for (const message of messagesAfterUser(history)) for (const call of message.asked) if (call.id === undefined) count(known, identity(call));
  models.forEach((node, index) => {
    const facts = node.told.facts;
    const next = nextAfter(models, index, starts);
    const times = { turn: index, askedAtUnixNano: node.span.endUnixNano, answeredAtUnixNano: next?.span.startUnixNano };
    if (index > 0) {
      const seen = new Map<string, number>();
      for (const message of messagesAfterUser(facts.inputMessages ?? [])) {
        for (const call of message.asked) {
          if (count(seen, identity(call)) <= (known.get(identity(call)) ?? 0)) continue;
          count(known, identity(call));
          // An earlier model span did not carry its answer; this request repeats it.
          found.push({ call, order: found.length, ...times, askedAtUnixNano: node.span.startUnixNano, answeredAtUnixNano: node.span.startUnixNano, turn: index - 1, fromLogs: node.told.fromLogs.has('inputMessages') });
        }
      }
    }
    for (const message of facts.outputMessages ?? []) {
      for (const call of message.asked) {
        if (call.id !== undefined && known.has(identity(call))) continue;
        count(known, identity(call));
        found.push({ call, order: found.length, ...times, fromLogs: node.told.fromLogs.has('outputMessages') });
      }
    }
  });
  return found;
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

function identity(call: AskedCall): string {
  return call.id ?? `${call.name} ${canonical(call)}`;
}

export function canonical(call: { readonly arguments?: AskedCall['arguments']; readonly argumentsText?: string }): string {
  return call.arguments === undefined || call.arguments === null ? (call.argumentsText ?? '') : jsonText(call.arguments, { sortKeys: true });
}

/** The messages of the present turn: those after the last thing that the user said. */
export function messagesAfterUser(messages: readonly Message[]): readonly Message[] {
  const last = messages.findLastIndex((message) => message.role === 'user' && message.told.length === 0);
  return messages.slice(last + 1);
}

/** Results by call id, from everything that the models of a trace were told. The first telling counts. */
export function toldById(nodes: readonly Node[]): ReadonlyMap<string, ToldResult> {
  const found = new Map<string, ToldResult>();
  for (const node of nodes) {
    // An SDK that runs the tools by itself tells the results beside the calls.
    for (const message of [...(node.told.facts.inputMessages ?? []), ...(node.told.facts.outputMessages ?? [])]) for (const one of message.told) if (one.id !== undefined && !found.has(one.id)) found.set(one.id, one);
  }
  return found;
}

/** Results without an id, in order; only the longest telling, for every request repeats the history. */
export function toldWithoutId(models: readonly Node[]): readonly ToldResult[] {
  const anonymous = (messages: readonly Message[]): ToldResult[] => messages.flatMap((message) => message.told.filter((one) => one.id === undefined));
  const lists = models.slice(1).map((node) => anonymous(messagesAfterUser(node.told.facts.inputMessages ?? [])));
  const longest = lists.reduce((found, list) => (list.length > found.length ? list : found), [] as ToldResult[]);
  return [...longest, ...models.flatMap((node) => anonymous(node.told.facts.outputMessages ?? []))];
}
