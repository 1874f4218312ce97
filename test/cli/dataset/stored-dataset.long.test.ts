/** Datasets of the store on the command line: from a run that failed to an example that eval reads. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { redactedRun } from '../../../src/pipeline/evaluation/redacted-run.ts';
import type { Run } from '../../../src/model/agent-trace.ts';
import { configuredRedaction } from '../../../src/config/entries/redaction.ts';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { noTelemetry } from '../../../src/telemetry/telemetry.ts';
import { agentTrace, call, spanId } from '../../builders/agent-trace.ts';
import { command, type CommandEnd } from '../../builders/command.ts';
import { run, scored, scoredRun } from '../../builders/scored-run.ts';
import { traceId } from '../../builders/spans.ts';

const secretRules = [{ match: 'email', replace: '[redacted]' }] as const;
/** The runs are stored once; each test has a copy of the file. */
const template = mkdtempSync(join(tmpdir(), 'tracejury-dataset-'));
afterAll(() => rmSync(template, { recursive: true }));
let folder = '';
let config = '';

const lookup = call({ name: 'lookup_order', arguments: { order: 'A-1' }, result: { state: 'sent' } });
const refund = call({
  name: 'refund_order',
  arguments: { order: 'A-1', to: 'ann@example.org' },
  error: { message: 'no', sign: 'span_status' },
});

function storedRun(nth: number, input: string, given: Partial<Run['trace']> = {}, members: Partial<Run> = {}): Run {
  return run({
    traceId: traceId(nth),
    startUnixNano: BigInt(nth) * 10_000_000_000n,
    endUnixNano: BigInt(nth) * 10_000_000_000n + 1_000_000_000n,
    trace: agentTrace({ agent: 'support', input, finalResponse: `answer ${nth}`, toolCalls: [lookup], ...given }),
    ...members,
  });
}

beforeAll(async () => {
  const store = await sqliteStore(join(template, 'store.db'));
  const redaction = configuredRedaction(secretRules, noTelemetry);
  const whole = [
    storedRun(1, 'Where is order 47110?', { sessionId: 's' }),
    storedRun(2, 'Refund it to ann@example.org', {
      sessionId: 's',
      toolCalls: [lookup, refund],
      toolDefinitions: [{ name: 'refund_order', inputSchema: { type: 'object' } }],
    }),
    storedRun(3, 'Where is order 47111?'),
    storedRun(4, 'Hello', { toolCalls: [], toolCallsCarried: false }),
    storedRun(5, 'Bye', { agent: 'other', finalResponse: 'cut', truncated: ['final_response'] }),
    storedRun(6, 'mine', { sessionId: 'of ann@example.org' }),
    storedRun(7, 'mine too', { sessionId: 'of bob@example.org' }),
  ];
  await store.write(
    whole.map((one, at) =>
      redactedRun(one, redaction).item(
        scoredRun({ tool_error: scored(at === 1 ? 0 : 1, { explanation: '1 of 2 calls failed for ann@example.org.' }) }, one),
      ),
    ),
  );
  await store.write([{ ...scoredRun({}, storedRun(8, 'gone')), withoutContent: 'switched_off' }]);
  await store.stop();
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tracejury-dataset-'));
  const made = folder;
  onTestFinished(() => rmSync(made, { recursive: true }));
  copyFileSync(join(template, 'store.db'), join(folder, 'store.db'));
  config = join(folder, 'tracejury.yaml');
  writeFileSync(config, `store: { url: "sqlite:${join(folder, 'store.db')}" }\nredact: [ { match: email } ]\n`);
});

async function dataset(...words: readonly string[]): Promise<CommandEnd> {
  return await command(['dataset', ...words, '-c', config], { USER: 'ann' });
}

async function examples(name: string): Promise<readonly { readonly [key: string]: unknown }[]> {
  const { out } = await dataset('export', name, '--format', 'yaml');
  return parse(out) as readonly { readonly [key: string]: unknown }[];
}

const id = (nth: number): string => `${traceId(nth)}-${spanId(0xa1)}`;

