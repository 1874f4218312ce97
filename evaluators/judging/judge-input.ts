/**
 * The judge input: blocks of limited length, each marked when a part of it was cut. A run without the required evidence is skipped before
 * the judge is called.
 */
import type { AgentTrace, ToolCall, ToolDefinition } from '../../src/model/agent-trace.ts';
import { chunks } from '../../src/model/chunks.ts';
import { jsonText, plainText, type JsonObject } from '../../src/model/json.ts';
import {
  type PlacedCall,
  cutShort,
  noFinalResponse,
  noInput,
  noToolCalls,
  notCarried,
  skipped,
  tooLarge,
  type Skipped,
  executedCalls,
} from '../evidence/calls.ts';
import type { DataBlock, EvaluationContext } from '../evaluator.ts';
import { lacksSources } from '../evidence/provenance.ts';
import type { Expectation } from '../../src/model/expectation.ts';

export interface JudgeInput {
  readonly title: string;
  readonly text: string;
  readonly isCut: boolean;
  /** In full, one for each message or call; absent: the text is all there is. */
  readonly entries?: () => readonly string[];
}

/** A text of the run between fixed words. */
interface Piece {
  readonly before: string;
  readonly text: string;
  readonly after: string;
}

/** Limit of a tool or role name. */
const nameMax = 100;
/** Limit of earlier messages. */
const messagesMax = 50;
/** Minimum length of a piece after cutting. */
const pieceMin = 50;
/** Length reserved for the mark of a cut. */
const markMax = 40;

export function judgeInput(title: string, text: string): JudgeInput {
  return { title, text: cut(text, blockMax), isCut: text.length > blockMax, entries: () => [text] };
}

/** Joins pieces in order and shortens the longest until all fit, so none is lost behind a long one. `together`: pieces of one entry. */
export function judgeInputPieces(title: string, pieces: readonly Piece[], together = 1): JudgeInput {
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
  return {
    ...whole,
    isCut: whole.isCut || pieces.some(({ text }) => text.length > max),
    entries: () => chunks(pieces, together).map((some) => some.map(({ before, text, after }) => `${before}${text}${after}`).join('')),
  };
}

/** The greatest common limit under which all lengths fit into the room. */
function evenMax(lengths: readonly number[], room: number): number {
  let left = room;
  for (const [at, length] of lengths.toSorted((a, b) => a - b).entries()) {
    const others = lengths.length - at;
    if (length * others > left) return Math.floor(left / others);
    left -= length;
  }
  return Infinity;
}

/** The calls with their numbers, results and errors. Calls of one model turn did not know each other's results. */
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
    2,
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

/** Tool definitions with descriptions, and with parameters when `withSchema` holds. */
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

/** The known system prompt and messages before the last user message. */
export function judgeInputBefore(trace: AgentTrace): readonly JudgeInput[] {
  return [...(trace.systemPrompt === undefined ? [] : [judgeInput('system prompt', trace.systemPrompt)]), ...judgeInputHistory(trace)];
}

/** The latest messages before the last user message; empty when unknown. */
export function judgeInputHistory({ messages = [] }: AgentTrace): readonly JudgeInput[] {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const before = messages
    .slice(0, Math.max(0, last))
    .flatMap(({ role, text }): readonly Piece[] =>
      text === undefined || text.trim() === '' || role === 'system' ? [] : [{ before: `${named(role)}: `, text, after: '\n' }],
    );
  if (before.length === 0) return [];
  const block = judgeInputPieces('earlier messages', before.slice(-messagesMax));
  return [{ ...block, isCut: block.isCut || before.length > messagesMax, entries: judgeInputPieces('', before).entries ?? (() => []) }];
}

/** A list numbered from 1. */
export function judgeInputList(title: string, texts: readonly string[]): JudgeInput {
  return judgeInputPieces(
    title,
    texts.map((text, at) => ({ before: `${at + 1}. `, text, after: '\n' })),
  );
}

export function named(name: string): string {
  return name.trim() === '' ? '(no name)' : cut(name.replaceAll(/\s+/g, ' '), nameMax);
}

/** Limit of one data block. */
export const blockMax = 30_000;
/** Limit of one result among the tool calls. */
const resultMax = 2_000;

/** The calls as a block, which is `(none)` without calls. */
export function callsText({ toolCalls }: AgentTrace): CutText {
  return {
    text: toolCalls.length === 0 ? '(none)' : callLines(toolCalls, resultMax).join('\n'),
    truncated: false,
    entries: () => callLines(toolCalls, Infinity),
  };
}

function callLines(toolCalls: readonly ToolCall[], max: number): readonly string[] {
  return toolCalls.map((call, at) => {
    const sent = call.arguments === undefined || call.arguments === null ? (call.argumentsText ?? '') : jsonText(call.arguments);
    const outcome = !call.executed
      ? 'did not run'
      : call.error !== undefined
        ? `failed: ${call.error.message}`
        : call.result === undefined
          ? 'result not recorded'
          : `returned: ${call.result === null ? '(nothing)' : plainText(call.result)}`;
    return `${at + 1}. ${call.name}(${cut(sent, max)})\n   ${cut(outcome, max)}`;
  });
}

