/** The conversation between an agent and its model, as far as it has come before a model call. */
import { jsonText, plainText } from '../../../model/json.ts';
import type { CallId } from '../sdk.ts';
import type { CallOutcome, SimulatedCall, SimulatedRun } from '../simulated.ts';

export type SimulatedMessage =
  | { readonly role: 'system' | 'user' | 'assistant'; readonly text: string }
  | { readonly role: 'asks'; readonly calls: readonly RequestedTool[] }
  | { readonly role: 'tool'; readonly id: string; readonly tool: string; readonly text: string };

export interface RequestedTool {
  readonly id: string;
  readonly tool: string;
  readonly argumentsText: string;
}

/** What the model is sent in a turn: instructions, question, and everything since. */
export function historyBefore(run: SimulatedRun, turn: number, callId: CallId): readonly SimulatedMessage[] {
  return [
    { role: 'system', text: run.agent.system },
    { role: 'user', text: run.input },
    ...run.turns
      .slice(0, turn)
      .flatMap((one, index): readonly SimulatedMessage[] => [
        { role: 'asks', calls: askedIn(one.calls, index, callId) },
        ...one.calls.map(
          (call, at) => ({ role: 'tool', id: callId(index, at), tool: call.tool, text: outcomeText(call.outcome) }) as const,
        ),
      ]),
  ];
}

/** The message of the model in a turn. */
export function replyIn(run: SimulatedRun, turn: number, callId: CallId): SimulatedMessage {
  const asking = run.turns[turn];
  return asking === undefined
    ? { role: 'assistant', text: run.answer ?? '' }
    : { role: 'asks', calls: askedIn(asking.calls, turn, callId) };
}

function askedIn(calls: readonly SimulatedCall[], turn: number, callId: CallId): readonly RequestedTool[] {
  return calls.map((call, at) => ({ id: callId(turn, at), tool: call.tool, argumentsText: jsonText(call.arguments) }));
}

/** A result as the model receives it. */
export function outcomeText(outcome: CallOutcome): string {
  if (outcome.kind === 'returned') return plainText(outcome.result);
  return outcome.kind === 'failed' ? `error: ${outcome.message}` : '';
}

/** About four letters a token, as a rule of thumb. */
export function tokensIn(messages: readonly SimulatedMessage[]): number {
  const letters = messages.reduce(
    (sum, message) =>
      sum +
      ('text' in message
        ? message.text.length
        : message.calls.reduce((all, call) => all + call.tool.length + call.argumentsText.length, 0)),
    0,
  );
  return Math.max(1, Math.ceil(letters / 4));
}
