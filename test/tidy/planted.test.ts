/** Each rule, shown a fault that it must find, and a sound neighbour that it must pass. */
import { expect, test } from 'vitest';
import { rules, type RuleName } from './rules.ts';
import type { SourceFile } from './source.ts';

interface Planted {
  readonly rule: RuleName;
  readonly name: string;
  readonly files: { readonly [path: string]: string };
  /** The faults, each by a piece of its sentence. */
  readonly want: readonly string[];
}

/** In two parts, because the rule reads this file as well. */
const run = ['npm', 'run'].join(' ');
const word = { 'src/model/word.ts': 'export const word = 1;' };
const table = "import { toolError } from './tool-error.ts';";
const member = "export const toolError = { id: 'tool_error' } satisfies RuleEvaluator<Options>;";
const declared = (constant: string, id: string): string => `export const ${constant} = rule({\n  id: '${id}',\n});\n`;
const dialect = "export const genAi: Collector = { id: 'gen_ai' };";

const planted: readonly Planted[] = [
  {
    rule: 'prose is native English',
    name: 'a fragment in a comment, in a message and on a page',
    files: {
      'src/model/a.ts': '/** Of the same bytes. */\nexport const a = 1;\n',
      'src/model/b.ts': "export const b = 'nothing changed, as none is a draft, and nobody knows';\n",
      'docs/a.md': '# A page\n\nWhat nobody but rules may see.\n',
    },
    want: ['a.ts:1: “Of”', 'b.ts:1: “nobody”', 'a.md:3: “nobody”'],
  },
  {
    rule: 'prose is native English',
    name: 'whole sentences, and code, are sound',
    files: {
      'src/model/a.ts': '/** View over the bytes. For sequential tools that is the order. */\nexport const a = 1;\n',
      'docs/a.md': '# How to repeat it\n\n`What nobody sees.` is code.\n',
    },
    want: [],
  },
  {
    rule: 'imports go down the floors',
    name: 'downward is sound',
    files: { ...word, 'src/pipeline/a.ts': "import { word } from '../model/word.ts';" },
    want: [],
  },
  {
    rule: 'imports go down the floors',
    name: 'upward',
    files: { 'src/model/a.ts': "import { b } from '../otlp/b.ts';", 'src/otlp/b.ts': 'export const b = 1;' },
    want: ['floor 0 imports src/otlp/b.ts of floor 2'],
  },
  {
    rule: 'imports go down the floors',
    name: 'sideways',
    files: { 'evaluators/a.ts': "import { b } from '../collectors/b.ts';", 'collectors/b.ts': '' },
    want: ['collectors/b.ts sideways'],
  },
  {
    rule: 'imports go down the floors',
    name: 'type imports count',
    files: { 'src/otlp/a.ts': "import type { B } from '../pipeline/b.ts';", 'src/pipeline/b.ts': '' },
    want: ['of floor 3'],
  },
  {
    rule: 'imports go down the floors',
    name: 're-exports count',
    files: { 'src/otlp/a.ts': "export { b } from '../pipeline/b.ts';", 'src/pipeline/b.ts': '' },
    want: ['of floor 3'],
  },
  {
    rule: 'imports go down the floors',
    name: 'inline type imports count',
    files: { 'src/otlp/a.ts': "export type A = import('../pipeline/b.ts').B;", 'src/pipeline/b.ts': '' },
    want: ['of floor 3'],
  },
  {
    rule: 'imports go down the floors',
    name: 'what is loaded later counts',
    files: { 'src/otlp/a.ts': "export const a = () => import('../pipeline/b.ts');", 'src/pipeline/b.ts': '' },
    want: ['of floor 3'],
  },
  {
    rule: 'imports go down the floors',
    name: 'a computed import',
    files: { 'src/cli/a.ts': 'export const a = (b: string) => import(b);' },
    want: ['not a literal'],
  },
  {
    rule: 'imports go down the floors',
    name: 'a contract is on the floor of its family',
    files: { 'src/pipeline/a.ts': "import type { B } from '../exporters/exporter.ts';", 'src/exporters/exporter.ts': '' },
    want: ['floor 3 imports src/exporters/exporter.ts of floor 5'],
  },
  {
    rule: 'imports go down the floors',
    name: 'a package of the floor',
    files: { 'evaluators/a.ts': "import { Ajv2020 } from 'ajv/dist/2020.js'; import { RE2JS } from 're2js';" },
    want: [],
  },
  {
    rule: 'imports go down the floors',
    name: 'a package of a higher floor',
    files: { 'evaluators/a.ts': "import fastify from 'fastify';" },
    want: ['the package fastify'],
  },
  {
    rule: 'imports go down the floors',
    name: 'a package on floor 3',
    files: { 'src/pipeline/a.ts': "import { Ajv } from 'ajv';" },
    want: ['the package ajv'],
  },
  {
    rule: 'imports go down the floors',
    name: 'hashing is arithmetic',
    files: { 'src/pipeline/a.ts': "import { createHash } from 'node:crypto';" },
    want: [],
  },
  {
    rule: 'imports go down the floors',
    name: 'a look at bytes is arithmetic',
    files: { 'collectors/a.ts': "import { isAscii } from 'node:buffer';" },
    want: [],
  },
  {
    rule: 'imports go down the floors',
    name: 'another member of such a module is not',
    files: { 'collectors/a.ts': "import { isAscii, File } from 'node:buffer';" },
    want: ['node:buffer'],
  },
  {
    rule: 'imports go down the floors',
    name: 'randomness is not',
    files: { 'src/pipeline/a.ts': "import { createHash, randomBytes } from 'node:crypto';" },
    want: ['node:crypto'],
  },
  {
    rule: 'imports go down the floors',
    name: 'the machine',
    files: { 'collectors/a.ts': "import { readFileSync } from 'node:fs';" },
    want: ['node:fs'],
  },
  {
    rule: 'imports go down the floors',
    name: 'nowhere',
    files: { 'src/cli/a.ts': "import { b } from './b.ts';" },
    want: ['src/cli/b.ts, which is not a file'],
  },
  {
    rule: 'imports go down the floors',
    name: 'a test',
    files: { 'src/cli/a.ts': "import { b } from '../../test/b.ts';", 'test/b.ts': '' },
    want: ['outside the product'],
  },
  {
    rule: 'imports go down the floors',
    name: 'the console is apart',
    files: {
      ...word,
      'src/console/a.tsx':
        "import { word } from '../model/word.ts'; import { h } from 'preact'; import fastify from 'fastify'; import './b.css';",
      'src/console/b.css': '',
      'src/web/c.ts': "import { a } from '../console/a.tsx';",
    },
    want: ['src/model/word.ts across the edge of the console', 'the console may not import fastify', 'src/console/a.tsx across'],
  },
  { rule: 'imports go down the floors', name: 'a folder without a floor', files: { 'src/stuff/a.ts': '' }, want: ['no floor is known'] },

  {
    rule: 'imports form no circle',
    name: 'two files',
    files: { 'src/model/a.ts': "import { b } from './b.ts';", 'src/model/b.ts': "import type { A } from './a.ts';" },
    want: ['src/model/a.ts → src/model/b.ts → src/model/a.ts: a circle'],
  },
  {
    rule: 'imports form no circle',
    name: 'a file twice by two ways',
    files: {
      'src/model/a.ts': "import { b } from './b.ts'; import { c } from './c.ts';",
      'src/model/b.ts': "import { c } from './c.ts';",
      'src/model/c.ts': '',
    },
    want: [],
  },
  {
    rule: 'tests stand where their unit stands',
    name: 'beside its room',
    files: { 'src/pipeline/jury/vote.ts': '', 'test/pipeline/vote.test.ts': '' },
    want: ['test/pipeline/vote.test.ts: the unit stands at pipeline/jury/vote'],
  },
  {
    rule: 'tests stand where their unit stands',
    name: 'in its room, long or short, and above several units',
    files: {
      'src/pipeline/jury/vote.ts': '',
      'test/pipeline/jury/vote.long.test.ts': '',
      'test/pipeline/hostile.test.ts': '',
      'test/judges/vote.test.ts': '',
    },
    want: [],
  },
  {
    rule: 'names are of the field',
    name: 'a file and what it exports',
    files: { 'src/judges/desk.ts': 'export function openDesk(): void {}' },
    want: ['src/judges/desk.ts: “desk”', '“openDesk”'],
  },
  {
    rule: 'names are of the field',
    name: 'part of a word, and what stays inside',
    files: { 'src/judges/planes.ts': 'export const overlook = 1;\nconst desk = 1;' },
    want: [],
  },
  {
    rule: 'floors 0 to 3 are pure',
    name: 'the clock',
    files: { 'src/pipeline/a.ts': 'export const a = () => Date.now() + performance.now();' },
    want: ['Date', 'performance'],
  },
  {
    rule: 'floors 0 to 3 are pure',
    name: 'chance',
    files: { 'evaluators/a.ts': 'export const a = () => Math.random();' },
    want: ['Math.random'],
  },
  {
    rule: 'floors 0 to 3 are pure',
    name: 'chance by another name',
    files: { 'evaluators/a.ts': "export const a = () => { const { random } = Math; return random() + Math['random'](); };" },
    want: ['Math as a value', 'Math as a value'],
  },
  {
    rule: 'floors 0 to 3 are pure',
    name: 'the environment',
    files: { 'collectors/a.ts': "export const a = () => process.env['A'];" },
    want: ['process'],
  },
  {
    rule: 'floors 0 to 3 are pure',
    name: 'timers',
    files: { 'src/otlp/a.ts': 'export const a = () => setTimeout(a, 1);' },
    want: ['setTimeout'],
  },
  {
    rule: 'floors 0 to 3 are pure',
    name: 'the network',
    files: { 'src/model/a.ts': "export const a = () => fetch('');" },
    want: ['fetch'],
  },
  {
    rule: 'floors 0 to 3 are pure',
    name: 'the place of the file',
    files: { 'src/model/a.ts': 'export const a = import.meta.url;' },
    want: ['import.meta'],
  },
  {
    rule: 'floors 0 to 3 are pure',
    name: 'the locale',
    files: { 'evaluators/a.ts': 'export const a = (b: string, c: string) => b.localeCompare(c);' },
    want: ['localeCompare'],
  },
  {
    rule: 'floors 0 to 3 are pure',
    name: 'sound: members of these names, other Math',
    files: { 'evaluators/a.ts': 'export const a = (b: { process: number }) => Math.max(b.process, 1); export const c = { fetch: 1 };' },
    want: [],
  },
  { rule: 'floors 0 to 3 are pure', name: 'floor 4 may', files: { 'src/receivers/a.ts': 'export const a = () => Date.now();' }, want: [] },

  {
    rule: 'importing a file does nothing',
    name: 'a call',
    files: { 'src/receivers/a.ts': 'open(); export function open() {}' },
    want: ['only declares'],
  },
  {
    rule: 'importing a file does nothing',
    name: 'a loop',
    files: { 'evaluators/a.ts': 'for (const a of []) { a; }' },
    want: ['only declares'],
  },
  {
    rule: 'importing a file does nothing',
    name: 'sound: declarations, and the program itself',
    files: {
      'evaluators/a.ts':
        "import { b } from './b.ts'; export interface A { a: 1 } export type B = 1; export const c = b; export { b }; class D {} function f() {}",
      'src/cli/main.ts': 'start();',
    },
    want: [],
  },

  {
    rule: 'there is no module state',
    name: 'a variable',
    files: { 'src/cli/a.ts': 'let a = 1; export const b = () => a++;' },
    want: ['a variable'],
  },
  { rule: 'there is no module state', name: 'an exported variable', files: { 'src/cli/a.ts': 'export let a = 1;' }, want: ['a variable'] },
  {
    rule: 'there is no module state',
    name: 'a map',
    files: { 'evaluators/a.ts': 'const cache = new Map<string, number>();' },
    want: ['a Map'],
  },
  {
    rule: 'there is no module state',
    name: 'a list that grows',
    files: { 'evaluators/a.ts': 'const seen: string[] = []; export function see(a: string) { seen.push(a); }' },
    want: ['seen is changed'],
  },
  {
    rule: 'there is no module state',
    name: 'an object that changes',
    files: { 'evaluators/a.ts': 'const seen = { a: 1 }; export function see() { seen.a = 2; delete seen.a; }' },
    want: ['seen is changed', 'seen is changed'],
  },
  {
    rule: 'there is no module state',
    name: 'a pattern that remembers',
    files: { 'evaluators/a.ts': 'const word = /a/g; export const a = (b: string) => word.test(b);' },
    want: ['word has the flag'],
  },
  {
    rule: 'there is no module state',
    name: 'sound: read-only tables, state inside functions',
    files: {
      'evaluators/a.ts':
        "const a: ReadonlySet<string> = new Set(['a']); const b = /a/g; const c = [1] as const; export function d(e: string) { let f = 0; const g = new Map(); g.set(1, 2); f++; return e.replaceAll(b, '') + f + a.has(e) + c; }",
    },
    want: [],
  },

  {
    rule: 'files are short',
    name: '601 lines',
    files: { 'test/a.ts': '\n'.repeat(600) + 'export const a = 1;\n', 'test/b.ts': '\n'.repeat(599) + 'export const a = 1;\n' },
    want: ['test/a.ts: 601 lines'],
  },
  {
    rule: 'functions are short',
    name: '101 lines',
    files: { 'src/cli/a.ts': `export function a() {${'\n'.repeat(100)}}\nexport const b = () => {${'\n'.repeat(99)}};` },
    want: ['src/cli/a.ts:1: a function of 101 lines'],
  },
  {
    rule: 'functions are short',
    name: 'a factory of short functions',
    files: {
      'src/cli/a.ts': `export function a() {${`\n  function b() {${'\n'.repeat(60)}  }`.repeat(3)}\n  return [1].map(() => {${'\n'.repeat(50)}});\n}`,
    },
    want: [],
  },
  {
    rule: 'names say what is inside',
    name: 'nothing, camel case, sound',
    files: {
      'src/cli/utils.ts': '',
      'src/cli/toolError.ts': '',
      'src/cli/tool-error.ts': '',
      'test/a.suite.ts': '',
      'src/console/DataTable.tsx': '',
    },
    want: ['src/cli/utils.ts: the name says nothing', 'kebab-case', 'src/console/DataTable.tsx: file names are kebab-case'],
  },
  {
    rule: 'index.ts is the table of a family',
    name: 'of a mechanism, of a family',
    files: { 'src/otlp/index.ts': '', 'src/console/index.tsx': '', 'evaluators/index.ts': '', 'evaluators/evaluator.ts': '' },
    want: ['src/otlp/index.ts', 'src/console/index.tsx'],
  },
  {
    rule: 'exports are named',
    name: 'default, default by name, star',
    files: {
      'test/a.ts': 'export default 1;',
      'test/b.ts': 'const b = 1; export { b as default };',
      'test/c.ts': "export * from './a.ts';",
      'test/d.ts': 'export const d = 1;',
    },
    want: ['test/a.ts:1: a default export', 'test/b.ts:1: a default export', 'export *'],
  },
  {
    rule: 'types are honest',
    name: 'any, !, enum, namespace, parameter property',
    files: {
      'src/cli/a.ts': 'export let a: any;\nexport const b = a!;\nenum C {}\nnamespace D {}\nclass E { constructor(readonly f: 1) {} }',
    },
    want: ['a.ts:1: any', 'a.ts:2: a !', 'a.ts:3: an enum', 'a.ts:4: a namespace', 'a.ts:5: a parameter property'],
  },

  {
    rule: 'no banned words',
    name: 'unfinished work',
    files: { 'src/cli/a.ts': '// TODO later\n', 'src/cli/b.ts': '// TODO https://example.org/1\n' },
    want: ['src/cli/a.ts:1: “TODO”'],
  },
  { rule: 'no banned words', name: 'mocks', files: { 'test/a.test.ts': "vi.mock('a');" }, want: ['vi.mock'] },
  {
    rule: 'no banned words',
    name: 'tests that do not run',
    files: {
      'test/a.test.ts': "test.only('a');",
      'test/b.test.ts': "describe.concurrent.skip('a');",
      'test/c.test.ts': "test('a'); a.skip(1);",
    },
    want: ['test.only', 'describe.concurrent.skip'],
  },
  {
    rule: 'no banned words',
    name: 'silenced checks',
    files: { 'src/cli/a.ts': '// @ts-expect-error', 'src/cli/b.ts': '// oxlint-disable-next-line', 'src/cli/c.ts': '/* v8 ignore next */' },
    want: ['@ts-expect-error', 'oxlint-disable', 'v8 ignore'],
  },
  {
    rule: 'no banned words',
    name: 'paths of one machine',
    files: { 'docs/a.md': 'see /tmp/a', 'src/cli/a.ts': "const a = '/home/me';", 'docs/b.md': 'see https://example.org/home/ and ./work/' },
    want: ['docs/a.md:1: “/tmp/”', '“/home/”'],
  },
  {
    rule: 'no banned words',
    name: 'HTML from text in the console',
    files: {
      'src/console/a.tsx': 'export const a = <p dangerouslySetInnerHTML={{ __html: b }} />;',
      'src/console/b.tsx': 'export const b = <p>a</p>;',
    },
    want: ['src/console/a.tsx:1: “dangerouslySetInnerHTML”'],
  },
  {
    rule: 'no banned words',
    name: 'registries',
    files: { 'package-lock.json': '{ "resolved": "x" }\n{ "resolved": "node" }\n', 'docs/a.md': 'registry.npmjs.org' },
    want: ['package-lock.json:1', 'docs/a.md'],
  },

  {
    rule: 'members are in their table',
    name: 'left out',
    files: { 'evaluators/index.ts': table, 'evaluators/tool-error.ts': member, 'evaluators/other.ts': member },
    want: ['evaluators/other.ts: is not in'],
  },
  {
    rule: 'members are named as their file',
    name: 'another id',
    files: { 'evaluators/tool-error.ts': member, 'evaluators/other.ts': member },
    want: ['evaluators/other.ts: its id is not other'],
  },
  {
    rule: 'members are named as their file',
    name: 'constants of a builder',
    files: { 'evaluators/counts.ts': declared('toolCalled', 'tool_called') + declared('callCount', 'tool_call_count') },
    want: ['evaluators/counts.ts: its id is not tool_call_count'],
  },
  {
    rule: 'members are tested',
    name: 'two members in one file',
    files: {
      'evaluators/counts.ts': declared('toolCalled', 'tool_called') + declared('toolCallCount', 'tool_call_count'),
      'test/evaluators/tool-called.test.ts': '',
    },
    want: ['has no test/evaluators/tool-call-count.test.ts'],
  },
  {
    rule: 'members are documented',
    name: 'two members in one file, one described',
    files: {
      'evaluators/counts.ts': declared('toolCalled', 'tool_called') + declared('toolCallCount', 'tool_call_count'),
      'docs/reference/evaluators.md': '## `tool_called`',
    },
    want: ['evaluators/counts.ts: is not described in docs/reference/evaluators.md'],
  },
  {
    rule: 'members are tested',
    name: 'no test',
    files: {
      'evaluators/tool-error.ts': member,
      'collectors/gen-ai.ts': dialect,
      'test/collectors/gen-ai.test.ts': '',
      'evaluators/schema/schemas.ts': 'export const a = 1;',
    },
    want: ['has no test/evaluators/tool-error.test.ts'],
  },
  {
    rule: 'members are tested',
    name: 'an exporter without a test',
    files: {
      'src/exporters/log-events.ts': 'export function logEvents(): Exporter {}',
      'src/exporters/queue.ts': 'export function queue(exporter: Exporter): void {}',
    },
    want: ['src/exporters/log-events.ts'],
  },
  {
    rule: 'members are tested',
    name: 'a member in a room of its family',
    files: {
      'src/exporters/otlp/log-events.ts': 'export function logEvents(): Exporter {}',
      'test/exporters/otlp/span-events.test.ts': '',
    },
    want: ['src/exporters/otlp/log-events.ts'],
  },
  {
    rule: 'members are documented',
    name: 'a mention is not a heading',
    files: { 'evaluators/tool-error.ts': member, 'docs/reference/evaluators.md': 'tool_error\n## tool_error_rate' },
    want: ['docs/reference/evaluators.md'],
  },
  {
    rule: 'members are documented',
    name: 'sound',
    files: {
      'evaluators/tool-error.ts': member,
      'docs/reference/evaluators.md': '## `tool_error`',
      'collectors/gen-ai.ts': dialect,
      'docs/reference/dialects.md': '| gen_ai |',
      'src/judges/scripted.ts': 'export function scripted(): Judge {}',
      'docs/judges.md': 'the scripted judge',
    },
    want: [],
  },
  {
    rule: 'documents name what exists',
    name: 'a broken link, a file that is gone, sound',
    files: {
      'docs/a.md':
        'see [b](b.md)\nand `src/cli/b.ts`\nand [c](../src/cli/c.ts), `src/cli`, [d](https://example.org), `evaluators/<name>.ts`',
      'src/cli/c.ts': '',
    },
    want: ['docs/a.md:1: docs/b.md', 'docs/a.md:2: src/cli/b.ts'],
  },
  {
    rule: 'npm scripts exist',
    name: 'a script that is gone, a check and a measurement that are gone, sound',
    files: {
      'package.json': '{ "scripts": { "docs": "", "check": "", "bench": "", "tracejury": "" } }',
      'docs/a.md': `${run} docs, ${run} picture\n\`${run} check -- loop --only a\`, ${run} check -- loops\n${run} bench -- --spans 9`,
      'src/a.ts': `// ${run} --silent bench -- speed, ${run} --silent tracejury -- serve`,
    },
    want: [`docs/a.md:1: ${run} picture`, `docs/a.md:2: ${run} check -- loops`, `src/a.ts:1: ${run} --silent bench -- speed`],
  },
  {
    rule: 'dialects are named at home',
    name: 'elsewhere',
    files: {
      'collectors/gen-ai.ts': dialect,
      'src/pipeline/a.ts': "export const a = 'gen_ai';",
      'test/a.ts': "export const a = 'gen_ai';",
    },
    want: ['src/pipeline/a.ts:1'],
  },
  {
    rule: 'dialects are named at home',
    name: 'an exporter of the same name',
    files: {
      'collectors/gen-ai.ts': dialect,
      'src/exporters/gen-ai.ts': "export const a = 'gen_ai';",
      'src/config/sections/export.ts': "export const a = ['gen_ai'];",
    },
    want: [],
  },
];

for (const { rule, name, files, want } of planted) {
  test(`${rule}: ${name}`, () => {
    const faults = rules[rule](Object.entries(files).map(([path, text]): SourceFile => ({ path, text })));
    expect(faults.map((fault, index) => (fault.includes(want[index] ?? '\0') ? 'as wanted' : fault))).toEqual(want.map(() => 'as wanted'));
  });
}

test('every rule has found a planted fault', () => {
  const proved = new Set(planted.filter(({ want }) => want.length > 0).map(({ rule }) => rule));
  expect([...proved].sort()).toEqual((Object.keys(rules) as RuleName[]).sort());
});