export function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)} [cut: ${text.length - max} more characters]`;
}

export type Evidence = 'tool_calls' | 'tool_definitions' | 'input' | 'final_response';

export const notAsked: JsonObject = { judge_called: false };

/** Why the run cannot be judged; `undefined` when all evidence is present and whole. */
export function lacking(trace: AgentTrace, context: EvaluationContext, wanted: readonly Evidence[]): Skipped | undefined {
  for (const one of wanted) {
    const lack = lacks[one](trace);
    if (lack !== undefined) return { ...lack, details: notAsked };
  }
  return tooLarge(trace, context);
}

const lacks: { readonly [one in Evidence]: (trace: AgentTrace) => Skipped | undefined } = {
  tool_calls: (trace) => notCarried(trace) ?? (trace.toolCalls.length === 0 ? noToolCalls(trace) : undefined),
  tool_definitions: (trace) => {
    if (trace.toolDefinitions.length > 0) return undefined;
    return trace.truncated?.includes('spans') === true
      ? cutShort('definitions of tools')
      : skipped('no_tool_definitions', 'The spans carry no definitions of tools, so the choice of tools is unknown.');
  },
  input: (trace) => {
    if (inputText(trace).trim() === '') return noInput();
    return trace.truncated?.includes('input') === true ? cutShort('the input') : undefined;
  },
  final_response: (trace) => {
    if (finalText(trace).trim() === '') return noFinalResponse();
    return trace.truncated?.includes('final_response') === true ? cutShort('the final response') : undefined;
  },
};

/** Skips when a source of the arguments before the call was truncated, as a value may be in the lost part. */
export function sourcesCut(trace: AgentTrace, { index }: PlacedCall): Skipped | undefined {
  if (!lacksSources({ ...trace, toolCalls: trace.toolCalls.slice(0, index) })) return undefined;
  return cutShort('the system prompt or the results, where arguments come from,', notAsked);
}

export function isEvidence(need: string): need is Evidence {
  return Object.hasOwn(lacks, need);
}

/** Empty when there is none. */
export function finalText({ finalResponse }: AgentTrace): string {
  return finalResponse === undefined || finalResponse === null ? '' : plainText(finalResponse);
}

/** Empty when there is none. */
export function inputText({ input = '' }: AgentTrace): string {
  return input;
}

interface Blocks {
  readonly data: readonly DataBlock[];
  /** True when a block omits a part of the run. */
  readonly truncated: boolean;
}

/** A text that is already cut, such as a run view. */
interface CutText {
  readonly text: string;
  readonly truncated: boolean;
  /** In full, one for each message or call. */
  readonly entries?: () => readonly string[];
}

type Part = 'input' | 'final_response' | 'tool_calls';

/** Limit of one tool definition. */
const definitionMax = 1_000;

/** The first missing evidence; `undefined` when nothing is missing. */
export function lackingParts(trace: AgentTrace, context: EvaluationContext, parts: readonly Part[]): Skipped | undefined {
  const large = tooLarge(trace, context);
  if (large !== undefined) return large;
  if (parts.includes('tool_calls')) {
    const stop = notCarried(trace) ?? (executedCalls(trace).length === 0 ? noToolCalls(trace) : undefined);
    if (stop !== undefined) return stop;
  }
  if (parts.includes('input') && inputText(trace).trim() === '') return noInput(notAsked);
  if (parts.includes('final_response') && finalText(trace).trim() === '') return noFinalResponse(notAsked);
  const isCut = trace.truncated?.some((part) => parts.some((needed) => needed === part)) === true;
  return isCut ? cutShort('the input or the final response', notAsked) : undefined;
}

/** Blocks in order, without empty ones. A run view is already cut. */
export function blocksOf(given: { readonly [title: string]: string | CutText | undefined }): Blocks {
  return judgeInputBlocks(
    Object.entries(given).flatMap(([title, one]): readonly JudgeInput[] => {
      if (one === undefined) return [];
      if (typeof one === 'string') return [judgeInput(title, one)];
      const block = judgeInput(title, one.text);
      return [{ ...block, isCut: block.isCut || one.truncated, ...(one.entries === undefined ? {} : { entries: one.entries }) }];
    }),
  );
}

export function judgeInputBlocks(blocks: readonly JudgeInput[]): Blocks {
  return {
    data: blocks.map(({ title, text, isCut, entries }) =>
      entries === undefined ? { title, text } : { title, text, full: { isCut, entries } },
    ),
    truncated: blocks.some(({ isCut }) => isCut),
  };
}

/** The expected behaviour; `undefined` when no expectation states any. */
export function expectedText({ tasks, constraints, output }: Expectation): string | undefined {
  const parts = [
    ...(tasks === undefined || tasks.length === 0 ? [] : [`Tasks:\n${numbered(tasks)}`]),
    ...(constraints === undefined ? [] : [`Constraints: ${constraints}`]),
    ...(output === undefined ? [] : [`Expected final response: ${plainText(output)}`]),
  ];
  return parts.length === 0 ? undefined : parts.join('\n');
}

export function numbered(texts: readonly string[]): string {
  return texts.map((text, at) => `${at + 1}. ${text}`).join('\n');
}

export function definitionsText({ toolDefinitions }: AgentTrace): string | undefined {
  if (toolDefinitions.length === 0) return undefined;
  return toolDefinitions
    .map(({ name, description = '', inputSchema }) =>
      cut(`- ${name}: ${description}${inputSchema === undefined ? '' : ` ${jsonText(inputSchema)}`}`, definitionMax),
    )
    .join('\n');
}

/** Members of the details that say what a view of the run leaves out. */
export const cutMembers = ['truncated', 'steps_left_out'] as const;

/** Marks verdicts on a part of the run in the details. */
export function truncatedDetail(...marks: readonly boolean[]): { readonly truncated?: true } {
  return marks.includes(true) ? { truncated: true } : {};
}
