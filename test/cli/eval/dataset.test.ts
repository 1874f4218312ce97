/** Datasets: their forms, their faults, and which run an example is matched to. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { evaluators } from '../../../evaluators/index.ts';
import { readDataset } from '../../../src/cli/eval/dataset.ts';
import { readInputs } from '../../../src/cli/eval/inputs.ts';
import { type EvalItem, matched } from '../../../src/cli/eval/scoring.ts';
import { inputOf } from '../../../src/cli/inspect/recording.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { JuryError } from '../../../src/model/errors.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { span } from '../../builders/spans.ts';
import { validators } from '../../builders/validators.ts';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-dataset-'));
afterAll(() => rmSync(folder, { recursive: true }));
const { config } = loadConfig({ validators, file: 'test.yaml', text: '', env: {}, evaluators });
const options = { members: evaluators, plan: config.evaluators, judges: ['main'] };

function read(content: string, name = 'dataset'): ReturnType<typeof readDataset> {
  const path = join(folder, name);
  writeFileSync(path, content);
  return readDataset(path, options);
}

const whole = {
  id: 'one',
  input: 'Book it.',
  expect: { tool_calls: [{ name: 'book', arguments: { id: 1 } }] },
  tasks: ['book'],
  constraints: 'cheap',
  tools: [{ name: 'book' }],
  tags: ['smoke'],
  evaluators: ['tool_error', { use: 'tool_trajectory', name: 'path', options: { mode: 'strict' } }],
};
const yaml = `
- id: one
  input: Book it.
  expect: { tool_calls: [ { name: book, arguments: { id: 1 } } ] }
  tasks: [ book ]
  constraints: cheap
  tools: [ { name: book } ]
  tags: [ smoke ]
  evaluators: [ tool_error, { use: tool_trajectory, name: path, options: { mode: strict } } ]
`;

const forms: readonly { readonly name: string; readonly content: string }[] = [
  { name: 'a JSON list', content: JSON.stringify([whole]) },
  { name: 'a JSON object with examples', content: JSON.stringify({ examples: [whole] }) },
  { name: 'JSON lines', content: `${JSON.stringify(whole)}\n\n` },
  { name: 'YAML', content: yaml },
  { name: 'YAML with examples', content: `examples:${yaml.replaceAll('\n', '\n  ')}` },
];

for (const { name, content } of forms) {
  test(`dataset: ${name} gives the examples`, () => {
    const [example, ...more] = read(content);
    expect(more).toEqual([]);
    expect(example).toMatchObject({
      id: 'one',
      input: 'Book it.',
      expect: { tool_calls: [{ name: 'book', arguments: { id: 1 } }], tasks: ['book'], constraints: 'cheap' },
      tools: [{ name: 'book' }],
      tags: ['smoke'],
    });
    expect(example?.plan?.map(({ configured }) => configured.name)).toEqual(['tool_error', 'path']);
  });
}

test('dataset: the example of docs/guides/ci.md is one', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/guides/ci.md'), 'utf8');
  const [, example = ''] = /^```yaml\n(# dataset[\s\S]*?)^```$/m.exec(page) ?? [];
  expect(read(example).map(({ id, plan }) => [id, plan?.map(({ configured }) => configured.name)])).toEqual([
    ['paris', undefined],
    ['refund', ['tool_error', 'tool_trajectory']],
  ]);
});

test('dataset: an example may have a separate jury', () => {
  const [example] = read(
    '[{"evaluators": [{"use": "task_completion", "judge": "main", "votes": 3}, {"use": "answer_relevance", "judges": ["main"]}]}]',
  );
  expect(example?.plan).toMatchObject([{ panel: { judges: ['main'], votes: 3 } }, { judge: 'main' }]);
});

test('dataset: long whole numbers stay exact in JSON and YAML, an id left out is the place', () => {
  for (const content of ['[{"expect": {"output": 1234567890123456789}}]', '- expect: { output: 1234567890123456789 }']) {
    expect(read(content)).toMatchObject([{ id: '1', expect: { output: 1234567890123456789n } }]);
  }
});

const faults: readonly { readonly name: string; readonly content: string; readonly message: string }[] = [
  { name: 'a text', content: '"hello"', message: 'neither a list of examples' },
  { name: 'an unknown key', content: '[{"inputs": "x"}]', message: 'examples[0].inputs is not known' },
  {
    name: 'a faulty expectation',
    content: '[{"expect": {"tool_calls": [{}]}}]',
    message: 'examples[0].expect.tool_calls[0].name is missing',
  },
  {
    name: 'an unknown evaluator',
    content: '[{}, {"evaluators": ["tool_eror"]}]',
    message: 'examples[1].evaluators[0].use names no evaluator',
  },
  {
    name: 'a faulty option',
    content: '[{"evaluators": [{"use": "tool_trajectory", "options": {"mode": "x"}}]}]',
    message: 'examples[0].evaluators[0].options.mode must be one of',
  },
  {
    name: 'a judge evaluator without a judge',
    content: '[{"evaluators": ["task_completion"]}]',
    message: 'examples[0].evaluators[0].judge must name a judge of the configuration; there are main',
  },
  {
    name: 'a jury with a judge that does not exist',
    content: '[{"evaluators": [{"use": "task_completion", "judges": ["main", "dear"]}]}]',
    message: 'examples[0].evaluators[0].judges[1] must name a judge of the configuration; there are main',
  },
  {
    name: 'a jury that is not a list',
    content: '[{"evaluators": [{"use": "task_completion", "judges": "main"}]}]',
    message: 'examples[0].evaluators[0].judges must be array',
  },
  {
    name: 'an escalation to a judge that has voted',
    content: '[{"evaluators": [{"use": "task_completion", "judge": "main", "votes": 3, "escalate": {"to": "main"}}]}]',
    message: 'examples[0].evaluators[0].escalate.to "main" has a vote already. Name a better judge without a vote',
  },
  { name: 'one id twice', content: '[{"id": "a"}, {"id": "a"}]', message: 'two examples have the id "a"' },
  { name: 'broken YAML', content: 'a: [', message: 'it is not YAML' },
  {
    name: 'aliases of aliases',
    content: `a: &a [x, x]\n${'bcdefghij'
      .split('')
      .map((name, at) => `${name}: &${name} [${'abcdefghi'[at]}, ${'abcdefghi'[at]}]`.replaceAll(/\[(\w), (\w)\]/g, '[*$1, *$2]'))
      .join('\n')}\n`,
    message: 'too many aliases',
  },
];

for (const { name, content, message } of faults) {
  test(`dataset: ${name} is refused with its place`, () => {
    expect(() => read(content)).toThrow(JuryError);
    expect(() => read(content)).toThrow(message);
  });
}

test('dataset: all faults come at once', () => {
  expect(() => read('[{"inputs": 1}, {"expect": {"tasks": 1}}]')).toThrow(/examples\[0\]\.inputs .*; examples\[1\]\.expect\.tasks /);
});

const itemsOf = (name: string, bytes: Buffer): readonly EvalItem[] =>
  readInputs([inputOf({ name, bytes })], { reading: config, take: (item) => item }).items;
const given = (content: unknown): readonly EvalItem[] => itemsOf('runs.json', Buffer.from(JSON.stringify(content)));
const belongs = (
  runs: ReturnType<typeof given>,
  content: readonly object[],
): { readonly pairs: readonly (string | undefined)[]; readonly missing: readonly string[] } => {
  const { items, missing } = matched(runs, read(JSON.stringify(content)));
  return { pairs: items.map(({ example }) => example?.id), missing };
};

test('matching: by the id that a run names, then by equal input, then in order', () => {
  const runs = given([{ input: 'third' }, { id: 'a', input: 'first' }, { input: ' second ' }]);
  expect(belongs(runs, [{ id: 'a', input: 'x' }, { id: 'b', input: 'second' }, { id: 'c' }])).toEqual({
    pairs: ['c', 'a', 'b'],
    missing: [],
  });
});

test('matching: several examples with one input each get a run before one gets a second', () => {
  const runs = given([{ input: 'same' }, { input: 'same' }, { input: 'same' }]);
  expect(
    belongs(runs, [
      { id: 'a', input: 'same' },
      { id: 'b', input: 'same' },
      { id: 'c', input: 'other' },
    ]),
  ).toEqual({ pairs: ['a', 'b', 'a'], missing: ['c'] });
});

test('matching: a run that names an example of another dataset belongs to none', () => {
  expect(belongs(given([{ id: 'z', input: 'same' }]), [{ id: 'a', input: 'same' }])).toEqual({ pairs: [undefined], missing: ['a'] });
});

test('matching: spans name their example on the run, anywhere in its trace, or on the resource; their order has no effect', () => {
  const agent = { 'agent.name': 'a', 'input.value': 'hello' };
  const spans = [
    span({ id: 1, trace: 1, attributes: { ...agent, 'tracejury.example.id': 'own' } }),
    span({ id: 2, trace: 2, attributes: { 'agent.name': 'a' } }),
    span({ id: 3, trace: 2, parent: 2, attributes: { 'tool.name': 't', 'tracejury.example.id': 'inside' } }),
    span({ id: 4, trace: 3, attributes: agent, resource: { 'tracejury.example.id': 'resource' } }),
    span({ id: 5, trace: 4, attributes: { 'agent.name': 'a' } }),
  ];
  const items = itemsOf('spans', writeTraces(spans, 'json'));
  expect(belongs(items, [{ id: 'resource' }, { id: 'inside' }, { id: 'own' }, { id: 'left' }])).toEqual({
    pairs: ['own', 'inside', 'resource', undefined],
    missing: ['left'],
  });
});

test('matching: the dataset wins over what a run expects of itself, and its tools fill in what is not carried', () => {
  const runs = given([
    { id: 'a', expect: { tasks: ['own'], output: 'kept' }, tool_calls: [], tools: [{ name: 'known', description: 'own' }] },
  ]);
  const { items } = matched(
    runs,
    read(JSON.stringify([{ id: 'a', tasks: ['given'], tools: [{ name: 'known', description: 'other' }, { name: 'new' }] }])),
  );
  expect(items[0]?.run.expected).toEqual({ tasks: ['given'], output: 'kept' });
  expect(items[0]?.run.trace.toolDefinitions).toEqual([{ name: 'known', description: 'own' }, { name: 'new' }]);
});
