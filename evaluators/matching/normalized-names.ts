/** Tool names without the random suffixes that some frameworks add, for evaluators that compare names. */
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import type { Expectation } from '../../src/model/expectation.ts';
import type { Outcome } from '../../src/model/verdict.ts';
import { flag } from '../configuration/option-table.ts';
import type { EvaluationContext, Subject } from '../evaluator.ts';
import { normalizedName } from './names.ts';

export const normalizeToolNames = flag(
  'Leave out random suffixes of the names of called tools, as in delegate_to_agent_xg7c; names of defined and of expected tools are kept. The details list each change.',
);

export interface Normalized {
  readonly subject: Subject;
  /** Each name that was changed, once. */
  readonly changes: readonly { readonly name: string; readonly normalized: string }[];
}

/** The subject with normalised names when asked to. `names` are expected besides those in the expectation. */
export function normalizedNames(subject: Subject, on: boolean, names: readonly string[] = []): Normalized {
  if (!on) return { subject, changes: [] };
  const known = new Set([...subject.trace.toolDefinitions.map(({ name }) => name), ...expectedNames(subject.expected), ...names]);
  const changes = new Map<string, string>();
  for (const { name } of subject.trace.toolCalls) {
    const normalized = normalizedName(name, known);
    if (normalized !== name) changes.set(name, normalized);
  }
  const trace: AgentTrace = {
    ...subject.trace,
    toolCalls: subject.trace.toolCalls.map((call) => ({ ...call, name: changes.get(call.name) ?? call.name })),
  };
  return { subject: { ...subject, trace }, changes: [...changes].map(([name, normalized]) => ({ name, normalized })) };
}

/** The rule under normalised names when the options ask for them. The details list the names that it changes. */
export function underNormalizedNames<Options extends { readonly normalizeToolNames: boolean }>(
  evaluate: (subject: Subject, options: Options, context: EvaluationContext) => Outcome,
  namesIn: (options: Options) => readonly string[] = () => [],
): typeof evaluate {
  return (subject, options, context) => {
    const normalized = normalizedNames(subject, options.normalizeToolNames, namesIn(options));
    return withChanges(evaluate(normalized.subject, options, context), normalized);
  };
}

export function withChanges(outcome: Outcome, { changes }: Normalized): Outcome {
  return changes.length === 0 ? outcome : { ...outcome, details: { ...outcome.details, normalized: changes } };
}

function expectedNames({
  toolCalls = [],
  toolOutputs = [],
  toolCallsCount = [],
  toolCallsOrder = [],
  messages = [],
}: Expectation): readonly string[] {
  return [
    ...[...toolCalls, ...toolOutputs, ...toolCallsCount, ...messages.flatMap((message) => message.toolCalls)].map(({ name }) => name),
    ...toolCallsOrder,
  ];
}
