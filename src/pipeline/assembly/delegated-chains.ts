/**
 * Finds sub-agents that work as a tool, where every request is a separate trace and no span names the agent. The text of a call is the question of
 * another conversation, which takes place between that call and its result. The answer of that conversation is the result.
 */
import type { Message, RequestedCall } from '../../../collectors/collector.ts';
import { lastText } from '../../../collectors/parsing/messages.ts';
import { plainText } from '../../model/json.ts';
import { type Chain, mayBeOne, sessionOf, slackNano } from './fragment-chains.ts';
import { questionOf, textsOf } from './fragments.ts';
import { modelSpans } from './model-calls.ts';
import type { Node } from './span-tree.ts';

export interface Delegation {
  /** The chain whose model requested the call. */
  readonly by: Chain;
  readonly tool: string;
}

/** More calls with one text do not show whose question it is. */
const callsPerTextMax = 64;

interface OpenCall {
  readonly by: Chain;
  readonly call: RequestedCall;
  readonly request: Node;
  /** The next request of the same chain, whose messages hold the result; undefined: it has not arrived. */
  readonly next: Node | undefined;
}

/** By the chain that does the work. A chain that fits several calls belongs to none. */
export function delegations(chains: readonly Chain[]): ReadonlyMap<Chain, Delegation> {
  const found = new Map<Chain, Delegation>();
  if (chains.length < 2) return found;
  const requests = new Map(chains.map((chain) => [chain, modelSpans(chain.pieces.flatMap(({ own }) => own)).filter(tellsMessages)]));
  const calls = new Map<string, OpenCall[]>();
  for (const [by, nodes] of requests)
    nodes.forEach((request, at) => {
      for (const { requested } of request.reading.facts.outputMessages ?? [])
        for (const call of requested)
          for (const text of textsOf(call)) {
            const open = { by, call, request, next: nodes[at + 1] };
            const others = calls.get(text);
            if (others === undefined) calls.set(text, [open]);
            else if (others.length <= callsPerTextMax) others.push(open);
          }
    });
  if (calls.size === 0) return found;
  for (const [chain, nodes] of requests) {
    const question = questionOf(nodes[0]?.reading.facts.inputMessages ?? []);
    const asking = question === undefined ? [] : (calls.get(question) ?? []);
    const fitting =
      asking.length > callsPerTextMax
        ? []
        : asking.filter((open) => open.by !== chain && mayBeOne(sessionOf(open.by.pieces), sessionOf(chain.pieces)) && fits(open, nodes));
    const [only] = fitting;
    if (only !== undefined && fitting.length === 1) found.set(chain, { by: only.by, tool: only.call.name });
  }
  return found;
}

/** True when the node has messages, which a frame around a request may lack. */
function tellsMessages({ reading: { facts } }: Node): boolean {
  return (facts.inputMessages ?? facts.outputMessages) !== undefined;
}

function fits({ call, request, next }: OpenCall, nodes: readonly Node[]): boolean {
  const [first, last] = [nodes[0], nodes.at(-1)];
  if (first === undefined || last === undefined) return false;
  if (request.span.endUnixNano > first.span.startUnixNano + slackNano || request.span.startUnixNano >= first.span.startUnixNano)
    return false;
  if (next === undefined) return true;
  if (last.span.endUnixNano > next.span.startUnixNano + slackNano) return false;
  const answer = lastText(last.reading.facts.outputMessages ?? [], 'assistant');
  const result = resultOf(call, next.reading.facts.inputMessages ?? []);
  return result === undefined || answer === undefined || result.trim() === answer.trim();
}

/** `undefined`: no message has it, or none that is known to be of this call. */
function resultOf({ id }: RequestedCall, messages: readonly Message[]): string | undefined {
  if (id === undefined) return undefined;
  for (const { results } of messages)
    for (const { id: of, result } of results) if (of === id && result !== undefined) return plainText(result);
  return undefined;
}
