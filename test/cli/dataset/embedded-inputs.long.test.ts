/** `dataset add --distinct --embeddings`: near duplicates by meaning, within bounds, and never a silent fallback. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Run } from '../../../src/model/agent-trace.ts';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { agentTrace } from '../../builders/agent-trace.ts';
import { command, type CommandEnd } from '../../builders/command.ts';
import { run, scored, scoredRun } from '../../builders/scored-run.ts';
import { traceId } from '../../builders/spans.ts';
import { chatServer, embeds, says, status, type ChatServer, type Play } from '../../judges/chat-server.ts';

let folder = '';
let judge: ChatServer | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tracejury-embedded-'));
});

afterEach(async () => {
  await judge?.close();
  rmSync(folder, { recursive: true });
});

function storedRun(nth: number, input: string): Run {
  const start = BigInt(nth) * 10_000_000_000n;
  return run({
    traceId: traceId(nth),
    startUnixNano: start,
    endUnixNano: start + 1_000_000_000n,
    trace: agentTrace({ agent: 'support', input, finalResponse: 'done' }),
  });
}

async function stored(...inputs: readonly string[]): Promise<void> {
  const store = await sqliteStore(join(folder, 'store.db'));
  await store.write(inputs.map((input, at) => scoredRun({ tool_error: scored(0) }, storedRun(at + 1, input))));
  await store.stop();
}

async function add(plays: readonly Play[], ...words: readonly string[]): Promise<CommandEnd> {
  judge = await chatServer(...plays);
  const config = join(folder, 'tracejury.yaml');
  const more = 'concurrency: 1, price: { input_per_million: 1, output_per_million: 1 }, budget: { usd_per_day: 1 }';
  writeFileSync(
    config,
    `store: { url: "sqlite:${join(folder, 'store.db')}" }\nredact: [ { match: email, replace: "[mail]" } ]\njudges: { vectors: { base_url: "${judge.baseUrl}", model: e5, ${more} } }\n`,
  );
  return await command(['dataset', 'add', 'd', '-c', config, '--by', 'test', ...words]);
}

const matching = ['--where', 'agent=support', '--distinct', '--embeddings', 'vectors'];
const texts = (): readonly string[] => (judge?.requests ?? []).flatMap(({ body }) => body.input ?? []);

/** Refunds point one way, addresses another, and the two "refund" wordings are near each other. */
const meaning = embeds((text) => (text.includes('refund') ? [1, text.length / 1_000] : text.includes('money') ? [1, 0.05] : [0, 1]));

test('dataset add: inputs of nearly the same meaning are left out, and the text comparison comes first', async () => {
  await stored('Please refund it.', 'I want my money back.', 'please REFUND it', 'Change my address.');
  const { code, out, err } = await add([meaning], ...matching);
  expect([code, out]).toEqual([0, 'd@1: 2 added']);
  expect(err).toContain('left out 1: the input is near that of another example (similarity of at least 0.95)');
  expect(err).toMatch(/the nearest input that was not left out has the similarity 0\.0\d+/);
  expect(texts().toSorted()).toEqual(['Change my address.', 'I want my money back.', 'please REFUND it']);
});

test('dataset add: the inputs of the dataset count, and the threshold decides', async () => {
  await stored('Please refund it.', 'I want my money back.');
  await add([meaning], '--where', 'agent=support', '--limit', '1');
  await judge?.close();
  const near = await add([meaning], ...matching);
  expect(near.err).toContain('left out 1: the input is near');
  expect([near.code, near.err]).toEqual([
    1,
    expect.stringContaining('Nothing was added: the inputs of 2 runs repeat examples of the dataset.'),
  ]);
  await judge?.close();
  const strict = await add([meaning], ...matching, '--similarity', '1');
  expect(strict.out).toBe('d@2: 1 added');
});

test('dataset add: named runs are compared as well, and a run never duplicates itself', async () => {
  await stored('Please refund it.', 'I want my money back.');
  const runs = [1, 2].flatMap((nth) => ['--run', traceId(nth)]);
  const first = await add([meaning], ...runs, '--distinct', '--embeddings', 'vectors');
  expect(first.out).toBe('d@1: 1 added');
  await judge?.close();
  const again = await add([meaning], '--run', traceId(1), '--distinct', '--embeddings', 'vectors');
  expect([again.code, again.err]).toEqual([0, expect.not.stringContaining('left out 1: the input is near')]);
});

test('dataset add: long and blank inputs are compared only by text, which is said', async () => {
  await stored('x'.repeat(20_000), 'Please refund it.');
  const { out, err } = await add([meaning], ...matching);
  expect(out).toBe('d@1: 2 added');
  expect(err).toContain('1 input was compared only by text: blank, or longer than 16000 characters');
});

test('dataset add: a request has at most sixteen texts, and each text goes once', async () => {
  await stored(...Array.from({ length: 40 }, (_, at) => `question ${String.fromCodePoint(97 + (at % 26))}${'x'.repeat(at)}`));
  let embedded = 0;
  const apart = embeds(() => {
    const own = embedded++;
    return Array.from({ length: 64 }, (_, at) => (at === own ? 1 : 0));
  });
  const { out } = await add([apart], ...matching);
  expect(out).toBe('d@1: 40 added');
  expect(judge?.requests.map(({ body }) => body.input?.length)).toEqual([16, 16, 8]);
});

const faults: readonly { readonly name: string; readonly play: Play; readonly says: string }[] = [
  { name: 'refuses the key', play: status(401), says: 'judge_unavailable: status 401' },
  { name: 'is a chat model', play: says('hello'), says: 'judge_answer_invalid' },
  { name: 'gives vectors of different lengths', play: embeds((text) => [...text].map(() => 1)), says: 'judge_answer_invalid' },
];

test.each(faults)('dataset add: a judge that $name adds nothing, and the command reports it', async ({ play, says: word }) => {
  await stored('Please refund it.', 'Change my address.');
  const { code, out, err } = await add([play], ...matching);
  expect([code, out]).toEqual([1, '']);
  expect(err).toContain(word);
  expect(err).toContain('so nothing was added. Without --embeddings only the texts are compared.');
});

const wrong: readonly (readonly [string, readonly string[], string])[] = [
  ['an unknown judge', ['--where', 'agent=support', '--distinct', '--embeddings', 'vector'], 'Did you mean vectors?'],
  ['no --distinct', ['--where', 'agent=support', '--embeddings', 'vectors'], '--embeddings goes with --distinct'],
  ['only a similarity', ['--where', 'agent=support', '--distinct', '--similarity', '0.9'], '--similarity goes with --embeddings'],
  ['a similarity of 0', [...matching, '--similarity', '0'], 'above 0'],
];

test.each(wrong)('dataset add: %s is wrong usage', async (_name, words, text) => {
  await stored('Please refund it.');
  const { code, err } = await add([meaning], ...words);
  expect([code, err]).toEqual([2, expect.stringContaining(text)]);
});
