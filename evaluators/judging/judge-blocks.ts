/** The blocks of a question about a whole run, and what keeps a run from being judged at all. */
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import type { Expectation } from '../../src/model/expectation.ts';
import { jsonText, plainText } from '../../src/model/json.ts';
import { cutShort, executedCalls, noFinalResponse, noInput, noToolCalls, notCarried, tooLarge, type Skipped } from '../evidence/calls.ts';
import type { DataBlock, EvaluationContext } from '../evaluator.ts';
import { cut, judgeInput, type JudgeInput } from './judge-input.ts';
import { finalText, inputText, notAsked } from './judge-evidence.ts';
import type { RunView } from './run-view.ts';

export interface Blocks {
  readonly data: readonly DataBlock[];
  /** A block does not hold all that the run says. */
  readonly truncated: boolean;
}

export type Part = 'input' | 'final_response' | 'tool_calls';

/** Of one tool definition. */
const definitionMax = 1_000;

/** The first thing that is needed and not there. */
export function lacking(trace: AgentTrace, context: EvaluationContext, parts: readonly Part[]): Skipped | undefined {
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

/** Blocks in their order; those without a text are left out. A text may be a view of the run, which is cut already. */
export function blocksOf(given: { readonly [title: string]: string | RunView | undefined }): Blocks {
  return judgeInputBlocks(
    Object.entries(given).flatMap(([title, one]): readonly JudgeInput[] => {
      if (one === undefined) return [];
      if (typeof one === 'string') return [judgeInput(title, one)];
      const block = judgeInput(title, one.text);
      return [{ ...block, isCut: block.isCut || one.truncated }];
    }),
  );
}

export function judgeInputBlocks(blocks: readonly JudgeInput[]): Blocks {
  return { data: blocks.map(({ title, text }) => ({ title, text })), truncated: blocks.some(({ isCut }) => isCut) };
}

/** What the run is expected to do, as far as anybody says; undefined when nobody does. */
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

/** The mark in the details of a verdict on less than the whole run. */
export function truncatedDetail(...marks: readonly boolean[]): { readonly truncated?: true } {
  return marks.includes(true) ? { truncated: true } : {};
}
