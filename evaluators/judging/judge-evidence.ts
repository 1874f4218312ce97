/** The evidence that a judge needs. A run without it is skipped, and the judge is not called. */
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import { plainText, type JsonObject } from '../../src/model/json.ts';
import {
  cutShort,
  noFinalResponse,
  noInput,
  noToolCalls,
  notCarried,
  skipped,
  tooLarge,
  type PlacedCall,
  type Skipped,
} from '../evidence/calls.ts';
import type { EvaluationContext } from '../evaluator.ts';
import { lacksSources } from '../evidence/provenance.ts';

export type Evidence = 'tool_calls' | 'tool_definitions' | 'input' | 'final_response';

export const notAsked: JsonObject = { judge_called: false };

/** Why the run cannot be judged; `undefined` when all of it is there, and whole. */
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
      : skipped(
          'no_tool_definitions',
          'The spans carry no definitions of tools, so that nothing says which ones there were to choose from.',
        );
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

/** A source of the arguments was cut short before the call: a value may have stood in the missing part. */
export function sourcesCut(trace: AgentTrace, { index }: PlacedCall): Skipped | undefined {
  if (!lacksSources({ ...trace, toolCalls: trace.toolCalls.slice(0, index) })) return undefined;
  return cutShort('the system prompt or the results, where arguments come from,', notAsked);
}

export function isEvidence(need: string): need is Evidence {
  return Object.hasOwn(lacks, need);
}

/** Empty where there is none. */
export function finalText({ finalResponse }: AgentTrace): string {
  return finalResponse === undefined || finalResponse === null ? '' : plainText(finalResponse);
}

/** Empty where there is none. */
export function inputText({ input = '' }: AgentTrace): string {
  return input;
}
