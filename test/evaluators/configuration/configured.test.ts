import { expect, test } from 'vitest';
import { configuredEvaluator } from '../../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import type { AnyEvaluator } from '../../../evaluators/evaluator.ts';
import { evaluators } from '../../../evaluators/index.ts';
import { agentTrace, call } from '../../builders/agent-trace.ts';
import { rule, score } from '../score.ts';

const faulty: readonly {
  readonly name: string;
  readonly entry: Parameters<typeof configuredEvaluator>[0];
  readonly paths: readonly (readonly (string | number)[])[];
}[] = [
  { name: 'an unknown evaluator', entry: { use: 'tool_eror' }, paths: [['use']] },
  { name: 'an unknown option', entry: { use: 'tool_error', options: { blank: true } }, paths: [['options', 'blank']] },
  {
    name: 'an option of the wrong type',
    entry: { use: 'tool_error', options: { blank_is_error: 'no' } },
    paths: [['options', 'blank_is_error']],
  },
  {
    name: 'a pattern that needs to look around',
    entry: { use: 'tool_error', options: { error_patterns: ['ok', '(?=x)\\1'] } },
    paths: [['options', 'error_patterns', 1]],
  },
  { name: 'an unknown mode', entry: { use: 'tool_trajectory', options: { mode: 'ordered' } }, paths: [['options', 'mode']] },
  {
    name: 'a bad override',
    entry: { use: 'tool_trajectory', options: { arguments: { overrides: { book: 'some' } } } },
    paths: [['options', 'arguments', 'overrides', 'book']],
  },
  { name: 'a threshold beyond 1', entry: { use: 'tool_error', threshold: 80 }, paths: [['threshold']] },
  { name: 'a blank name', entry: { use: 'tool_error', name: ' ' }, paths: [['name']] },
  { name: 'an expectation where none is taken', entry: { use: 'tool_error', expect: {} }, paths: [['expect']] },
  {
    name: 'an expectation without its member',
    entry: { use: 'tool_trajectory', expect: { tasks: ['x'] } },
    paths: [['expect', 'tool_calls']],
  },
  {
    name: 'an expected call without a name',
    entry: { use: 'tool_trajectory', expect: { tool_calls: [{ name: 'a' }, { arguments: [] }] } },
    paths: [
      ['expect', 'tool_calls', 1, 'arguments'],
      ['expect', 'tool_calls', 1, 'name'],
    ],
  },
  { name: 'on_empty where there is no empty case', entry: { use: 'tool_trajectory', on_empty: 'original' }, paths: [['on_empty']] },
  { name: 'an unknown on_empty', entry: { use: 'tool_error', on_empty: 'full' }, paths: [['on_empty']] },
  {
    name: 'several faults at once',
    entry: { use: 'tool_error', threshold: -1, options: { a: 1, b: 2 } },
    paths: [['threshold'], ['options', 'a'], ['options', 'b']],
  },
];
for (const { name, entry, paths } of faulty) {
  test(`configured: ${name} is refused at its path`, () => {
    const configuration = configuredEvaluator(entry, evaluators);
    const found = configuration.kind === 'faulty' ? configuration.faults.map(({ path }) => path.join('.')) : [];
    expect(found.toSorted()).toEqual(paths.map((path) => path.join('.')).toSorted());
  });
}

test('configured: every evaluator is ready with only its name, or names the options that it needs', () => {
  for (const { id, kind, defaultThreshold, version, optionsSchema } of evaluators) {
    const configuration = configuredEvaluator(kind === 'http' ? { use: id, name: id } : { use: id }, evaluators);
    const required = optionsSchema['required'] as readonly string[] | undefined;
    if (required !== undefined)
      expect(configuration).toEqual({
        kind: 'faulty',
        faults: required.map((name) => ({ path: ['options', name], problem: 'is missing' })),
      });
    else
      expect(configuration).toMatchObject({
        kind: 'ready',
        evaluator: { name: id, threshold: defaultThreshold, evaluator: { id, version } },
      });
  }
});

test('configured: options are filled from the defaults, and names of tools stay unchanged', () => {
  const entry = {
    use: 'tool_trajectory',
    options: { arguments: { trim_strings: true, overrides: { my_tool: { mode: 'subset', case_insensitive: true } } } },
  };
  const expected = {
    toolCalls: [
      { name: 'my_tool', arguments: { q: 'A' } },
      { name: 'other', arguments: { q: 'b' } },
    ],
  };
  const toolCalls = [call({ name: 'my_tool', arguments: { q: ' a ', more: 1 } }), call({ name: 'other', arguments: { q: ' b ' } })];
  expect(score({ entry, trace: agentTrace({ toolCalls }), expected })).toMatchObject({ score: 1 });
});

