/** The messages of a run: those of its spans, else messages composed of its other parts. */
import type { AgentTrace, ToolCall, TraceMessage } from '../../src/model/agent-trace.ts';
import { plainText, type JsonValue } from '../../src/model/json.ts';

/** A message without its text: who speaks, and which calls are asked for, by their places in the trajectory. */
export type MessageOutline = Pick<TraceMessage, 'role' | 'calls'>;

/** The messages for whom texts play no part. */
export function outlineOf(trace: AgentTrace): readonly MessageOutline[] {
  return trace.messages ?? composed(trace);
}

export function conversationOf(trace: AgentTrace): readonly TraceMessage[] {
  return (
    trace.messages ??
    composed(trace).map(({ role, calls, says }) => (says === undefined ? { role, calls } : { role, text: plainText(says), calls }))
  );
}

interface Composed extends MessageOutline {
  readonly says?: JsonValue;
}

/**
 * Without messages: the input, then each turn of calls with their results, then the final response. Calls that no turn is known of make
 * a turn each; texts between them are not known.
 */
function composed(trace: AgentTrace): readonly Composed[] {
  const messages: Composed[] = trace.input === undefined ? [] : [{ role: 'user', calls: [], says: trace.input }];
  for (const calls of turnsOfCalls(trace.toolCalls)) {
    messages.push({ role: 'assistant', calls });
    for (const index of calls) {
      const result = trace.toolCalls[index]?.result;
      if (result !== undefined) messages.push({ role: 'tool', calls: [], says: result ?? '' });
    }
  }
  if (trace.finalResponse !== undefined) messages.push({ role: 'assistant', calls: [], says: trace.finalResponse });
  return messages;
}

function turnsOfCalls(calls: readonly ToolCall[]): readonly (readonly number[])[] {
  const turns: number[][] = [];
  for (const [index, { turn }] of calls.entries()) {
    const last = turns.at(-1);
    if (last !== undefined && turn !== undefined && calls[index - 1]?.turn === turn) last.push(index);
    else turns.push([index]);
  }
  return turns;
}
