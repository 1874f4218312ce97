import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';
import { agentTrace } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const fenced = (language: string, code: string): string => `\`\`\`${language}\n${code}\n\`\`\``;
const rows: readonly { readonly name: string; readonly response: JsonValue; readonly options?: JsonObject; readonly want: object }[] = [
  {
    name: 'correct code',
    response: `Here:\n${fenced('js', 'const a = [1, 2].map((x) => x ** 2);')}\nDone.`,
    want: { score: 1, passed: true, explanation: 'The final response has 1 code block, correct in syntax.' },
  },
  {
    name: 'broken code, with its line',
    response: `Here:\n\n${fenced('js', 'const = 1;')}`,
    want: { score: 0, passed: false, details: { blocks: 1, broken: [{ language: 'javascript', line: 4 }] } },
  },
  {
    name: 'the share of correct blocks',
    response: `${fenced('json', '{"a": 1}')}\n${fenced('json', '{a: 1}')}`,
    want: { score: 0.5, explanation: 'The final response has broken code: the json block at line 5 (it is not JSON).' },
  },
  { name: 'a module', response: fenced('javascript', "import fs from 'node:fs';\nexport const a = await fs;"), want: { score: 1 } },
  { name: 'a script that no module could be', response: fenced('js', 'with (a) { b }'), want: { score: 1 } },
  { name: 'a snippet that returns', response: fenced('js', 'return 1;'), want: { score: 1 } },
  {
    name: 'the language that the fence names',
    response: `${fenced('py', 'x = 1')}\n${fenced('Python', 'x = = 1')}\n${fenced('sh', 'ls')}`,
    want: {
      score: 2 / 3,
      details: {
        blocks: 3,
        left_out: 0,
        broken: [{ language: 'python', line: 5, problem: 'Unexpected token in expression at line 1, column 4' }],
      },
    },
  },
  {
    name: 'a language whose grammars raise false alarms is left out',
    response: `${fenced('java', '(')}\n${fenced('go', '(')}\n${fenced('json', '1')}`,
    want: { score: 1, details: { blocks: 1, left_out: 2 } },
  },
  { name: 'a block that is not closed', response: '```json\n[1, 2]', want: { score: 1 } },
  { name: 'tildes, and a fence within longer ones', response: '~~~~json\n"~~~"\n~~~~', want: { score: 1 } },
  {
    name: 'languages that are not asked for are left out',
    response: `${fenced('js', '(')}\n${fenced('json', '1')}`,
    options: { languages: ['json'] },
    want: { score: 1, details: { blocks: 1, left_out: 1 } },
  },
  { name: 'code that nests too deep', response: fenced('js', '['.repeat(49_000)), want: { score: 0 } },
  { name: 'no block of a known language', response: fenced('cobol', 'x = 1'), want: { kind: 'skipped', reason: 'no_such_target' } },
  { name: 'a block as long as is read', response: fenced('json', `"${'x'.repeat(49_998)}"`), want: { kind: 'scored', score: 1 } },
  { name: 'a block longer than that', response: fenced('json', `"${'x'.repeat(49_999)}"`), want: { kind: 'skipped', reason: 'too_large' } },
  {
    name: 'a broken block beside one that is longer than that',
    response: `${fenced('json', `"${'x'.repeat(49_999)}"`)}\n${fenced('json', '{')}`,
    want: { kind: 'scored', score: 0, passed: false },
  },
  {
    name: 'a broken block beside more than all blocks may be',
    response: [...Array.from({ length: 5 }, () => fenced('json', `"${'x'.repeat(49_000)}"`)), fenced('json', '{')].join('\n'),
    want: { kind: 'scored', passed: false, details: { unread_blocks: 1 } },
  },
  {
    name: 'a broken block before more than are read',
    response: [fenced('json', '{'), ...Array.from({ length: 201 }, () => fenced('json', '1'))].join('\n'),
    want: { kind: 'scored', passed: false, details: { more_blocks: true } },
  },
  {
    name: 'more blocks than are read',
    response: Array.from({ length: 201 }, () => fenced('json', '1')).join('\n'),
    want: { kind: 'skipped', reason: 'too_large' },
  },
];
for (const { name, response, options = {}, want } of rows) {
  test(`code_parseable: ${name}`, () => {
    expect(score({ entry: { use: 'code_parseable', options }, trace: agentTrace({ finalResponse: response }) })).toMatchObject(want);
  });
}

test('code_parseable: nothing is run', () => {
  const before = Object.keys(globalThis).length;
  expect(
    score({
      entry: { use: 'code_parseable' },
      trace: agentTrace({ finalResponse: fenced('js', 'globalThis.ran = true; process.exit(1);') }),
    }),
  ).toMatchObject({ score: 1 });
  expect(Object.keys(globalThis).length).toBe(before);
});
