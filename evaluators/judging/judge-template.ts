/**
 * Reads a question template with `{{names}}` of parts of the run. Each name becomes a reference to a data block. The reader never sees the
 * blocks, so a text of the run cannot become a name.
 */
import type { AgentTrace, TruncatedPart } from '../../src/model/agent-trace.ts';
import type { Expectation } from '../../src/model/expectation.ts';
import { plainText } from '../../src/model/json.ts';
import type { SkipReason } from '../../src/model/verdict.ts';
import { cutShort, notCarried, skipped, type Skipped } from '../evidence/calls.ts';
import { conversationOf } from '../evidence/conversation.ts';
import { definitionsText, numbered, finalText, notAsked } from './judge-input.ts';
import { runView, type RunView } from './run-view.ts';
import { quoted } from '../explain/explanation.ts';

export interface TemplateFault {
  /** Line and column from 1. */
  readonly line: number;
  readonly column: number;
  readonly problem: string;
}

export interface ReadTemplate {
  /** The text with names replaced by references to their blocks. */
  readonly instruction: string;
  /** Distinct names in order of appearance. */
  readonly names: readonly string[];
  readonly faults: readonly TemplateFault[];
}

/** Limit of a name with surrounding blanks. */
const nameMax = 60;

/** Scans once. `}}` without an opening is ordinary text, as in JSON. */
export function readTemplate(template: string, known: readonly string[]): ReadTemplate {
  const names: string[] = [];
  const faults: TemplateFault[] = [];
  let instruction = '';
  let at = 0;
  for (let open = template.indexOf('{{'); open !== -1; open = template.indexOf('{{', at)) {
    instruction += template.slice(at, open);
    const close = template.slice(open, open + nameMax).indexOf('}}');
    if (close === -1) {
      faults.push({ ...placeOf(template, open), problem: 'opens {{ and never closes it with }}' });
      return { instruction: instruction + template.slice(open), names, faults };
    }
    const name = template.slice(open + 2, open + close).trim();
    at = open + close + 2;
    if (!known.includes(name))
      faults.push({ ...placeOf(template, open), problem: `names {{${name}}}, which is not known; known are ${known.join(', ')}` });
    else if (!names.includes(name)) names.push(name);
    instruction += `(block "${name}")`;
  }
  return { instruction: instruction + template.slice(at), names, faults };
}

function placeOf(text: string, at: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, at);
  return { line: before.split('\n').length, column: at - before.lastIndexOf('\n') };
}

interface Source {
  readonly of: (trace: AgentTrace, expected: Expectation, whole: AgentTrace) => string | RunView | undefined;
  /** Skip reason when the part is missing. */
  readonly reason: SkipReason;
  /** The part that a limit may have truncated. */
  readonly part?: TruncatedPart;
  /** True for a value of the run, where the question is about a part of it. */
  readonly isOfWhole?: true;
}

const reference: Source = { of: (_, { output }) => (output === undefined ? undefined : plainText(output)), reason: 'no_expectation' };

const sources: { readonly [name: string]: Source } = {
  input: { of: ({ input }) => input, reason: 'no_input', part: 'input' },
  final_response: { of: finalText, reason: 'no_final_response', part: 'final_response' },
  system_prompt: { of: ({ systemPrompt }) => systemPrompt, reason: 'no_such_target', part: 'system_prompt' },
  messages: { of: messagesText, reason: 'no_input' },
  reasoning: { of: ({ reasoningSteps }) => reasoningSteps.join('\n\n'), reason: 'no_such_target' },
  tool_calls: { of: callsView, reason: 'no_tool_calls' },
  tool_definitions: { of: definitionsText, reason: 'no_tool_definitions' },
  documents: { of: ({ documents }) => numbered(documents.flatMap(({ content }) => content ?? [])), reason: 'no_such_target' },
  expected_output: reference,
  reference,
  tasks: { of: (trace, expected) => numbered(expected.tasks ?? trace.tasks ?? []), reason: 'no_tasks' },
  constraints: { of: (trace, expected) => expected.constraints ?? trace.constraints, reason: 'no_expectation' },
  plan: { of: (_, { plan = [] }) => numbered(plan), reason: 'no_plan' },
  run_input: { of: (_trace, _expected, { input }) => input, reason: 'no_input', part: 'input', isOfWhole: true },
  run_final_response: {
    of: (_trace, _expected, whole) => finalText(whole),
    reason: 'no_final_response',
    part: 'final_response',
    isOfWhole: true,
  },
};

export const templateNames: readonly string[] = Object.keys(sources);

/** The text or run view for a name. */
/** `whole`: the run, where `trace` is a part of it. */
export function templateValue(name: string, trace: AgentTrace, expected: Expectation, whole = trace): string | RunView | Skipped {
  const source = Object.hasOwn(sources, name) ? sources[name] : undefined;
  if (source === undefined) return skipped('no_such_target', `Nothing is called ${quoted(name)}.`, notAsked);
  const truncated = (source.isOfWhole === true ? whole : trace).truncated ?? [];
  if (source.part !== undefined && truncated.includes(source.part)) return cutShort(name, notAsked);
  const value = source.of(trace, expected, whole);
  const isThere = value !== undefined && (typeof value !== 'string' || value.trim() !== '');
  if (isThere) return value;
  return (
    (name === 'tool_calls' ? notCarried(trace) : undefined) ?? skipped(source.reason, `The run has nothing for {{${name}}}.`, notAsked)
  );
}

/** `undefined` when the spans carry no calls; zero carried calls are shown. */
function callsView(trace: AgentTrace): RunView | undefined {
  if (trace.toolCalls.length === 0) return undefined;
  return runView(trace, { calls: trace.toolCalls.map((_, index) => index) });
}

/** All messages in order; a message without text names the calls that it requests. */
function messagesText(trace: AgentTrace): RunView | undefined {
  const lines = conversationOf(trace).map(
    ({ role, text, calls }) =>
      `${role}: ${text ?? ''}${calls.length === 0 ? '' : ` [calls ${calls.map((index) => `${index + 1}. ${trace.toolCalls[index]?.name ?? ''}`).join(', ')}]`}`,
  );
  const text = lines.join('\n');
  return text.trim() === '' ? undefined : { text, truncated: false, leftOut: [], entries: () => lines };
}
