/** The messages of a run: as they were told, else put together out of what else is known of it. */
import type { AgentTrace, ToolCall, TraceMessage } from '../src/model/agent-trace.ts';
import { plainText } from '../src/model/json.ts';

/**
 * Without messages: the input, then each turn of calls with their results, then the final response. Calls that no turn is known of make
 * a turn each; texts between them are not known.
 */
export function conversationOf(trace: AgentTrace): readonly TraceMessage[] {
  if (trace.messages !== undefined) return trace.messages;
  const messages: TraceMessage[] = trace.input === undefined ? [] : [{ role: 'user', text: trace.input, calls: [] }];
  for (const turn of turnsOfCalls(trace.toolCalls)) {
    messages.push({ role: 'assistant', calls: turn });
    messages.push(...turn.flatMap((index) => resultMessage(trace.toolCalls[index])));
  }
  if (trace.finalResponse !== undefined) messages.push({ role: 'assistant', text: plainText(trace.finalResponse), calls: [] });
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

function resultMessage(call: ToolCall | undefined): readonly TraceMessage[] {
  return call?.result === undefined ? [] : [{ role: 'tool', text: plainText(call.result ?? ''), calls: [] }];
}
