/** `tracejury queue` over a store file and over a running service: the same lines and exit codes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, parseJson } from '../../../src/model/json.ts';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { agentTrace, call } from '../../builders/agent-trace.ts';
import { command, type CommandEnd } from '../../builders/command.ts';
import { run, scored, scoredRun } from '../../builders/scored-run.ts';
import { traceId } from '../../builders/spans.ts';
import { running, type Running } from '../../service/running.ts';

const queues =
  'queues: [ { name: refunds, when: "tool_error < 1", ask: [ { evaluator: tool_error }, { score: helpful, min: 1, max: 5 }, { text: why } ], people: 2 } ]\n';

let folder = '';
let service: Running;

async function stored(file: string): Promise<void> {
  const store = await sqliteStore(file);
  await store.write(
    [0, 1, 2].map((at) => {
      const lookup = call({ name: 'lookup_order', arguments: { order: `A-${at}` }, result: { state: 'sent' } });
      const trace = agentTrace({
        agent: 'support',
        input: `Where is A-${at}?\u001b[2J`,
        finalResponse: 'On its way.',
        toolCalls: [lookup],
      });
      const startUnixNano = BigInt(Date.now() + at) * 1_000_000n;
      return scoredRun({ tool_error: scored(at % 2) }, run({ traceId: traceId(at + 1), trace, startUnixNano, endUnixNano: startUnixNano }));
    }),
  );
  await store.stop();
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tracejury-queue-'));
  await stored(join(folder, 'file.db'));
  await stored(join(folder, 'served.db'));
  writeFileSync(join(folder, 'config.yaml'), `store: { url: "sqlite:${join(folder, 'file.db')}" }\n${queues}`);
  service = await running(`store: { url: "sqlite:${join(folder, 'served.db')}" }\n${queues}`);
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

const places = {
  'a store file': () => ['-c', join(folder, 'config.yaml')],
  'a service': () => ['--url', service.console],
} as const;

describe.each(Object.keys(places) as (keyof typeof places)[])('%s', (place) => {
  const queue = (...words: readonly string[]): Promise<CommandEnd> => command(['queue', ...words, ...places[place]()], { USER: 'ann' });

  async function opened(person: string): Promise<JsonObject> {
    const { out } = await queue('next', 'refunds', '--person', person, '--format', 'json');
    const item = parseJson(out);
    return isJsonObject(item ?? null) ? ((item as JsonObject)['item'] as JsonObject) : {};
  }

  test('queue: from adding runs to agreement', async () => {
    expect(await queue('next', 'refunds')).toMatchObject({ code: 1, err: expect.stringContaining('No item of refunds is free') });
    expect(await queue('add', 'refunds', '--where', 'evaluator=tool_error verdict=fail', '--note', 'odd')).toMatchObject({
      code: 0,
      out: 'refunds: 2 added',
    });
    expect(await queue('add', 'refunds', '--run', traceId(1), '--run', traceId(2))).toMatchObject({
      code: 0,
      out: 'refunds: 1 there before, 1 added',
    });
    const { code, out } = await queue('next', 'refunds');
    expect(code).toBe(0);
    expect(out).toContain('yours until');
    expect(out).toMatch(/^input {3}Where is A-\d\?\\u001b\[2J$/m);
    expect(out).toMatch(/^call {4}lookup_order \{"order":"A-\d"\} → \{"state":"sent"\}$/m);
    expect(out).toContain('tool_error: pass, fail\nhelpful: a number from 1 to 5\nwhy: a text, which may be left out');
    expect(out).toMatch(/tracejury queue answer refunds --item 1 --lease 1 .*--answer tool_error=… --answer helpful=…$/);

    const given = ['--item', '1', '--lease', '1'] as const;
    const answers = ['--answer', 'tool_error=fail', '--answer', 'helpful=2', '--answer', 'why=it = late'] as const;
    expect(await queue('answer', 'refunds', ...given, '--answer', 'tool_error=no')).toMatchObject({
      code: 2,
      err: expect.stringContaining('tool_error is "no", which is none of its values. Give one of pass, fail.'),
    });
    expect(await queue('answer', 'refunds', ...given, ...answers)).toMatchObject({ code: 0, out: expect.stringContaining('1 of 2') });
    const item = await opened('bob');
    expect(await queue('answer', 'refunds', ...given, ...answers, '--person', 'bob')).toMatchObject({
      code: 1,
      err: expect.stringContaining('another person has got the item'),
    });
    const lease = String((item['lease'] as JsonObject)['id']);
    expect(await queue('answer', 'refunds', '--item', String(item['id']), '--lease', lease, '--person', 'bob', ...answers)).toMatchObject({
      code: 0,
      out: expect.stringContaining('done'),
    });
    const second = await opened('bob');
    expect(
      await queue('answer', 'refunds', '--item', String(second['id']), '--lease', '1', '--person', 'bob', '--skip', 'in Finnish'),
    ).toMatchObject({ code: 0, out: expect.stringContaining('open') });

    expect((await queue('list')).out).toMatch(/^refunds +2 open, 0 leased, 1 done, 0 skipped, 0 expired$/);
    const shown = await queue('show', 'refunds', '--state', 'done');
    expect(shown.out).toContain('agree   tool_error: 100 % of 1 item, kappa is not defined');
    expect(shown.out).toContain('person  ann: 1 answered, 0 skipped\nperson  bob: 1 answered, 1 skipped');
    expect(shown.out).toMatch(/ +1 {2}done {5}2 of 2 {2}[0-9a-f]{32}\/[0-9a-f]{16} {2}odd$/m);
  });

  test.each<{ readonly name: string; readonly words: readonly string[]; readonly want: string }>([
    { name: 'no action', words: [], want: 'Name the action: list, show, next, answer, add.' },
    { name: 'another action', words: ['take'], want: '"take" is not one of' },
    { name: 'no name', words: ['next'], want: 'Name the queue.' },
    { name: 'a name that is none', words: ['next', 'a b'], want: 'names no queue' },
    { name: 'a queue that is not there', words: ['next', 'other'], want: 'There is no such queue or item.' },
    { name: 'two names', words: ['next', 'refunds', 'other'], want: 'too many arguments' },
    { name: 'no item', words: ['answer', 'refunds', '--answer', 'a=b'], want: '--item takes the number that tracejury queue next shows.' },
    {
      name: 'neither an answer nor a skip',
      words: ['answer', 'refunds', '--item', '1', '--lease', '1'],
      want: 'Answer the questions with',
    },
    { name: 'an answer without =', words: ['answer', 'refunds', '--item', '1', '--lease', '1', '--answer', 'good'], want: 'has no =' },
    { name: 'a run that is not an id', words: ['add', 'refunds', '--run', 'xyz'], want: '--run takes a trace id' },
    { name: 'runs and a filter', words: ['add', 'refunds', '--run', traceId(1), '--where', 'agent=a'], want: 'Name runs with --run' },
    { name: 'another state', words: ['show', 'refunds', '--state', 'new'], want: '--state takes one of open, done, skipped, expired.' },
  ])('queue: $name', async ({ words, want }) => {
    expect(await queue(...words)).toMatchObject({ code: 2, err: expect.stringContaining(want) });
  });
});

test('queue: a service that is not there, or none', async () => {
  expect(await command(['queue', 'list', '--url', 'http://127.0.0.1:1'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('http://127.0.0.1:1 does not answer (ECONNREFUSED).'),
  });
  expect(await command(['queue', 'list', '--url', 'console'])).toMatchObject({ code: 2, err: expect.stringContaining('--url takes') });
});
