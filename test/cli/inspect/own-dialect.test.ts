/** An SDK without a collector: the entry proposed for its spans, and the reading of the corrected entry. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { evaluators } from '../../../evaluators/index.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { commands } from '../../../src/cli/commands/index.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import type { Span } from '../../../src/model/span.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { span } from '../../builders/spans.ts';
import { validators } from '../../builders/validators.ts';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-dialect-'));
afterAll(() => rmSync(folder, { recursive: true }));

const scope = 'acme.agents';
/** No other dialect knows its words for kinds, and arguments are beside the sort of the call. */
const invented = [
  span({
    id: 1,
    scope,
    name: 'mission',
    start: 0,
    end: 90,
    attributes: { 'unit.sort': 'CREW', who: 'travel', ask: 'A flight to CDG.', reply: 'AF007.' },
  }),
  span({
    id: 2,
    parent: 1,
    scope,
    name: 'think',
    start: 10,
    end: 20,
    attributes: { 'unit.sort': 'BRAIN', engine: 'm1', heard: '[{"role":"user","content":"A flight to CDG."}]' },
  }),
  span({
    id: 3,
    parent: 1,
    scope,
    name: 'do',
    start: 30,
    end: 40,
    attributes: {
      'unit.sort': 'ACTION',
      action: 'search_flights',
      payload: '{"mode":"sync","args":{"to":"CDG"}}',
      outcome_text: '{"flight":"AF007"}',
    },
  }),
];
const spans = file('spans.json', writeTraces(invented, 'json'));
const guide = readFileSync(join(import.meta.dirname, '../../../docs/guides/own-dialect.md'), 'utf8');
const config = file('acme.yaml', block('yaml'));
const run = JSON.parse(block('json')) as JsonObject;

test('inspect --expect: the entry of the guide reads what an unknown SDK did', async () => {
  const expected = file('expected.json', JSON.stringify({ runs: [run] }));
  expect(await inspect([spans, '-c', config, '--expect', expected])).toEqual({ code: 0, out: 'The runs are as expected.', err: '' });
});

test('inspect: runs name the dialect of the configuration', async () => {
  const { out } = await inspect([spans, '-c', config, '--format', 'json']);
  expect(JSON.parse(out)).toMatchObject({ runs: [{ agent: 'travel', dialects: ['acme'] }] });
});

test('eval: scores the runs of an unknown SDK', async () => {
  expect(await command('eval', [spans, '--format', 'json'])).not.toMatchObject({ out: expect.stringContaining('"travel"') });
  expect(await command('eval', [spans, '-c', config, '--format', 'json'])).toMatchObject({ out: expect.stringContaining('"travel"') });
});

const differing: readonly (readonly [name: string, expected: unknown, lines: readonly string[]])[] = [
  ['another agent', { agent: 'hotel' }, ['runs[0].agent: expected "hotel", read "travel"']],
  ['only one run, and a member that is not named', { agent: 'travel' }, []],
  ['another number of runs', [run, run], ['runs: expected 2, read 1']],
  [
    'another argument, result and answer',
    [{ final_response: 'None.', tool_calls: [{ name: 'search_flights', arguments: { to: 'JFK', day: 1 }, result: 'none' }] }],
    [
      'runs[0].final_response: expected "None.", read "AF007."',
      'runs[0].tool_calls[0].arguments.to: expected "JFK", read "CDG"',
      'runs[0].tool_calls[0].arguments.day: expected 1, read nothing',
      'runs[0].tool_calls[0].result: expected "none", read {"flight":"AF007"}',
    ],
  ],
  ['no calls', { tool_calls: [] }, ['runs[0].tool_calls: expected 0 calls, read 1']],
  [
    'a call more',
    { tool_calls: [{ name: 'search_flights' }, { name: 'book' }] },
    ['runs[0].tool_calls: expected 2 calls, read 1', 'runs[0].tool_calls[1]: expected {"name":"book"}, read no call'],
  ],
];
for (const [name, expected, lines] of differing)
  test(`inspect --expect: ${name}`, async () => {
    const { code, out } = await inspect([spans, '-c', config, '--expect', file('other.json', JSON.stringify(expected))]);
    expect({ code, lines: out.split('\n') }).toEqual(
      lines.length === 0 ? { code: 0, lines: ['The runs are as expected.'] } : { code: 1, lines },
    );
  });

