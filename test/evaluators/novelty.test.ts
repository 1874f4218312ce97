import { expect, test } from 'vitest';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { ProcessModel } from '../../src/model/process-model.ts';
import type { Verdict } from '../../src/model/verdict.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { processOf, runOf } from '../builders/process-runs.ts';
import { rule } from './score.ts';

const usualArguments = { order: 'A-1', items: [{ sku: 'x', count: 2 }], note: null };
const refund = (given: JsonObject | undefined): AgentTrace =>
  agentTrace({ toolCalls: [call({ name: 'refund_order', arguments: given, spanId: spanId(1) })] });
const learnt = processOf([
  [refund(usualArguments), 60],
  [refund({ ...usualArguments, note: 'late' }), 40],
]);
const steps = processOf([
  [runOf(['lookup_order', 'refund_order']), 250],
  [runOf(['lookup_order', 'open_ticket']), 5],
]);

function verdict(trace: AgentTrace, model: ProcessModel, options: JsonObject = {}): Verdict {
  return rule({ use: 'novelty', options: { model: model as unknown as JsonObject, ...options } }).evaluate(trace, {}, evaluationContext());
}

const rows = [
  { name: 'known arguments', trace: refund(usualArguments), model: learnt, score: 1, says: 'Nothing in the run is new against 100 runs.' },
  { name: 'another value of a known type', trace: refund({ ...usualArguments, order: 'B-2', note: 'x' }), model: learnt, score: 1 },
  { name: 'a shorter and a longer list', trace: refund({ ...usualArguments, items: [] }), model: learnt, score: 1 },
  {
    name: 'a new argument',
    trace: refund({ ...usualArguments, force: true }),
    model: learnt,
    says: 'Never seen in 100 runs: argument "force" of refund_order.',
  },
  {
    name: 'a new argument deep inside',
    trace: refund({ ...usualArguments, items: [{ sku: 'x', count: 2, gift: true }] }),
    model: learnt,
    says: 'argument "items[].gift" of refund_order',
  },
  {
    name: 'another type',
    trace: refund({ ...usualArguments, order: 17 }),
    model: learnt,
    says: 'number as argument "order" of refund_order',
  },
  { name: 'an argument that is always given', trace: refund({ ...usualArguments, order: undefined } as never), model: learnt },
  {
    name: 'the lack of an argument that is always given',
    trace: refund({ items: [], note: null }),
    model: learnt,
    says: 'refund_order without argument "order"',
  },
  { name: 'unknown arguments', trace: refund(undefined), model: learnt, score: 1 },
  {
    name: 'a new tool',
    trace: runOf(['lookup_order', 'delete_account']),
    model: steps,
    says: 'Never seen in 255 runs: tool delete_account (call 2).',
    evidence: [spanId(2)],
  },
  {
    name: 'a new step',
    trace: runOf(['lookup_order', 'lookup_order', 'refund_order']),
    model: steps,
    says: 'lookup_order (call 2) right after lookup_order',
    evidence: [spanId(2)],
  },
  {
    name: 'a new beginning',
    trace: runOf(['refund_order']),
    model: steps,
    says: 'refund_order (call 1) as the first call',
  },
  {
    name: 'a step from a tool that is seldom called',
    trace: runOf(['lookup_order', 'open_ticket', 'refund_order']),
    model: steps,
    score: 1,
  },
];

test.each(rows)('novelty: $name', ({ trace, model, score, says = '', evidence }) => {
  const found = verdict(trace, model);
  expect(found.kind).toBe('scored');
  expect(found.explanation).toContain(says);
  if (found.kind !== 'scored') return;
  if (score === 1) expect(found).toMatchObject({ score: 1, label: 'known', passed: true, evidence: [] });
  else expect(found).toMatchObject({ label: 'novel', passed: false });
  if (evidence !== undefined) expect(found.evidence).toEqual(evidence);
});

test('novelty: the score is the known share, or 0 when any finding counts', () => {
  const trace = runOf(['lookup_order', 'delete_account']);
  // Known: lookup_order, that it is the first call, and how often it is called. New: delete_account.
  expect(verdict(trace, steps, { arguments: false })).toMatchObject({ score: 3 / 4, details: { looked_at: 4, novel: 1 } });
  expect(verdict(trace, steps, { score: 'any' })).toMatchObject({ score: 0, label: 'novel' });
});

test('novelty: each kind of finding can be switched off', () => {
  const trace = runOf(['lookup_order', 'lookup_order', 'delete_account'], { force: true });
  expect(verdict(trace, steps, { tools: false, transitions: false, repeats: false, arguments: false })).toMatchObject({ kind: 'skipped' });
  const kinds = (options: JsonObject): readonly unknown[] => {
    const findings = verdict(trace, steps, options).details['findings'] as readonly JsonObject[];
    return [...new Set(findings.map(({ kind }) => kind))];
  };
  expect(kinds({})).toEqual(['tool', 'transition', 'repeats', 'argument']);
  expect(kinds({ tools: false, repeats: false, arguments: false })).toEqual(['transition']);
  expect(kinds({ transitions: false, repeats: false, arguments: false })).toEqual(['tool']);
});

test('novelty: a name with a dot is one name', () => {
  const dotted = processOf([[refund({ 'a.b': 1 }), 100]]);
  expect(verdict(refund({ 'a.b': 1 }), dotted)).toMatchObject({ score: 1 });
  expect(verdict(refund({ a: { b: 1 } }), dotted).explanation).toContain('argument "a"');
});

const skips = [
  { name: 'a run without calls', trace: runOf([]), model: steps, reason: 'no_tool_calls' },
  { name: 'a dialect without tool calls', trace: agentTrace({ toolCallsCarried: false }), model: steps, reason: 'tool_calls_not_carried' },
  {
    name: 'a tool beyond those that the model holds',
    trace: runOf(['delete_account']),
    model: { ...steps, beyond: { ...steps.beyond, tools: 2 } },
    reason: 'too_large',
  },
];

test.each(skips)('novelty: is skipped on $name', ({ trace, model, reason }) => {
  expect(verdict(trace, model, { arguments: false })).toMatchObject({ kind: 'skipped', reason });
});
