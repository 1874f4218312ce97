/** Evaluators from files: what may be loaded, and what is said of everything else. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { parseConfigText } from '../../../src/config/document.ts';
import { evaluatorFiles } from '../../../src/config/files/evaluator-files.ts';
import { ConfigError } from '../../../src/config/diagnostic.ts';
import { loadConfigWithFiles, type LoadedConfig } from '../../../src/config/load.ts';
import { members } from '../members.ts';
import { validators } from '../../builders/validators.ts';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-evaluator-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

const whole: { readonly [member: string]: string } = {
  kind: '"rule"',
  id: '"own_rule"',
  version: '1',
  summary: '"It is so."',
  needs: '["tool_calls"]',
  onByDefault: 'false',
  defaultThreshold: '0.5',
  defaults: '{ atMost: 3 }',
  optionsSchema: '{ type: "object", additionalProperties: false, properties: { at_most: { type: "integer", maximum: 9 } } }',
  source: '"tests"',
  evaluate:
    '({ trace }, { atMost }) => ({ kind: "scored", score: trace.toolCalls.length > atMost ? 0 : 1, explanation: "Counted.", evidence: [], details: {} })',
};

/** The text of a module with one evaluator, other than the sound one by these members; undefined leaves one out. */
function moduleText(other: { readonly [member: string]: string | undefined } = {}, name = 'own'): string {
  const members = Object.entries({ ...whole, ...other }).filter(([, value]) => value !== undefined);
  return `export const ${name} = { ${members.map(([key, value]) => `${key}: ${value ?? ''}`).join(', ')} };\n`;
}

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

async function load(text: string): Promise<LoadedConfig> {
  return await loadConfigWithFiles({
    validators,
    file: join(folder, 'tracejury.yaml'),
    text,
    env: { FILE: './from-env.mjs' },
    evaluators: members,
  });
}

async function faults(text: string): Promise<readonly string[]> {
  try {
    await load(text);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.map(({ line, column, key, problem, todo }) => `${line}:${column} ${key}: ${problem} > ${todo}`);
  }
}

test('evaluator files: an evaluator of a file is set up like any other', async () => {
  write('own.ts', `type Count = number;\n${moduleText()}export const most: Count = 3;\n`);
  const { config, evaluators } = await load(
    'evaluators:\n  - tool_error\n  - use: ./own.ts\n  - { use: ./own.ts, name: again, options: { at_most: 1 }, threshold: null, when: { agent: a } }\n',
  );
  expect(
    config.evaluators.map(({ configured, sampleRate }) => [
      configured.name,
      configured.kind,
      configured.threshold,
      configured.evaluator.id,
      sampleRate,
    ]),
  ).toEqual([
    ['tool_error', 'rule', 1, 'tool_error', 1],
    ['own_rule', 'rule', 0.5, 'own_rule', 1],
    ['again', 'rule', null, 'own_rule', 1],
  ]);
  expect(config.evaluators[2]?.when).toBeTypeOf('function');
  expect(evaluators.map(({ id }) => id)).toEqual([...members.map(({ id }) => id), 'own_rule']);
});

test('evaluator files: what is printed names the file again, options filled in, and has the same effect', async () => {
  write('printed.mjs', moduleText({ id: '"shown_rule"' }));
  const { printed } = await load('evaluators: [ { use: ./printed.mjs } ]');
  expect(printed).toMatchObject({ evaluators: [{ use: './printed.mjs', name: 'shown_rule', options: { at_most: 3 } }] });
  expect((await load(stringify(printed))).printed).toEqual(printed);
});

test('evaluator files: a judge of a file needs a judge of the configuration, and the path may come from the environment', async () => {
  write('from-env.mjs', moduleText({ kind: '"judge"', evaluate: 'function* () { return yield { id: "q" }; }' }));
  expect(await faults('evaluators:\n  - use: "${env:FILE}"\n')).toEqual([
    expect.stringMatching(/^2:5 evaluators\[0\]: own_rule needs a judge/),
  ]);
  const { config } = await load('judges: { main: { model: m } }\nevaluators: [ { use: "${env:FILE}", judge: main } ]');
  expect(config.evaluators[0]).toMatchObject({ judge: 'main', sampleRate: 0.05 });
});

test('evaluator files: a raised rate may name a rule of a file', async () => {
  write('raising.js', moduleText({ id: '"raising"' }));
  expect(
    await faults(
      'judges: { main: { model: m } }\nevaluators: [ { use: ./raising.js }, { use: task_completion, judge: main, sample: { raise: [ { when: "raising < 1", to: 1 } ] } } ]',
    ),
  ).toEqual([]);
});

test('evaluator files: options and what is expected are checked by the schemas of the file', async () => {
  write('checked.mjs', moduleText({ id: '"checked_rule"' }));
  expect(await faults('evaluators:\n  - { use: ./checked.mjs, options: { at_most: 10, at_least: 1 } }\n')).toEqual([
    expect.stringMatching(/^2:\d+ evaluators\[0\]\.options\.at_most: 10 is out of range/),
    expect.stringMatching(/^2:\d+ evaluators\[0\]\.options\.at_least: is not a known key here/),
  ]);
  expect((await faults('evaluators: [ { use: ./checked.mjs, expect: { output: x } } ]')).join()).toContain(
    'is not for checked_rule, which takes no expectation',
  );
});

