import { expect, test } from 'vitest';
import { configuredEvaluator } from '../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import { evaluators } from '../../evaluators/index.ts';
import type { AgentTrace, Completeness } from '../../src/model/agent-trace.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { ProcessKnowledge, ProcessModel } from '../../src/model/process-model.ts';
import type { Verdict } from '../../src/model/verdict.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { processOf, runOf } from '../builders/process-runs.ts';
import { run } from '../builders/scored-run.ts';
import { rule } from './score.ts';

const normal = runOf(['verify_identity', 'lookup_order', 'refund_order']);
const usual = processOf([[normal, 300]]);
const branched = processOf([
  [normal, 280],
  [runOf(['verify_identity', 'lookup_order', 'open_ticket']), 20],
  [runOf(['verify_identity', 'lookup_order', 'escalate', 'refund_order']), 1],
]);
const parallel = processOf([[runOf(['verify_identity', ['lookup_order', 'lookup_customer'], 'refund_order']), 300]]);

interface About {
  readonly trace: AgentTrace;
  readonly model?: ProcessModel;
  readonly known?: ProcessKnowledge | undefined;
  readonly options?: JsonObject;
  readonly completeness?: Completeness;
}

/** Scores a run like a host that got it over spans. */
function verdict({ trace, model = usual, options = {}, completeness = 'complete', ...about }: About): Verdict {
  const known = 'known' in about ? about.known : { runs: model.runs, model };
  const ready = rule({ use: 'process_conformance', options });
  return ready.evaluate(trace, {}, evaluationContext({ processOf: () => known }), run({ trace, completeness }));
}

const scored = [
  { name: 'a normal run', trace: normal, score: 1, says: 'The 3 tool calls follow the process of 300 runs.', evidence: [] },
  {
    name: 'steps in the wrong order',
    trace: runOf(['verify_identity', 'refund_order', 'lookup_order']),
    score: 4 / 6,
    says: 'The run deviates from the process of 300 runs: refund_order before lookup_order: seen in 0 of 300 runs.',
    evidence: [spanId(2), spanId(3)],
  },
  {
    name: 'a missing check',
    trace: runOf(['lookup_order', 'refund_order']),
    score: 4 / 5,
    says: 'verify_identity missing before lookup_order (call 1): called in 300 of 300 runs.',
    evidence: [spanId(1)],
  },
  {
    name: 'a missing last step',
    trace: runOf(['verify_identity', 'lookup_order']),
    score: 4 / 5,
    says: 'refund_order missing at the end: called in 300 of 300 runs.',
    evidence: [spanId(2)],
  },
  {
    name: 'a new tool',
    trace: runOf(['verify_identity', 'lookup_order', 'delete_account', 'refund_order']),
    score: 6 / 7,
    says: 'delete_account (call 3): seen in 0 of 300 runs.',
    evidence: [spanId(3)],
  },
  {
    name: 'a loop',
    trace: runOf(['verify_identity', 'lookup_order', 'lookup_order', 'lookup_order', 'refund_order']),
    score: 6 / 8,
    says: 'lookup_order (call 3) right after lookup_order: seen in 0 of 300 runs',
    evidence: [spanId(3), spanId(4)],
  },
  { name: 'a usual branch', trace: runOf(['verify_identity', 'lookup_order', 'open_ticket']), model: branched, score: 1 },
  {
    name: 'a branch that one run in three hundred takes',
    trace: runOf(['verify_identity', 'lookup_order', 'escalate', 'refund_order']),
    model: branched,
    score: 6 / 7,
    says: 'escalate (call 3) right after lookup_order: seen in 1 of 301 runs.',
  },
  {
    name: 'that branch where every seen step is normal',
    trace: runOf(['verify_identity', 'lookup_order', 'escalate', 'refund_order']),
    model: branched,
    options: { rare: 0 },
    score: 1,
  },
  {
    name: 'what follows a tool that few runs call',
    trace: runOf(['verify_identity', 'lookup_order', 'open_ticket', 'open_ticket']),
    model: branched,
    score: 1,
    details: { unchecked_after: ['open_ticket'] },
  },
  {
    name: 'calls at the same time in another order',
    trace: runOf(['verify_identity', ['lookup_customer', 'lookup_order'], 'refund_order']),
    model: parallel,
    score: 1,
  },
  {
    name: 'one after the other what is called at the same time',
    trace: runOf(['verify_identity', 'lookup_customer', 'lookup_order', 'refund_order']),
    model: parallel,
    score: 1,
  },
  {
    name: 'overlapping calls in any order',
    trace: agentTrace({
      toolCalls: ['refund_order', 'lookup_order'].map((name, at) =>
        call({ name, spanId: spanId(at + 1), startUnixNano: BigInt(10 + at), endUnixNano: BigInt(20 + at) }),
      ),
    }),
    model: processOf([[runOf(['lookup_order', 'refund_order']), 300]]),
    score: 1,
  },
  {
    name: 'no call where runs without calls are normal',
    trace: runOf([]),
    model: processOf([[runOf([]), 300]]),
    score: 1,
    says: 'A run without tool calls is normal in the process of 300 runs.',
  },
  { name: 'no call where calls are normal', trace: runOf([]), score: 0 },
];

