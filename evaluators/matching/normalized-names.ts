/** Tool names without the random suffixes that some frameworks add, for evaluators that compare names. */
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import type { Expectation } from '../../src/model/expectation.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { Outcome } from '../../src/model/verdict.ts';
import type { Subject } from '../evaluator.ts';
import { normalizedName } from './names.ts';

export const normalizeToolNamesSchema: JsonObject = {
  type: 'boolean',
  description:
    'Leave out random suffixes of the names of called tools, as in delegate_to_agent_xg7c; names of defined and of expected tools are kept. The details list each change.',
};

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

/** Evaluates under normalised names when asked to, and says in the details which names were changed. */
export function underNormalizedNames(
  subject: Subject,
  on: boolean,
  evaluate: (subject: Subject) => Outcome,
  names: readonly string[] = [],
): Outcome {
  const normalized = normalizedNames(subject, on, names);
  return withChanges(evaluate(normalized.subject), normalized);
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
