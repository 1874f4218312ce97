import { expect, test } from 'vitest';
import { embeddingCache } from '../../../src/judges/client/embedder.ts';
import type { Judge, JudgeSettings } from '../../../src/judges/judge.ts';
import { bench } from '../bench.ts';
import { embeds, says, status, type Play } from '../chat-server.ts';

const vectors = (script: readonly Play[], settings: Partial<JudgeSettings> = {}) =>
  bench(script, { name: 'vectors', model: 'e5', ...settings });
/** Different for different texts. */
const vectorOf = (text: string): readonly number[] => [text.length, 1, 0.5];
const answersOf = (...texts: readonly string[]) => texts.map(vectorOf);
const embed = (judge: Judge, ...texts: readonly string[]) => judge.embed({ kind: 'embed', texts });

const answers: readonly {
  readonly name: string;
  readonly script: readonly Play[];
  readonly requests: number;
  readonly want: object;
  readonly settings?: Partial<JudgeSettings>;
}[] = [
  {
    name: 'one vector a text, with the model and its tokens',
    script: [embeds(vectorOf)],
    requests: 1,
    want: { kind: 'answered', value: answersOf('a', 'bcd'), model: 'e5', tokens: { input: 5, output: 0 } },
  },
  {
    name: 'entries in another order are put in order',
    script: [embeds(vectorOf, { reversed: true })],
    requests: 1,
    want: { kind: 'answered', value: answersOf('a', 'bcd') },
  },
  { name: 'busy answers are asked again', script: [status(503), status(429), embeds(vectorOf)], requests: 3, want: { kind: 'answered' } },
  {
    name: 'attempts at a busy endpoint are bounded',
    script: [status(500)],
    requests: 5,
    want: { kind: 'failed', error: 'judge_unavailable: status 500' },
  },
  {
    name: 'a wrong key is not asked again',
    script: [status(401)],
    requests: 1,
    want: { kind: 'failed', error: 'judge_unavailable: status 401' },
  },
  {
    name: 'a text that is too long for the model is failed',
    script: [status(400)],
    requests: 1,
    want: { kind: 'failed', error: 'judge_refused_request: status 400' },
  },
  {
    name: 'a redirect is not followed',
    script: [status(307, { location: '/v1/elsewhere' }), embeds(vectorOf)],
    requests: 1,
    want: { kind: 'failed', error: /^judge_redirected: status 307/ },
  },
  {
    name: 'a huge answer is given up',
    script: [(response) => void response.end(Buffer.alloc(9 * 1024 * 1024, 32))],
    requests: 1,
    want: { kind: 'failed', error: /^judge_answer_too_large/ },
  },
  {
    name: 'an endpoint that hangs times out',
    script: [() => {}],
    requests: 5,
    want: { kind: 'failed', error: /^judge_timed_out/ },
    settings: { timeoutMs: 50 },
  },
  {
    name: 'a body that is not JSON is failed',
    script: [(response) => void response.end('<html>')],
    requests: 1,
    want: { kind: 'failed', error: /^judge_answer_invalid/ },
  },
  {
    name: 'a chat completion is failed',
    script: [says('[1, 2]')],
    requests: 1,
    want: { kind: 'failed', error: 'judge_answer_invalid: there is no list of vectors' },
  },
  {
    name: 'a vector too few is failed',
    script: [status(200, {}, { data: [{ index: 0, embedding: [1] }] })],
    requests: 1,
    want: { kind: 'failed', error: 'judge_answer_invalid: there are 1 vectors for 2 texts' },
  },
  {
    name: 'vectors of two lengths are failed',
    script: [embeds((text) => (text === 'a' ? [1, 2] : [1]))],
    requests: 1,
    want: { kind: 'failed', error: 'judge_answer_invalid: the vectors have different lengths: 2, 1' },
  },
  { name: 'empty vectors are failed', script: [embeds(() => [])], requests: 1, want: { kind: 'failed', error: /^judge_answer_invalid/ } },
  {
    name: 'a vector in base64, which was not asked for, is failed',
    script: [embeds(() => 'AACAPwAAAEA=')],
    requests: 1,
    want: { kind: 'failed', error: /^judge_answer_invalid/ },
  },
  {
    name: 'null among the numbers is failed',
    script: [embeds(() => [1, null])],
    requests: 1,
    want: { kind: 'failed', error: /^judge_answer_invalid/ },
  },
  {
    name: 'a number beyond all doubles is failed',
    script: [(response) => void response.end('{"data":[{"embedding":[1e999]},{"embedding":[1]}]}')],
    requests: 1,
    want: { kind: 'failed', error: /^judge_answer_invalid/ },
  },
];
for (const { name, script, requests, want, settings } of answers) {
  test(`embeddings: ${name}`, async () => {
    const { judge, server, slept } = await vectors(script, settings);
    const answer = await embed(judge, 'a', 'bcd');
    expect(answer).toMatchObject(
      'error' in want && want.error instanceof RegExp ? { ...want, error: expect.stringMatching(want.error) as unknown } : want,
    );
    expect(JSON.stringify(answer)).not.toContain('secret');
    // On a busy machine a request may end before it arrives, so attempts that time out are counted by the rests between them.
    expect(settings?.timeoutMs === undefined ? server.requests.length : slept.length + 1).toBe(requests);
  });
}

