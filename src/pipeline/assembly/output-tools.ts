/**
 * Output tools: frameworks let a model give its answer, mostly a structured one, as the call of a tool that does not exist. Such a call is the
 * answer and no use of a tool.
 */
import type { Message, ReportedResult, RequestedCall } from '../../../collectors/collector.ts';
import { parseText } from '../../../collectors/parsing/parsing.ts';
import { isAnswerTool } from '../../../collectors/parsing/tool-classes.ts';
import { jsonText, member, type JsonValue } from '../../model/json.ts';
import type { Requested } from './requested-calls.ts';

/** The text that frameworks send to the model after such a call. Sources: Pydantic AI, LangChain, Claude Agent SDK, Strands. */
const ACKNOWLEDGED =
  /^(?:Final result processed\.|Returning structured response: |Structured output provided successfully|Successfully validated \S+ structured output)/;
/** Members that hold an answer in words. */
const answerMembers = ['answer', 'response', 'result', 'output', 'final_answer', 'value', 'text'] as const;

/**
 * True when the call gives the answer: by its name, by the text that the framework then sends to the model, or because the agent's output equals the
 * arguments of the last call without a tool. `output`: of the agent's span, as `writtenOutput` gives it.
 */
export function isOutputCall(
  { call, turn }: Requested,
  answer: ReportedResult | undefined,
  { output, lastTurn }: { readonly output: () => string | undefined; readonly lastTurn: number },
): boolean {
  if (isAnswerTool(call.name)) return true;
  if (typeof answer?.result === 'string') return ACKNOWLEDGED.test(answer.result);
  if (answer !== undefined || turn < lastTurn || (call.arguments ?? undefined) === undefined) return false;
  const written = output();
  return [call.arguments ?? null, answerOf(call) ?? null].some((one) => jsonText(one, { sortKeys: true }) === written);
}

/** The output as one text that does not depend on the order of its members. */
export function writtenOutput(output: JsonValue | undefined): string | undefined {
  const value = typeof output === 'string' ? parseText(output) : output;
  return value === undefined ? undefined : jsonText(value, { sortKeys: true });
}

/** The answer that such a call gives: its arguments, or the only one of them when that is an answer in words. */
export function answerOf({ arguments: given, argumentsText }: Pick<RequestedCall, 'arguments' | 'argumentsText'>): JsonValue | undefined {
  if (given === undefined || given === null) return argumentsText;
  const names = Object.keys(given);
  const name = names.length === 1 ? answerMembers.find((one) => one === names[0]) : undefined;
  return name === undefined ? given : member(given, name);
}

/** The answer in the last message, where a call gives it by its name. */
export function answerIn(messages: readonly Message[] | undefined): JsonValue | undefined {
  const call = messages?.at(-1)?.requested.findLast(({ name }) => isAnswerTool(name));
  return call === undefined ? undefined : answerOf(call);
}
