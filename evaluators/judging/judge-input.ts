/** The input of a judge: blocks of bounded length, each with a mark whether a part of it was cut. */
import type { AgentTrace, ToolCall, ToolDefinition } from '../../src/model/agent-trace.ts';
import { jsonText, plainText } from '../../src/model/json.ts';
import type { PlacedCall } from '../evidence/calls.ts';
import type { DataBlock } from '../evaluator.ts';

export interface JudgeInput extends DataBlock {
  readonly isCut: boolean;
}

/** A text of the run between words of ours. */
export interface Piece {
  readonly before: string;
  readonly text: string;
  readonly after: string;
}

/** Characters of a name of a tool or a role. */
const nameMax = 100;
/** Earlier messages in the input. */
const messagesMax = 50;
/** No piece is cut to less, however many there are. */
const pieceMin = 50;
/** Characters of the mark of a cut. */
const markMax = 40;

export function judgeInput(title: string, text: string): JudgeInput {
  return { title, text: cut(text, blockMax), isCut: text.length > blockMax };
}

/** Pieces in order, of which the longest are cut until all have room: none is lost behind a long one. */
export function judgeInputPieces(title: string, pieces: readonly Piece[]): JudgeInput {
  const frame = pieces.reduce((total, { before, after }) => total + before.length + after.length + markMax, 0);
  const max = Math.max(
    pieceMin,
    evenMax(
      pieces.map(({ text }) => text.length),
      blockMax - frame,
    ),
  );
  const whole = judgeInput(
    title,
    pieces
      .map(({ before, text, after }) => `${before}${cut(text, max)}${after}`)
      .join('')
      .trimEnd(),
  );
  return { ...whole, isCut: whole.isCut || pieces.some(({ text }) => text.length > max) };
}

/** The greatest length to cut to at which all of these lengths together keep within the room. */
function evenMax(lengths: readonly number[], room: number): number {
  let left = room;
  for (const [at, length] of lengths.toSorted((a, b) => a - b).entries()) {
    const others = lengths.length - at;
    if (length * others > left) return Math.floor(left / others);
    left -= length;
  }
  return Infinity;
}

/** Calls by their numbers in the run, each with what became of it. Those of one turn of the model did not know each other's results. */
export function judgeInputCalls(calls: readonly PlacedCall[], title = 'tool calls'): JudgeInput {
  return judgeInputPieces(
    title,
    calls.flatMap(({ index, call }, at): readonly Piece[] => {
      const before = calls[at - 1];
      const together =
        before !== undefined && call.turn !== undefined && before.call.turn === call.turn
          ? ` (asked for together with call ${before.index + 1})`
          : '';
      return [
        { before: `${index + 1}. ${named(call.name)}(`, text: sentText(call), after: `)${together}\n   ` },
        { ...became(call), after: '\n' },
      ];
    }),
  );
}

function sentText({ arguments: sent, argumentsText, truncated }: ToolCall): string {
  if (sent !== undefined && sent !== null) return jsonText(sent);
  return (
    argumentsText ?? (truncated?.arguments === undefined ? 'arguments not recorded' : `${truncated.arguments} [cut before it was recorded]`)
  );
}

function became({ executed, error, result, truncated }: ToolCall): Omit<Piece, 'after'> {
  if (!executed) return { before: 'did not run', text: '' };
  if (error !== undefined) return { before: 'failed: ', text: error.message };
  if (result === null) return { before: 'returned nothing', text: '' };
  if (result !== undefined) return { before: 'returned: ', text: plainText(result) };
  return truncated?.result === undefined
    ? { before: 'result not recorded', text: '' }
    : { before: 'returned: ', text: `${truncated.result} [cut before it was recorded]` };
}

/** Definitions with their descriptions, and with the parameters of those that `withSchema` holds for. */
export function judgeInputDefinitions(
  definitions: readonly ToolDefinition[],
  withSchema: (name: string) => boolean,
  title = 'available tools',
): JudgeInput {
  return judgeInputPieces(
    title,
    definitions.flatMap(({ name, description = '', inputSchema }): readonly Piece[] => {
      const schema =
        inputSchema !== undefined && withSchema(name) ? [{ before: '  parameters: ', text: jsonText(inputSchema), after: '\n' }] : [];
      return [{ before: `- ${named(name)}: `, text: description.trim() === '' ? '(no description)' : description, after: '\n' }, ...schema];
    }),
  );
}

/** The system prompt and the messages before the last message of the user, as far as they are known. */
export function judgeInputBefore(trace: AgentTrace): readonly JudgeInput[] {
  return [...(trace.systemPrompt === undefined ? [] : [judgeInput('system prompt', trace.systemPrompt)]), ...judgeInputHistory(trace)];
}

/** The newest messages before the last message of the user; no block when none is known. */
export function judgeInputHistory({ messages = [] }: AgentTrace): readonly JudgeInput[] {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const before = messages
    .slice(0, Math.max(0, last))
    .flatMap(({ role, text }): readonly Piece[] =>
      text === undefined || text.trim() === '' || role === 'system' ? [] : [{ before: `${named(role)}: `, text, after: '\n' }],
    );
  if (before.length === 0) return [];
  const block = judgeInputPieces('earlier messages', before.slice(-messagesMax));
  return [{ ...block, isCut: block.isCut || before.length > messagesMax }];
}

/** Numbered from 1. */
export function judgeInputList(title: string, texts: readonly string[]): JudgeInput {
  return judgeInputPieces(
    title,
    texts.map((text, at) => ({ before: `${at + 1}. `, text, after: '\n' })),
  );
}

export function named(name: string): string {
  return name.trim() === '' ? '(no name)' : cut(name.replaceAll(/\s+/g, ' '), nameMax);
}

/** Characters of one block of data. */
export const blockMax = 30_000;
/** Characters of one result among the tool calls. */
const resultMax = 2_000;

export function callsText({ toolCalls }: AgentTrace): string {
  if (toolCalls.length === 0) return '(none)';
  return toolCalls
    .map((call, at) => {
      const sent = call.arguments === undefined || call.arguments === null ? (call.argumentsText ?? '') : jsonText(call.arguments);
      const outcome = !call.executed
        ? 'did not run'
        : call.error !== undefined
          ? `failed: ${call.error.message}`
          : call.result === undefined
            ? 'result not recorded'
            : `returned: ${call.result === null ? '(nothing)' : plainText(call.result)}`;
      return `${at + 1}. ${call.name}(${cut(sent, resultMax)})\n   ${cut(outcome, resultMax)}`;
    })
    .join('\n');
}

export function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)} [cut: ${text.length - max} more characters]`;
}
