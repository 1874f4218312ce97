/** `dialects` of the configuration: every fault names its place, what is wrong, and what would be right. */
import { expect, test } from 'vitest';
import { ConfigError } from '../../../src/config/diagnostic.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { members } from '../members.ts';
import { validators } from '../../builders/validators.ts';

const good = '{ name: acme, match: { scope: acme }, span: { tool: exists(action) }, read: { tool.name: attributes.action } }';

test('config dialects: an entry is parsed once, to plain data', () => {
  const { config, warnings } = loadConfig({ validators, file: 'a.yaml', text: `dialects: [ ${good} ]`, env: {}, evaluators: members });
  expect(warnings).toEqual([]);
  expect(config.dialects).toEqual([
    {
      name: 'acme',
      match: { scope: 'acme' },
      span: { tool: { is: 'there', key: 'action' } },
      read: { 'tool.name': { place: { from: 'attribute', key: 'action' } } },
    },
  ]);
});

const faulty: readonly (readonly [text: string, want: string])[] = [
  ['{ name: acme, match: { scope: a } }', '1:13 dialects[0]: reads nothing > Add conditions under span, paths under read, or both.'],
  [
    '{ name: langfuse, match: { scope: a }, span: { tool: exists(a) } }',
    '1:21 dialects[0].name: "langfuse" is a built-in dialect > Choose another name.',
  ],
  [`${good}, ${good}`, `1:${good.length + 23} dialects[1].name: is the same as that of entry 1 > Give every dialect a different name.`],
  [
    '{ name: Acme, match: { scope: a }, span: { tool: exists(a) } }',
    '1:21 dialects[0].name: "Acme" has the wrong form > Use lower-case letters, digits, dashes and underscores, a letter first.',
  ],
  [
    '{ name: acme, span: { tool: exists(a) } }',
    '1:13 dialects[0]: lacks match > Add match: The spans to read: one matching sign is enough.',
  ],
  ['{ name: acme, match: {}, span: { tool: exists(a) } }', '1:34 dialects[0].match: is empty > Name at least one, or leave the key out.'],
  [
    '{ name: acme, match: { scop: a }, span: { tool: exists(a) } }',
    '1:36 dialects[0].match.scop: is not a known key here > Did you mean scope?',
  ],
  [
    '{ name: acme, match: { scope: a }, span: { tol: exists(a) } }',
    '1:56 dialects[0].span.tol: is not a known key here > Did you mean tool?',
  ],
  [
    '{ name: acme, match: { scope: a }, read: { tool.argments: attributes.a } }',
    '1:56 dialects[0].read["tool.argments"]: is not a known key here > Did you mean tool.arguments?',
  ],
  [
    '{ name: acme, match: { scope: a }, read: { input: ask } }',
    '1:63 dialects[0].read.input: "ask" is not a value > Did you mean attributes.ask?',
  ],
  [
    '{ name: acme, match: { scope: a }, read: { input_messages: list(attributes.p.0.content) } }',
    '1:72 dialects[0].read.input_messages: "p.0.content" is not a prefix of a list > Write the part before the index: list(attributes.p).',
  ],
  [
    `{ name: acme, match: { scope: a }, read: { input: "events['turn']" } }`,
    `1:63 dialects[0].read.input: "events['turn']" names no attribute of an event > Write events['NAME'].attributes.KEY, or list(events['NAME']) for all events of the name.`,
  ],
  [
    '{ name: acme, match: { scope: a }, span: { tool: kind = TOOL } }',
    `1:62 dialects[0].span.tool: "TOOL" is not a text in quotes > Write kind = 'TOOL'.`,
  ],
];
for (const [text, want] of faulty)
  test(`config dialects: ${text}`, () => {
    try {
      loadConfig({ validators, file: 'a.yaml', text: `dialects: [ ${text} ]`, env: {}, evaluators: members });
      expect.unreachable();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      expect(error.faults.map(({ line, column, key, problem, todo }) => `${line}:${column} ${key}: ${problem} > ${todo}`)).toEqual([want]);
    }
  });