test('embeddings: the request carries key, model and texts, and asks for plain numbers', async () => {
  const { judge, server } = await vectors([embeds(vectorOf)]);
  await embed(judge, 'a', 'bcd', 'a');
  const [request] = server.requests;
  expect([request?.url, request?.headers.authorization]).toEqual(['/v1/embeddings', 'Bearer k']);
  expect(request?.body).toEqual({ model: 'e5', input: ['a', 'bcd'], encoding_format: 'float' });
});

test('embeddings: a text is asked for once, and what is known is counted as cached', async () => {
  const { judge, server, counts } = await vectors([embeds(vectorOf)]);
  await embed(judge, 'a', 'b');
  expect(await embed(judge, 'b', 'cc', 'a')).toMatchObject({ kind: 'answered', value: answersOf('b', 'cc', 'a') });
  expect(await embed(judge, 'cc')).toEqual({ kind: 'answered', value: answersOf('cc'), truncated: false, model: 'e5' });
  expect(server.requests.map(({ body }) => body.input)).toEqual([['a', 'b'], ['cc']]);
  expect(counts('tracejury.judge.embeddings')).toEqual({ asked: 3, cached: 3 });
  expect(counts('tracejury.judge.requests')).toEqual({ answered: 3 });
});

test('embeddings: what failed is asked for again, and vectors of another length are not kept', async () => {
  const { judge, server } = await vectors([embeds(() => [1, 2]), embeds(() => [1]), embeds(() => [3, 4])]);
  await embed(judge, 'a');
  expect(await embed(judge, 'a', 'b')).toMatchObject({ kind: 'failed', error: expect.stringContaining('different lengths') as unknown });
  expect(await embed(judge, 'a', 'b')).toMatchObject({
    kind: 'answered',
    value: [
      [1, 2],
      [3, 4],
    ],
  });
  expect(server.requests).toHaveLength(3);
});

test('embeddings: many texts go in several requests, and too many are refused', async () => {
  const { judge, server } = await vectors([embeds(vectorOf)]);
  const texts = Array.from({ length: 40 }, (_, at) => 'x'.repeat(at + 1));
  expect(await embed(judge, ...texts)).toMatchObject({ kind: 'answered', value: texts.map(vectorOf), tokens: { input: 15, output: 0 } });
  expect(server.requests.map(({ body }) => body.input?.length)).toEqual([16, 16, 8]);
  expect(await embed(judge, ...Array.from({ length: 2_001 }, (_, at) => String(at)))).toMatchObject({
    kind: 'failed',
    error: expect.stringContaining('judge_overloaded') as unknown,
  });
});

test('embeddings: Retry-After is honoured, and the limit of the minute is kept', async () => {
  const bed = await vectors([status(429, { 'retry-after': '7' }), embeds(vectorOf)], { requestsPerMinute: 1 });
  expect(await embed(bed.judge, 'a')).toMatchObject({ kind: 'answered' });
  expect([bed.slept[0], bed.slept.reduce((sum, ms) => sum + ms, 0)]).toEqual([7_000, 60_000]);
});

test('embeddings: no more requests at a time than allowed', async () => {
  let [inside, most] = [0, 0];
  const { judge, server } = await vectors([
    (response, request) => {
      most = Math.max(most, ++inside);
      setImmediate(() => {
        inside--;
        embeds(vectorOf)(response, request);
      });
    },
  ]);
  const all = await Promise.all(Array.from({ length: 9 }, (_, at) => embed(judge, `text ${at}`)));
  expect(all.every(({ kind }) => kind === 'answered')).toBe(true);
  expect([server.requests.length, most <= 2]).toEqual([9, true]);
});

test('embeddings: after a stop nothing is sent', async () => {
  const { judge, server } = await vectors([embeds(vectorOf)]);
  await judge.stop();
  expect(await embed(judge, 'a')).toMatchObject({ kind: 'failed' });
  expect(server.requests).toHaveLength(0);
});

test('embeddings: the cache holds a bounded number of values, and gives up those that were not used for longest', () => {
  const cache = embeddingCache(6);
  for (const text of ['a', 'b', 'c']) cache.keep(text, [1, text.charCodeAt(0)]);
  expect(cache.of('a')).toEqual([1, 97]);
  cache.keep('d', [1, 100]);
  expect(['a', 'b', 'c', 'd'].map((text) => cache.of(text) !== undefined)).toEqual([true, false, true, true]);
  cache.keep('a', [1, 2, 3]);
  expect(['a', 'c', 'd'].map((text) => cache.of(text)?.length)).toEqual([3, undefined, 2]);
  cache.keep(
    'huge',
    Array.from({ length: 7 }, () => 1),
  );
  expect(['a', 'd', 'huge'].map((text) => cache.of(text))).toEqual([undefined, undefined, undefined]);
});