const bad: readonly (readonly [name: string, text: string | undefined, problem: RegExp])[] = [
  ['does not exist', undefined, /does not exist > The path is relative to the folder of the configuration/],
  ['does not parse', 'export const = 1;', /cannot be loaded: /],
  ['throws, its message left out', 'throw new TypeError("s3cret");', /cannot be loaded: TypeError > /],
  ['throws no error', 'throw 1;', /it threw a value that is not an error/],
  ['exports nothing', '', /exports no evaluator > /],
  ['exports other things', 'export const a = 1, b = {};', /exports no evaluator, only a, b/],
  [
    'exports its evaluator as default',
    `${moduleText()}`.replace('export const own =', 'export default'),
    /exports its evaluator as default > Export it by a name/,
  ],
  ['exports two', moduleText() + moduleText({}, 'second'), /exports several evaluators: own, second/],
  ['judges sessions and is a rule', moduleText({ target: '"session"' }), /target may be session, of a judge/],
  ['has no kind that there is', moduleText({ kind: '"other"' }), /kind must be rule or judge/],
  ['has an id in another case', moduleText({ id: '"ownRule"' }), /id must be written in snake_case/],
  ['has the id of one of ours', moduleText({ id: '"tool_error"' }), /another evaluator has the id tool_error already/],
  ['has the id of the evaluator over HTTP', moduleText({ id: '"http"' }), /another evaluator has the id http already/],
  ['has no version', moduleText({ version: undefined }), /version must be a whole number from 1/],
  ['has a broken version', moduleText({ version: '1.5' }), /version must be/],
  [
    'lacks several things at once',
    moduleText({ summary: undefined, source: '3', onByDefault: undefined }),
    /summary must be a text; source must be a text; onByDefault must be true or false/,
  ],
  ['has a threshold beyond 1', moduleText({ defaultThreshold: '2' }), /defaultThreshold must be/],
  ['needs what there is not', moduleText({ needs: '["constructor"]' }), /needs may name tool_calls/],
  ['has defaults that are not JSON', moduleText({ defaults: '{ now: new Date(0) }' }), /defaults must be/],
  ['has a schema with a function', moduleText({ optionsSchema: '{ type: () => 1 }' }), /optionsSchema must be a JSON Schema/],
  ['has a schema that does not compile', moduleText({ optionsSchema: '{ type: "text" }' }), /its schemas do not compile: /],
  [
    'has a schema that refers elsewhere',
    moduleText({ optionsSchema: '{ $ref: "https://example.com/x.json" }' }),
    /its schemas do not compile: /,
  ],
  ['has a schema with an id', moduleText({ expectationSchema: '{ $id: "a", type: "object" }' }), /must not carry \$id/],
  ['has no function', moduleText({ evaluate: '1' }), /evaluate of a rule must be a plain function/],
  ['has an async rule', moduleText({ evaluate: 'async () => 1' }), /evaluate of a rule must be a plain function, not async/],
  ['has a judge that is not a generator', moduleText({ kind: '"judge"' }), /evaluate of a judge must be a generator function/],
  [
    'has a member that throws when it is read',
    'export const own = { kind: "rule", id: "a", evaluate: 1, get version() { throw new RangeError("s3cret"); } };',
    /something unreadable: RangeError > /,
  ],
];
for (const [at, [name, text, problem]] of bad.entries()) {
  test(`evaluator files: a file that ${name} is refused at its place`, async () => {
    if (text !== undefined) write(`bad-${at}.mjs`, text);
    const found = await faults(`closing: { settle: 1s }\nevaluators:\n  - name: x\n    use: ./bad-${at}.mjs\n`);
    expect(found).toEqual([expect.stringMatching(problem)]);
    expect(found[0]).toContain(`4:10 evaluators[0].use: "./bad-${at}.mjs" `);
    expect(found[0]).not.toContain('s3cret');
  });
}

test('evaluator files: of two files with one id the second is at fault, and all faults come at once', async () => {
  write('first.mjs', moduleText());
  write('second.mjs', moduleText());
  expect(
    await faults(
      'closing: { settle: soon }\nevaluators:\n  - use: ./first.mjs\n  - { use: ./second.mjs, name: x }\n  - use: ./notes.txt\n  - use: tool_eror\n',
    ),
  ).toEqual([
    expect.stringMatching(/^1:20 closing\.settle/),
    expect.stringMatching(/^4:12 evaluators\[1\]\.use: .*another evaluator has the id own_rule already/),
    expect.stringMatching(/^5:10 evaluators\[2\]\.use: "\.\/notes\.txt" is not a module > .*\.ts, \.mts, \.js, \.mjs/),
    expect.stringMatching(/^6:10 evaluators\[3\]\.use: "tool_eror" is not an evaluator/),
  ]);
});

test('evaluator files: a module that never finishes loading is given up', async () => {
  write('waiting.mjs', `await new Promise(() => undefined);\n${moduleText()}`);
  const found = await evaluatorFiles({
    file: join(folder, 'a.yaml'),
    document: parseConfigText('evaluators: [ { use: ./waiting.mjs } ]', {}),
    evaluators: members,
    importMs: 1,
  });
  expect(found.get('./waiting.mjs')).toMatchObject({ kind: 'faulty', problem: 'did not finish loading within 0.001 s' });
});

test('evaluator files: nothing is loaded for a text that is not YAML', async () => {
  expect(
    (
      await evaluatorFiles({
        file: join(folder, 'a.yaml'),
        document: parseConfigText('evaluators: [ { use: ./own.ts }', {}),
        evaluators: members,
      })
    ).size,
  ).toBe(0);
});