test('dataset add: a failed later turn becomes a draft with the conversation, the calls, the answer and the tools, redacted', async () => {
  const added = await dataset(
    'add',
    'failures',
    '--where',
    'evaluator=tool_error verdict=fail',
    '--tag',
    'refund',
    '--split',
    'test',
    '--note',
    'day one',
  );
  expect(added).toEqual({
    code: 0,
    out: 'failures@1: 1 added',
    err: 'Their expectations repeat what the runs did: they are drafts until someone has reviewed them.',
  });
  const [one] = await examples('failures');
  expect(one).toEqual({
    id: id(2),
    input: [
      { role: 'user', content: 'Where is order 47110?' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'lookup_order', arguments: '{"order":"A-1"}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '{"state":"sent"}' },
      { role: 'assistant', content: 'answer 1' },
      { role: 'user', content: 'Refund it to [redacted]' },
    ],
    expect: {
      tool_calls: [
        { name: 'lookup_order', arguments: { order: 'A-1' } },
        { name: 'refund_order', arguments: { order: 'A-1', to: '[redacted]' } },
      ],
      output: 'answer 2',
    },
    tools: [{ name: 'refund_order', input_schema: { type: 'object' } }],
    tags: ['refund'],
    split: 'test',
    metadata: {
      agent: 'support',
      service: 'travel',
      session_id: 's',
      failed: { tool_error: '1 of 2 calls failed for [redacted].' },
      earlier_turns: 1,
    },
    review: 'draft',
    origin: { trace_id: traceId(2), span_id: spanId(0xa1), by: 'ann', at: expect.stringMatching(/^20\d\d-/) },
  });
});

test.each([
  { name: 'calls that the spans do not carry do not become an expectation', nth: 4, want: { output: 'answer 4' } },
  {
    name: 'a truncated answer does not become an expectation',
    nth: 5,
    want: { tool_calls: [{ name: 'lookup_order', arguments: { order: 'A-1' } }] },
  },
])('dataset add: $name', async ({ nth, want }) => {
  await dataset('add', 'd', '--run', `${traceId(nth)}/${spanId(0xa1)}`);
  expect((await examples('d')).map(({ expect: expected }) => expected)).toEqual([want]);
});

test('dataset add: runs of an issue become examples, and a filter narrows them', async () => {
  const { out } = await command(['issues', '--format', 'json', '-c', config]);
  const issue = (JSON.parse(out) as { readonly id: string }).id;
  expect(await dataset('add', 'd', '--issue', issue)).toMatchObject({ code: 0, out: 'd@1: 1 added' });
  expect((await examples('d')).map((one) => one['id'])).toEqual([id(2)]);
  expect(await dataset('add', 'e', '--issue', issue, '--where', 'agent=other')).toMatchObject({ code: 1, err: 'No stored run matches.' });
  expect(await dataset('add', 'e', '--issue', issue, '--where', `issue=${issue}`)).toMatchObject({ code: 2 });
  expect(await dataset('add', 'e', '--issue', 'x')).toMatchObject({ code: 2, err: expect.stringContaining('is not the id of an issue') });
});

test('dataset add: sessions whose id is redacted are not taken for one', async () => {
  await dataset('add', 'd', '--run', traceId(7));
  expect((await examples('d')).map(({ input }) => input)).toEqual(['mine too']);
});

test('dataset add: --distinct leaves out near-duplicates, --limit counts the examples that are left', async () => {
  await dataset('add', 'd', '--where', 'agent=support', '--distinct', '--limit', '4');
  expect((await examples('d')).map((one) => one['id'])).toEqual([id(7), id(6), id(4), id(3)]);
  // The other one on the state of an order differs only in a number.
  expect((await dataset('add', 'd', '--run', traceId(1), '--distinct')).err).toMatch(/left out 1: the input of another example/);
});

test('dataset add: the same run again changes nothing, and a reviewed example stays until --replace', async () => {
  const file = join(folder, 'edited.yaml');
  await dataset('add', 'd', '--run', traceId(1));
  expect(await dataset('add', 'd', '--run', traceId(1))).toMatchObject({ code: 0, out: 'd@1: 1 unchanged' });
  await dataset('export', 'd', '--output', file);
  writeFileSync(file, readFileSync(file, 'utf8').replace('review: draft', 'review: reviewed').replace('answer 1', 'better'));
  expect(await dataset('import', file, '--to', 'd')).toMatchObject({ code: 0, out: 'd@2: 1 changed' });
  expect(await dataset('add', 'd', '--run', traceId(1))).toMatchObject({
    out: 'd@2: nothing changed',
    err: expect.stringContaining('is reviewed; --replace overwrites it'),
  });
  expect(await dataset('add', 'd', '--run', traceId(1), '--replace')).toMatchObject({
    out: 'd@3: 1 changed',
    err: expect.stringContaining('replaced 1 reviewed example of d'),
  });
  expect((await dataset('show', 'd', '--example', id(1))).out).toMatch(
    /# version 3 to now: .* by ann, draft\n# version 2 to 2: .* by ann, reviewed\n# version 1 to 1: /,
  );
  expect((await dataset('diff', 'd@1', 'd@2')).out).toMatch(
    /d@1 → d@2: 0 added, 1 changed, 0 removed\n~ [\s\S]*- .*"answer 1"[\s\S]*\+ .*"better"[\s\S]*review:\n {4}- draft\n {4}\+ reviewed/,
  );
  expect((await dataset('diff', 'd@1', 'd@3')).out).toBe('d@1 → d@3: 0 added, 0 changed, 0 removed');
});

test.each([
  { name: 'a run that is not stored', words: ['add', 'd', '--run', traceId(99)], code: 2, says: /no run of the trace/ },
  {
    name: 'a span that is not stored',
    words: ['add', 'd', '--run', `${traceId(1)}/${spanId(0xff)}`],
    code: 1,
    says: /no example of 1 run: the store has no such run/,
  },
  { name: 'a run without texts', words: ['add', 'd', '--run', traceId(8)], code: 1, says: /the store has no texts of it/ },
  { name: 'a wrong id', words: ['add', 'd', '--run', 'abc'], code: 2, says: /--run takes a trace id of 32/ },
  { name: 'neither run nor filter', words: ['add', 'd'], code: 2, says: /Name runs with --run/ },
  { name: 'a wrong filter', words: ['add', 'd', '--where', 'agnet=x'], code: 2, says: /Did you mean agent\?/ },
  { name: 'no match', words: ['add', 'd', '--where', 'agent=nobody'], code: 1, says: /No stored run matches/ },
  { name: 'a wrong name', words: ['add', 'a/b', '--run', traceId(1)], code: 2, says: /"a\/b" names no dataset/ },
  { name: 'a change of a version', words: ['add', 'd@1', '--run', traceId(1)], code: 2, says: /without @1/ },
  { name: 'no such dataset', words: ['show', 'knwon'], code: 2, says: /The store has no dataset knwon. Did you mean known\?/ },
  { name: 'no such version', words: ['show', 'known@7'], code: 2, says: /has no version 7; its newest one is 1/ },
  { name: 'no such example', words: ['show', 'known', '--example', 'x'], code: 2, says: /no example "x"/ },
  { name: 'shares that do not add up', words: ['split', 'known', '--parts', 'a=0.5,b=0.6'], code: 2, says: /shares that add up to 1/ },
  { name: 'neither examples nor all', words: ['remove', 'known'], code: 2, says: /--example ID, or delete/ },
  { name: 'an unknown form', words: ['export', 'known', '--format', 'xls'], code: 2, says: /--format takes one of jsonl, json, yaml, csv/ },
  { name: 'an empty part', words: ['export', 'known', '--split', 'none'], code: 1, says: /has no such example/ },
  { name: 'file and store', words: ['import', 'x', '--to', 'd', '--output', 'y'], code: 2, says: /give one of them/ },
])('dataset: $name is reported', async ({ words, code, says }) => {
  await dataset('add', 'known', '--run', traceId(1));
  const end = await dataset(...words);
  expect(end.err).toMatch(says);
  expect(end.code).toBe(code);
});

test('dataset: list, show, split and remove', async () => {
  await dataset('add', 'd', '--where', 'agent=support');
  expect((await dataset('list')).out).toMatch(/^d@1 {2}6 examples, 6 drafts {2}changed 20/);
  expect(JSON.parse((await dataset('list', '--format', 'json')).out)).toMatchObject({ name: 'd', version: 1, examples: 6, drafts: 6 });
  const divided = await dataset('split', 'd', '--parts', 'train=0.5,test=0.5', '--seed', 'x');
  expect(divided.out).toMatch(/^d@2: 6 changed\n/);
  const parts = new Map((await examples('d')).map((one) => [one['id'], one['split']]));
  expect(parts.get(id(1))).toBe(parts.get(id(3)));
  expect((await dataset('split', 'd', '--parts', 'a=1')).out).toMatch(/every example has a part/);
  expect((await dataset('show', 'd', '--split', 'train', '--format', 'json')).out.split('\n')).toHaveLength(
    [...parts.values()].filter((part) => part === 'train').length,
  );
  expect((await dataset('show', 'd@1', '--limit', '2')).err).toBe('4 more; --limit shows them.');
  expect(await dataset('remove', 'd', '--example', id(4), '--example', 'x')).toMatchObject({
    code: 0,
    out: 'd@3: 1 removed',
    err: expect.stringContaining('no such example (x)'),
  });
  expect(await examples('d@2')).toHaveLength(6);
  expect(await dataset('remove', 'd', '--all')).toMatchObject({ code: 0, out: 'd: deleted with all its versions' });
  expect(await dataset('list')).toMatchObject({ out: '', err: 'The store has no dataset yet.' });
});

test('dataset review: named drafts, or all of them, are reviewed in the next version, and stay when their runs are added again', async () => {
  await dataset('add', 'd', '--where', 'agent=support');
  expect(await dataset('review', 'd', id(1), id(3))).toMatchObject({ code: 0, out: 'd@2: 2 changed' });
  expect((await dataset('list')).out).toContain('6 examples, 4 drafts');
  expect(
    (await examples('d'))
      .filter((one) => one['review'] !== 'draft')
      .map((one) => String(one['id']))
      .toSorted(),
  ).toEqual([id(1), id(3)]);
  expect(await dataset('review', 'd', id(1), 'x')).toMatchObject({
    code: 1,
    out: 'd@2: nothing changed: none of these is a draft',
    err: 'd@2 has no example "x".',
  });
  expect((await dataset('add', 'd', '--run', traceId(1))).err).toMatch(/reviewed; --replace overwrites it/);
  const [row = ''] = (await dataset('show', 'd')).out.split('\n').filter((line) => line.endsWith('draft'));
  expect(await dataset('review', 'd@2', row.split(' ', 1)[0] ?? '')).toMatchObject({ code: 0, out: 'd@3: 1 changed' });
  expect(await dataset('review', 'd@2', '--all')).toMatchObject({ code: 2, err: expect.stringContaining('the newest one is d@3') });
  expect(await dataset('review', 'd', '--all')).toMatchObject({ code: 0, out: 'd@4: 3 changed' });
  expect((await dataset('show', 'd', '--format', 'text')).out).toContain('by ann: reviewed');
  expect(await dataset('review', 'd')).toMatchObject({ code: 2, err: expect.stringContaining('mark all drafts with --all') });
});

test('eval: --dataset reads a stored dataset, a version of it, or a file, and names it', async () => {
  const runs = join(folder, 'runs.jsonl');
  writeFileSync(
    runs,
    `${JSON.stringify({ id: id(1), input: 'Where is order 47110?', tool_calls: [{ name: 'lookup_order', arguments: { order: 'A-1' } }], final_response: 'answer 1' })}\n`,
  );
  await dataset('add', 'd', '--run', traceId(1));
  const evaluated = (...words: readonly string[]): Promise<CommandEnd> =>
    command(['eval', runs, '-c', config, '--format', 'json', ...words]);
  const stored = await evaluated('--dataset', 'd@1', '--allow-unscored');
  expect(stored.err).toMatch(/Dataset d@1 of the store .*: 1 examples\.[\s\S]*d@1: 1 of 1 examples is a draft/);
  expect(stored.out).toContain(id(1));
  expect(await evaluated('--dataset', 'e')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/there is no file e\. The store has no dataset e\. .*d/),
  });
  expect(await evaluated('--dataset', 'd@2')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/there is no file d@2\. The dataset d has no version 2/),
  });
  expect(await command(['eval', runs, '--dataset', 'nowhere.yaml'])).toMatchObject({
    code: 2,
    err: expect.stringMatching(/no file nowhere\.yaml/),
  });
});