test.each([
  ['no JSON', 'agent: travel', /it is not JSON/],
  ['a misspelt member', '{"agnet": "travel"}', /runs\[0\] has the member "agnet". Did you mean agent\?/],
  ['a misspelt member of a call', '[{"tool_calls": [{"args": {}}]}]', /runs\[0\]\.tool_calls\[0\] has the member "args"/],
])('inspect --expect: refuses %s', async (_name, text, message) => {
  const { code, err } = await inspect([spans, '-c', config, '--expect', file('bad.json', text)]);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(message) });
});

/** Keys that end as everybody's do, under words of the SDK's own. */
const readable = [
  span({
    id: 1,
    scope,
    start: 0,
    end: 90,
    attributes: { 'acme.span.kind': 'agent', 'acme.agent.name': 'travel', 'acme.input': 'q', 'acme.output': 'a' },
  }),
  span({
    id: 2,
    parent: 1,
    scope,
    start: 10,
    end: 20,
    attributes: { 'acme.span.kind': 'tool', 'acme.tool.name': 'search', 'acme.tool.args': '{"x":1}', 'acme.tool.result': '2' },
  }),
  span({ id: 3, parent: 1, scope, start: 30, end: 40, attributes: { 'acme.span.kind': 'ritual' } }),
];

test('inspect --propose-dialect: an entry that loads, reads the spans, and marks where it is unsure', async () => {
  const recorded = file('readable.json', writeTraces(readable, 'json'));
  const { code, out } = await inspect([recorded, '--propose-dialect']);
  expect(code).toBe(0);
  expect(out.split('\n')).toEqual([
    'dialects:',
    '  # 3 spans of the scope "acme.agents".',
    "  # Not used: acme.span.kind = 'ritual' (1 spans). Add it to a role under span, or ignore it.",
    '  - name: acme-agents',
    '    match:',
    '      scope: acme.agents',
    '    span:',
    "      agent: acme.span.kind = 'agent'",
    "      tool: acme.span.kind = 'tool'",
    '    read:',
    '      tool.name: attributes.acme.tool.name',
    '      tool.arguments: attributes.acme.tool.args',
    '      tool.result: attributes.acme.tool.result',
    '      agent.name: attributes.acme.agent.name',
    '      input: attributes.acme.input',
    '      output: attributes.acme.output',
  ]);
  const expected = file(
    'readable-expected.json',
    JSON.stringify({
      agent: 'travel',
      input: 'q',
      final_response: 'a',
      tool_calls: [{ name: 'search', arguments: { x: 1 }, result: '2' }],
    }),
  );
  expect(await inspect([recorded, '-c', file('proposed.yaml', out), '--expect', expected])).toMatchObject({ code: 0 });
});

test('inspect: a run that is read by evidence shows how sure it is', async () => {
  const recorded = file('by-evidence.json', writeTraces(readable, 'json'));
  const { out } = await inspect([recorded, '--format', 'json']);
  expect((JSON.parse(out) as JsonObject)['runs']).toMatchObject([
    {
      evidence: {
        provenance: 'generic',
        confidence: 0.99,
        fields: { agent: { class: 'kind_and_key', confidence: 0.99 }, input: { class: 'ending' }, tool_calls: { class: 'kind_and_key' } },
      },
    },
  ]);
  expect((await inspect([recorded])).out).toMatch(
    /by evidence +99 % sure: agent \(kind and key\), input \(ending\), final response \(ending\), tool calls \(kind and key\)/,
  );
});

/** Another SDK: no key names the kind, and the words are not those of the guide. */
const wordless = [
  span({ id: 1, scope, start: 0, end: 90, attributes: { persona: 'travel', question: 'A flight to CDG.', conclusion: 'AF007.' } }),
  span({
    id: 2,
    parent: 1,
    scope,
    start: 10,
    end: 20,
    attributes: {
      llm: 'm1',
      transcript: '[{"role":"user","content":"A flight to CDG."}]',
      uttered: '[{"role":"assistant","content":"I search."}]',
    },
  }),
  span({
    id: 3,
    parent: 1,
    scope,
    start: 30,
    end: 40,
    attributes: { skill: 'search_flights', given: '{"to":"CDG"}', returned: '{"flight":"AF007"}', state: 'closed' },
  }),
];

