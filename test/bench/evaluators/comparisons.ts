/** The same work done by us and by another library; both must reach the same verdict before they are measured. */
import { deepStrictEqual } from 'node:assert';
import { configuredEvaluator, type ConfiguredRule, type EvaluatorEntry } from '../../../evaluators/configuration/configured.ts';
import type { EvaluationContext } from '../../../evaluators/evaluator.ts';
import { readExpectation } from '../../../evaluators/expectation/expectation.ts';
import { evaluators } from '../../../evaluators/index.ts';
import { fromMessages } from '../../../src/library/openai-messages.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import type { Work } from './measuring.ts';
import type { Peers } from './peers.ts';
import { measuredRun } from './traces.ts';

export interface Comparison {
  readonly what: string;
  readonly against: string;
  readonly ours: Work;
  readonly theirs: Work;
}

const calls = 10;

export async function comparisons(peers: Peers, context: EvaluationContext): Promise<readonly Comparison[]> {
  const { messages, trace, expected } = measuredRun(calls);
  // As from a separate file: nothing is equal for being the same object.
  const reference = structuredClone(messages);
  // Each call with its result, in the opposite order: none is at its place.
  const turned = structuredClone([
    ...messages.slice(0, 1),
    ...Array.from({ length: calls }, (_, at) => messages.slice(1 + 2 * at, 3 + 2 * at))
      .toReversed()
      .flat(),
    ...messages.slice(1 + 2 * calls),
  ]);
  const found: Comparison[] = [];
  for (const compare of ['strict', 'unordered'] as const) {
    const match = peers.trajectoryMatch(compare);
    const theirs: Work = { kind: 'later', run: () => match({ outputs: messages, referenceOutputs: reference }) };
    const rule = ruleOf({ use: 'trajectory_match', options: { compare, arguments: { mode: 'exact' } } });
    const read = { trace: fromMessages(messages).trace, expected: readExpectation({ messages: reference }).expectation };
    deepStrictEqual(
      [((await theirs.run()) as { readonly score: unknown }).score, scoreOf(rule, read.trace, read.expected, context)],
      [true, 1],
    );
    found.push({
      what: `${compare} match, run and reference read before`,
      against: `agentevals ${compare}`,
      ours: { kind: 'now', run: () => rule.evaluate(read.trace, read.expected, context) },
      theirs,
    });
    found.push({
      what: `${compare} match, messages of both read each time`,
      against: `agentevals ${compare}`,
      ours: {
        kind: 'now',
        run: () => rule.evaluate(fromMessages(messages).trace, readExpectation({ messages: reference }).expectation, context),
      },
      theirs,
    });
  }
  found.push(turnedRow(peers, context, { messages, reference: turned }));
  const similarity = ruleOf({ use: 'json_similarity' });
  const output = trace.finalResponse ?? null;
  const wanted = readExpectation({ output: expected['output'] ?? null }).expectation;
  const diff: Work = { kind: 'later', run: () => peers.jsonDiff({ output, expected: expected['output'] }) };
  for (const score of [((await diff.run()) as { readonly score: unknown }).score, scoreOf(similarity, trace, wanted, context)])
    deepStrictEqual(typeof score === 'number' && score > 0.5 && score < 1, true);
  found.push({
    what: 'json_similarity of two near values',
    against: 'autoevals JSONDiff',
    ours: { kind: 'now', run: () => similarity.evaluate(trace, wanted, context) },
    theirs: diff,
  });
  return found;
}

function turnedRow(
  peers: Peers,
  context: EvaluationContext,
  { messages, reference }: { readonly messages: readonly JsonObject[]; readonly reference: readonly JsonObject[] },
): Comparison {
  const match = peers.trajectoryMatch('unordered');
  const rule = ruleOf({ use: 'trajectory_match', options: { compare: 'unordered', arguments: { mode: 'exact' } } });
  const read = { trace: fromMessages(messages).trace, expected: readExpectation({ messages: reference }).expectation };
  deepStrictEqual(scoreOf(rule, read.trace, read.expected, context), 1);
  return {
    what: 'unordered match, all in another order, read before',
    against: 'agentevals unordered',
    ours: { kind: 'now', run: () => rule.evaluate(read.trace, read.expected, context) },
    theirs: { kind: 'later', run: () => match({ outputs: messages, referenceOutputs: reference }) },
  };
}

function ruleOf(entry: EvaluatorEntry): ConfiguredRule {
  const made = configuredEvaluator(entry, evaluators);
  if (made.kind !== 'ready' || made.evaluator.kind !== 'rule') throw new Error(`${entry.use} cannot be configured`);
  return made.evaluator;
}

function scoreOf(rule: ConfiguredRule, ...given: Parameters<ConfiguredRule['evaluate']>): number | undefined {
  const verdict = rule.evaluate(...given);
  return verdict.kind === 'scored' ? verdict.score : undefined;
}