test.each(scored)('process_conformance: $name', ({ score, says = '', evidence, name: _name, ...about }) => {
  const found = verdict(about);
  expect(found).toMatchObject({ kind: 'scored', score, passed: score === 1, ...(evidence === undefined ? {} : { evidence }) });
  expect(found.explanation).toContain(says);
  if ('details' in about) expect(found.details).toMatchObject(about.details);
});

const skips = [
  {
    name: 'until enough runs are learnt',
    known: { runs: 37 },
    reason: 'learning',
    says: 'The process of this version is not known yet; learning: 37 of 200.',
  },
  {
    name: 'while its model has too few runs for this entry',
    known: { runs: 300, model: usual },
    options: { runs_min: 500 },
    reason: 'learning',
    says: 'learning: 300 of 500',
  },
  { name: 'when nothing learns', known: undefined, reason: 'no_model', says: 'options.model' },
  {
    name: 'when this few runs prove nothing',
    model: processOf([[normal, 30]]),
    options: { runs_min: 20 },
    reason: 'learning',
    says: 'After 30 runs',
  },
  { name: 'on a dialect without tool calls', trace: agentTrace({ toolCallsCarried: false }), reason: 'tool_calls_not_carried' },
  { name: 'on an incomplete run', completeness: 'partial' as const, reason: 'incomplete', says: 'The run is partial' },
  { name: 'on spans that were cut', trace: agentTrace({ ...normal, truncated: ['spans'] }), reason: 'truncated' },
  {
    name: 'when the model has left out tools',
    trace: runOf(['verify_identity', 'other', 'refund_order']),
    model: { ...usual, beyond: { ...usual.beyond, tools: 3 } },
    reason: 'too_large',
  },
  {
    name: 'on a run with more tools than a model holds',
    trace: runOf(Array.from({ length: 101 }, (_, at) => `t${at}`)),
    reason: 'too_large',
  },
];

test.each(skips)('process_conformance: is skipped $name', ({ name: _name, reason, says = '', ...about }) => {
  const found = verdict({ trace: normal, ...about });
  expect(found).toMatchObject({ kind: 'skipped', reason });
  expect(found.explanation).toContain(says);
});

test('process_conformance: a model that has left out tools still knows what is normal', () => {
  expect(verdict({ trace: normal, model: { ...usual, beyond: { ...usual.beyond, tools: 3 } } })).toMatchObject({ score: 1 });
});

test('process_conformance: a new version is scored by the former one where the entry asks for it', () => {
  const known = { runs: 4, former: usual };
  expect(verdict({ trace: normal, known })).toMatchObject({ reason: 'learning' });
  expect(verdict({ trace: normal, known, options: { former_version: true } })).toMatchObject({
    score: 1,
    explanation: 'The 3 tool calls follow the process of 300 runs of the former version.',
    details: { former_version: true },
  });
});

test('process_conformance: a given model needs no service', () => {
  const fixed = rule({ use: 'process_conformance', options: { model: JSON.parse(JSON.stringify(usual)) } });
  expect(fixed.evaluate(runOf(['refund_order', 'lookup_order']), {}, evaluationContext())).toMatchObject({ kind: 'scored', passed: false });
  expect(fixed.evaluate(normal, {}, evaluationContext())).toMatchObject({ score: 1 });
});

const faulty = [
  { options: { runs_min: 500, runs_max: 400 }, at: 'options.runs_min', problem: 'is more than runs_max (400), so no run would be scored' },
  { options: { runs_min: 3 }, at: 'options.runs_min', problem: 'must be >= 20' },
  { options: { model: { runs: -1 } }, at: 'options.model.runs', problem: 'must be a whole number from 0' },
  { options: { model: { runs: 1, tools: [{ runs: 1 }] } }, at: 'options.model.tools.0.name', problem: 'must be a text' },
  {
    options: { model: { runs: 1, tools: [{ name: 'a', runs: 1, paths: [{ path: 'x', types: { date: 1 } }] }] } },
    at: 'options.model.tools.0.paths.0.types.date',
    problem: 'is not a type of JSON',
  },
  { options: { model: 'support.json' }, at: 'options.model', problem: 'names a file, "support.json", that was not loaded' },
];

test.each(faulty)('process_conformance: refuses $options', ({ options, at, problem }) => {
  const made = configuredEvaluator({ use: 'process_conformance', options }, evaluators);
  if (made.kind === 'ready') throw new Error('it was accepted');
  const [fault] = made.faults;
  expect(fault?.path.join('.')).toBe(at);
  expect(fault?.problem).toContain(problem);
});