test('configured: what the run expects wins over what the configuration expects', () => {
  const entry = { use: 'tool_trajectory', expect: { tool_calls: [{ name: 'a' }] } };
  const trace = agentTrace({ toolCalls: [call({ name: 'b' })] });
  expect(score({ entry, trace })).toMatchObject({ score: 0 });
  expect(score({ entry, trace, expected: { toolCalls: [{ name: 'b' }] } })).toMatchObject({ score: 1 });
});

test('configured: the hash depends on options, expectation and threshold, and not on the order of keys', () => {
  const hashes = [
    {},
    { threshold: 0.5 },
    { options: { blank_is_error: false } },
    { options: { blank_is_error: false, use_is_error: false } },
  ].map((more) => rule({ use: 'tool_error', ...more }).optionsHash);
  expect(new Set(hashes).size).toBe(4);
  expect(rule({ use: 'tool_error', options: { use_is_error: false, blank_is_error: false } }).optionsHash).toBe(hashes[3]);
});

test('configured: a null threshold makes a raw metric', () => {
  expect(score({ entry: { use: 'tool_error', threshold: null }, trace: agentTrace({ toolCalls: [call()] }) })).toMatchObject({
    score: 1,
    passed: null,
    threshold: null,
  });
});

test('configured: include_explanation false leaves the text out, and nothing else', () => {
  const trace = agentTrace({ toolCalls: [call({ result: '' })] });
  const entry = { use: 'tool_error' };
  const [whole, bare] = [score({ entry, trace }), score({ entry: { ...entry, include_explanation: false }, trace })];
  expect(whole.explanation).not.toBe('');
  expect(bare).toMatchObject({ kind: 'scored', score: 0, explanation: '', parts: [{ explanation: '' }], details: whole.details });
});

test('configured: an exception inside an evaluator is a failed verdict that repeats no trace text', () => {
  const data = {
    version: 1,
    summary: '',
    needs: [],
    onByDefault: false,
    defaultThreshold: 1,
    defaults: {},
    optionsSchema: { type: 'object' },
    source: '',
  } as const;
  const fails = (): never => {
    throw new TypeError('secret text of the trace');
  };
  const table: readonly AnyEvaluator[] = [
    { ...data, kind: 'rule', id: 'broken_rule', evaluate: fails },
    {
      ...data,
      kind: 'judge',
      id: 'broken_judge',
      *evaluate() {
        return fails();
      },
    },
  ];
  for (const { id } of table) {
    const configuration = configuredEvaluator({ use: id }, table);
    if (configuration.kind !== 'ready') throw new Error('not ready');
    const ready = configuration.evaluator;
    const verdict =
      ready.kind === 'rule'
        ? ready.evaluate(agentTrace(), {}, evaluationContext())
        : ready.judge(agentTrace(), {}, evaluationContext()).next().value;
    expect(verdict).toMatchObject({ kind: 'failed', error: 'evaluator_crashed' });
    expect(JSON.stringify(verdict)).not.toContain('secret');
  }
});

test('configured: the same trace and options give the same verdict, byte for byte', () => {
  const trace = agentTrace({ toolCalls: [call({ name: 'a', result: '' }), call({ name: 'a' })] });
  for (const use of ['tool_error', 'tool_efficiency'])
    expect(JSON.stringify(score({ entry: { use }, trace }))).toBe(JSON.stringify(score({ entry: { use }, trace })));
});

test('configured: a rule that can ask a judge is a rule until its entry names one; any other stays a rule', () => {
  const kindOf = (use: string, more: object): string => {
    const configuration = configuredEvaluator({ use, ...more }, evaluators);
    return configuration.kind === 'ready' ? configuration.evaluator.kind : configuration.kind;
  };
  expect([
    kindOf('tool_name_reliability', {}),
    kindOf('tool_name_reliability', { judge: 'j' }),
    kindOf('tool_error', { judge: 'j' }),
    kindOf('task_completion', {}),
  ]).toEqual(['rule', 'judge', 'rule', 'judge']);
});
