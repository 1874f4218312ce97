/** A conversation as its turns: each message of the user begins one. */
import type { AgentTrace } from '../model/agent-trace.ts';

/** One agent trace a turn, in order; a trace that carries no messages is one turn. What stands before the first question belongs to it. */
export function turns(trace: AgentTrace): readonly AgentTrace[] {
  const messages = trace.messages ?? [];
  const starts = messages.flatMap(({ role }, at) => (role === 'user' && messages[at - 1]?.role !== 'user' ? [at] : []));
  if (starts.length === 0) return [trace];
  return starts.map((start, nth) => turnOf(trace, nth === 0 ? 0 : start, starts[nth + 1] ?? messages.length));
}

function turnOf(trace: AgentTrace, from: number, to: number): AgentTrace {
  const { input: _input, finalResponse: _response, messages = [], ...rest } = trace;
  const own = messages.slice(from, to);
  const indexes = own.flatMap(({ calls }) => calls);
  const input = own.findLast(({ role, text }) => role === 'user' && text !== undefined)?.text;
  const response = own.findLast(({ role, calls, text }) => role === 'assistant' && calls.length === 0 && text !== undefined)?.text;
  return {
    ...rest,
    ...(input === undefined ? {} : { input }),
    ...(response === undefined ? {} : { finalResponse: response }),
    toolCalls: indexes.flatMap((index) => trace.toolCalls[index] ?? []),
    messages: own.map((message) => ({ ...message, calls: message.calls.map((index) => indexes.indexOf(index)) })),
    reasoningSteps: own.flatMap(({ role, calls, text }) =>
      role === 'assistant' && calls.length > 0 && text !== undefined && text.trim() !== '' ? [text] : [],
    ),
  };
}