test.each([
  ['the SDK of the guide', invented],
  ['an SDK without a key for kinds', wordless],
  ['a key that has the same values for several kinds', invented.map((one, at) => withAttribute(one, 'mood', at === 0 ? 'fine' : 'good'))],
])('inspect --propose-dialect: three spans of %s suffice for an entry that reads the run', async (_name, recorded) => {
  const input = file('unknown.json', writeTraces(recorded, 'json'));
  const { code, out } = await inspect([input, '--propose-dialect']);
  expect({ code, isGuess: out.includes('# Guessed from places and values of spans: check each line.') }).toEqual({
    code: 0,
    isGuess: true,
  });
  const expected = file('unknown-expected.json', JSON.stringify(run));
  const compared = await inspect([input, '-c', file('guessed.yaml', out), '--expect', expected]);
  expect(compared).toMatchObject({ code: 0, out: 'The runs are as expected.' });
});

test('inspect --propose-dialect: a name with the form of a variable is a name in the proposal', async () => {
  const name = '$${env:SECRET}$';
  const own = [1, 2].map((id) =>
    span({ id, scope: name, attributes: { 'acme.span.kind': 'tool', 'acme.tool.name': 'find', 'acme.tool.input': '{}' } }),
  );
  const { code, out } = await inspect([file('variable.json', writeTraces(own, 'json')), '--propose-dialect']);
  expect(code).toBe(0);
  const { dialects } = loadConfig({ validators, file: 'proposed.yaml', text: out, env: { SECRET: 'x' }, evaluators }).config;
  expect(JSON.stringify(dialects)).toContain(JSON.stringify(name));
});

test('inspect --propose-dialect: spans that suggest nothing get their keys, to be filled in', async () => {
  const opaque = [1, 2, 3].map((id) => span({ id, scope, attributes: { zip: `text ${id} of a thing`, zap: id } }));
  const { code, out } = await inspect([file('opaque.json', writeTraces(opaque, 'json')), '--propose-dialect']);
  expect(code).toBe(0);
  expect(out).toContain('scope: acme.agents');
  for (const key of ['zip (3)', 'zap (3)']) expect(out).toContain(key);
  // It is a comment, because the configuration refuses an entry that reads nothing.
  expect(loadConfig({ validators, file: 'proposed.yaml', text: out, env: {}, evaluators }).config.dialects).toEqual([]);
});

test('inspect --propose-dialect: proposes nothing where collectors of SDKs read every span', async () => {
  const known = [span({ id: 1, attributes: { 'langfuse.observation.type': 'agent', 'langfuse.observation.input': 'q' } })];
  expect(await inspect([file('known.json', writeTraces(known, 'json')), '--propose-dialect'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('nothing to propose'),
  });
});

test('guide: the configuration accepts each example of it', () => {
  const examples = [...guide.matchAll(/^```yaml\n([^]*?)^```/gm)].map(([, text = '']) => text);
  expect(examples.length).toBeGreaterThan(1);
  for (const text of examples)
    expect(loadConfig({ validators, file: 'guide.yaml', text, env: {}, evaluators }).config.dialects).toHaveLength(1);
});

function withAttribute(one: Span, key: string, value: string): Span {
  return { ...one, attribute: (name) => (name === key ? value : one.attribute(name)), attributeKeys: () => [...one.attributeKeys(), key] };
}

/** The first block of the guide in this language. */
function block(language: string): string {
  const found = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'm').exec(guide)?.[1];
  if (found === undefined) throw new Error(`the guide has no block in ${language}`);
  return found;
}

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function inspect(words: readonly string[]): ReturnType<typeof command> {
  return command('inspect', words);
}

async function command(
  name: string,
  words: readonly string[],
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runCommandLine({
    words: [name, ...words],
    commands,
    version: '',
    env: {},
    say: (text) => out.push(text),
    complain: (text) => err.push(text),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}
