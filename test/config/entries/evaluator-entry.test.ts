import { expect, test } from 'vitest';
import { evaluators } from '../../../evaluators/index.ts';
import type { ConfiguredEvaluator } from '../../../evaluators/configuration/configured.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { expressionNames, placedEntries, raiseNames } from '../../../src/config/entries/evaluator-entry.ts';
import { validators } from '../../builders/validators.ts';

const placed = placedEntries(
  {
    evaluators: [
      'tool_error',
      { use: 'task_completion', name: 'goal', judge: 'main' },
      { use: 'toxicity', judges: ['main'], votes: 3 },
      { use: 'http', name: 'mine', options: { url: 'http://127.0.0.1:1/' } },
    ],
  },
  evaluators,
);

test('evaluator names: an expression about a scored run may name every entry, and ask judges for their confidence', () => {
  expect(expressionNames(placed, evaluators)).toMatchObject({
    evaluators: ['tool_error', 'goal', 'toxicity', 'mine'],
    judged: ['goal', 'toxicity'],
  });
});

test('evaluator names: before the sample is drawn only rules are known', () => {
  expect(raiseNames(placed)).toMatchObject({
    evaluators: ['tool_error'],
    judged: [],
    late: { names: ['goal', 'toxicity', 'mine'] },
  });
});

function entries(text: string): readonly ConfiguredEvaluator[] {
  return loadConfig({ validators, file: 'a.yaml', text, env: {}, evaluators }).config.evaluators.map(({ configured }) => configured);
}

test('evaluator entry: the parts of a run that a judge is asked about', () => {
  const [one] = entries(
    'judges: { a: { model: m } }\nevaluators: [ { use: task_completion, judge: a }, { use: toxicity, judge: a, on: { tool: [ a, "b_*" ], aggregate: min } } ]',
  ).slice(1);
  expect(one?.kind === 'judge' && one.parts).toEqual({ on: { kind: 'tool', name: ['a', 'b_*'] }, aggregate: 'min', partsMax: 10 });
});

test('evaluator entry: the context of a run in pieces is the least of the judges of the entry, unless the entry has its own', () => {
  const found = entries(`judges: { a: { model: m, context_tokens: 32000 }, b: { model: n, context_tokens: 8000 }, c: { model: o } }
evaluators:
  - { use: task_completion, name: one, judge: c, map: reduce }
  - { use: task_completion, name: two, judge: a, map: reduce }
  - { use: task_completion, name: three, judges: [ a, c ], escalate: { to: b }, map: { pieces_max: 3 } }
  - { use: task_completion, name: four, judge: b, map: { context_tokens: 64000 } }`);
  expect(found.map((one) => one.kind === 'judge' && one.map)).toEqual([
    { piecesMax: 8 },
    { piecesMax: 8, contextTokens: 32_000 },
    { piecesMax: 3, contextTokens: 8_000 },
    { piecesMax: 8, contextTokens: 64_000 },
  ]);
});
