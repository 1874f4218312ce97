/** Questions that go together, with a real client against an endpoint that speaks the Batch API. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Answer } from '../../../evaluators/evaluator.ts';
import { isDeferred } from '../../../src/judges/batch/batch-queue.ts';
import { overBudget, overLimit } from '../../../src/judges/budget/budgets.ts';
import type { BudgetReservation, Tokens, Used } from '../../../src/model/budget.ts';
import { runJudge } from '../../../src/pipeline/jury/judge-driver.ts';
import { batchHost, batchOf, good, question } from '../batch-host.ts';
import { answerLine, batchServer, errorLine, type BatchServer, type ServedBatch } from '../batch-server.ts';
import { says } from '../chat-server.ts';

let server: BatchServer;
beforeEach(async () => {
  server = await batchServer(says(good));
});
afterEach(async () => {
  await server.close();
});

const all = ({ lines }: ServedBatch, content = good): string =>
  lines
    .map(({ custom_id: id }) => answerLine(id, content))
    .reverse()
    .join('\n');
const asks = (host: Awaited<ReturnType<typeof batchHost>>, ...askers: readonly string[]) => askers.map((asker) => host.ask(asker));
const told = (asked: readonly { readonly told: () => Answer | undefined }[]) =>
  asked.every((one) => one.told() !== undefined) ? true : undefined;

test('batch: questions gather, go up as one file, and each gets its own answer', async () => {
  const host = await batchHost(server);
  const asked = [...asks(host, 'a', 'b'), host.ask('c', { ...question, data: [{ title: 'Text', text: 'another text' }] })];
  const batch = await batchOf(host, server);
  expect(batch.body).toMatchObject({
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    metadata: { tracejury_batch: batch.idempotencyKey },
  });
  expect(new Set(batch.lines.map(({ custom_id: id }) => id)).size).toBe(3);
  expect(batch.lines).toMatchObject(
    asked.map(() => ({
      method: 'POST',
      url: '/v1/chat/completions',
      body: { model: 'm', response_format: { type: 'json_schema' }, messages: [{ role: 'system' }, { role: 'user' }] },
    })),
  );
  const other = batch.lines.find(({ body }) => body.messages[1]?.content.includes('another text'))?.custom_id ?? '';
  server.finish(batch, {
    output: `${batch.lines
      .map(({ custom_id: id }) => answerLine(id, id === other ? '{"yes":false}' : good))
      .reverse()
      .join('\n')}\n`,
  });
  await host.until(() => told(asked), 'answers');
  const answered = { kind: 'answered', truncated: false, model: 'm', batched: true, tokens: { input: 70, output: 7 } };
  expect(asked.map((one) => one.told())).toEqual([
    { ...answered, value: { yes: true } },
    { ...answered, value: { yes: true } },
    { ...answered, value: { yes: false } },
  ]);
  expect(host.calls).toMatchObject(
    asked.map(() => ({ batch: batch.id, operation: 'chat', model: 'm', tokens: { input: 70, output: 7 }, response: { model: 'm-2026' } })),
  );
  expect(host.calls.every(({ startMs, endMs }) => startMs < endMs)).toBe(true);
  expect([host.counts('tracejury.judge.batches'), host.counts('tracejury.judge.batch.questions'), server.direct, host.faults]).toEqual([
    { created: 1, done: 1 },
    { answered: 3 },
    [],
    [],
  ]);
  expect(await host.unfinished()).toEqual([]);
  // Texts of runs do not stay there.
  await host.until(() => (server.files.size === 0 ? true : undefined), 'no files');
});

test('batch: a full one goes at once, and no more are under way than may be', async () => {
  const host = await batchHost(server, { batch: { requests: 2, inFlight: 1, gatherMs: 3_600_000 } });
  const asked = asks(host, 'a', 'b', 'c', 'd', 'e');
  const first = await batchOf(host, server);
  await host.until(() => (server.seen.filter((one) => one === `GET /batches/${first.id}`).length >= 3 ? true : undefined), 'some looks');
  expect(server.batches).toHaveLength(1);
  server.finish(first, { output: all(first) });
  const second = await batchOf(host, server, 2);
  server.finish(second, { output: all(second) });
  expect([first.lines.length, second.lines.length]).toEqual([2, 2]);
  await host.until(() => told(asked.slice(0, 4)), 'four answers');
  // The last one is by itself, until it has gathered long enough.
  expect([asked[4]?.told(), server.batches.length]).toEqual([undefined, 2]);
  const third = await host.until(() => server.batches[2], 'a third batch', 3_600_000);
  expect(third.lines).toHaveLength(1);
});

test('batch: a file is not larger than it may be, unless a single question is', async () => {
  const host = await batchHost(server, { batch: { bytes: 4_500, inFlight: 10 } });
  asks(host, 'a', 'b', 'c', 'd');
  host.ask('e', { ...question, data: [{ title: 'Text', text: 'long '.repeat(2_000) }] });
  await host.until(() => (server.batches.flatMap(({ lines }) => lines).length === 5 ? true : undefined), 'all of them');
  const sizes = server.batches.map(({ lines }) => Buffer.byteLength(lines.map((line) => JSON.stringify(line)).join('\n')));
  expect(server.batches.length).toBeGreaterThan(1);
  expect(sizes.filter((size) => size > 4_500)).toHaveLength(1);
});

test('batch: each round of an evaluator goes into a later batch', async () => {
  const host = await batchHost(server);
  const verdict = runJudge(
    (function* () {
      const first = yield question;
      const second = yield { ...question, id: 'second', instruction: `It was ${first.kind}. Is it still so?` };
      return { kind: 'scored', score: second.kind === 'answered' ? 1 : 0, explanation: 'Both.', evidence: [], details: {} };
    })(),
    async (request) =>
      request.kind === 'embed' || request.kind === 'call' ? { kind: 'failed', error: 'no' } : await host.room.ask(request, { id: 'a' }),
    { questionsMax: 5, threshold: 1 },
  );
  for (const nth of [1, 2]) {
    const batch = await batchOf(host, server, nth);
    server.finish(batch, { output: all(batch) });
  }
  let ended = false;
  void verdict.then(() => (ended = true));
  await host.until(() => (ended ? true : undefined), 'the verdict');
  expect([await verdict, server.batches.map(({ lines }) => lines.length), server.direct]).toMatchObject([
    { kind: 'scored', score: 1 },
    [1, 1],
    [],
  ]);
});

const ids = (batch: ServedBatch): readonly [string, string, string] =>
  batch.lines.map(({ custom_id: id }) => id) as [string, string, string];
const faulty: readonly {
  readonly name: string;
  readonly given: (batch: ServedBatch) => Parameters<BatchServer['finish']>[1];
  readonly questions: object;
  readonly batches?: object;
  readonly lines?: object;
}[] = [
  {
    name: 'expired, with a part of the answers',
    given: (batch) => ({
      status: 'expired',
      output: answerLine(ids(batch)[0], good),
      errors: [ids(batch)[1], ids(batch)[2]].map((id) => errorLine(id, { code: 'batch_expired' })).join('\n'),
    }),
    questions: { answered: 1, expired: 2 },
    batches: { created: 1, expired: 1 },
  },
  { name: 'cancelled by a person', given: () => ({ status: 'cancelled' }), questions: { expired: 3 }, batches: { created: 1, expired: 1 } },
  { name: 'failed as a whole', given: () => ({ status: 'failed' }), questions: { failed: 3 }, batches: { created: 1, failed: 1 } },
  {
    name: 'failed for some',
    given: (batch) => ({
      output: answerLine(ids(batch)[0], good),
      errors: [errorLine(ids(batch)[1], { status: 400 }), errorLine(ids(batch)[2], { code: 'server_error' })].join('\n'),
    }),
    questions: { answered: 1, refused: 2 },
  },
  {
    name: 'without an answer to some',
    given: (batch) => ({ output: answerLine(ids(batch)[0], good) }),
    questions: { answered: 1, missing: 2 },
  },
  { name: 'without files', given: () => ({}), questions: { missing: 3 } },
  {
    name: 'with lines that are not answers',
    given: (batch) => ({
      output: [
        answerLine(ids(batch)[0], good),
        'no JSON',
        '[]',
        '{"custom_id":7}',
        JSON.stringify({ custom_id: ids(batch)[1] }),
        JSON.stringify({ custom_id: ids(batch)[2], response: { status_code: 'x' } }),
        '',
        answerLine('of somebody else', good),
      ].join('\n'),
    }),
    questions: { answered: 1, missing: 2 },
    lines: { malformed: 5, unknown: 1 },
  },
  {
    name: 'with a line that is far too long',
    given: (batch) => ({
      output: [
        answerLine(ids(batch)[0], good),
        answerLine(ids(batch)[1], good),
        answerLine(ids(batch)[2], 'x'.repeat(2 * 1024 * 1024)),
      ].join('\n'),
    }),
    questions: { answered: 2, missing: 1 },
    lines: { malformed: 1 },
  },
  {
    name: 'with thousands of unrequested lines',
    given: (batch) => ({ output: `${answerLine(ids(batch)[0], good)}\n${'x\n\n'.repeat(5_000)}${answerLine(ids(batch)[1], good)}` }),
    questions: { answered: 1, missing: 2 },
    lines: { malformed: 1_006 },
  },
  {
    name: 'with two answers to one question; the first counts',
    given: (batch) => ({
      output: [...batch.lines.map(({ custom_id: id }) => answerLine(id, good)), answerLine(ids(batch)[0], '{"yes":false}')].join('\n'),
    }),
    questions: { answered: 3 },
    lines: { duplicated: 1 },
  },
  {
    name: 'with answers outside the schema',
    given: (batch) => ({
      output: [answerLine(ids(batch)[0], good), answerLine(ids(batch)[1], '{"yes":"perhaps"}'), answerLine(ids(batch)[2], '{}')].join('\n'),
    }),
    questions: { answered: 1, unusable: 2 },
  },
  {
    name: 'with a file of answers that is too large',
    given: () => ({ output: ' '.repeat(65 * 1024 * 1024) }),
    questions: { missing: 3 },
    batches: { created: 1, unreadable: 1, done: 1 },
  },
];
for (const { name, given, questions, batches = { created: 1, done: 1 }, lines = {} } of faulty) {
  test(`batch: one that comes back ${name} leaves the rest to be asked directly`, async () => {
    const host = await batchHost(server);
    const asked = asks(host, 'a', 'b', 'c');
    const batch = await batchOf(host, server);
    server.finish(batch, given(batch));
    await host.until(() => told(asked), 'answers');
    expect(asked.map((one) => one.told())).toMatchObject(asked.map(() => ({ kind: 'answered', value: { yes: true } })));
    expect([
      host.counts('tracejury.judge.batch.questions'),
      host.counts('tracejury.judge.batches'),
      host.counts('tracejury.judge.batch.lines'),
      host.faults,
    ]).toEqual([questions, batches, lines, []]);
    expect(server.direct.length).toBe(3 - ((questions as { answered?: number }).answered ?? 0));
  });
}

test('batch: one that the endpoint does not know any more is asked directly', async () => {
  const host = await batchHost(server);
  const asked = asks(host, 'a');
  const batch = await batchOf(host, server);
  server.instead = ({ path }, response) =>
    path === `/batches/${batch.id}` && response.writeHead(404, { 'content-type': 'application/json' }).end('{}') !== undefined;
  await host.until(() => told(asked), 'an answer');
  expect([host.counts('tracejury.judge.batch.questions'), host.counts('tracejury.judge.batches')]).toEqual([
    { lost: 1 },
    { created: 1, lost: 1 },
  ]);
});

test('batch: one that takes too long is cancelled, and what it has answered by then counts', async () => {
  const host = await batchHost(server, { batch: { withinMs: 60_000 } });
  const asked = asks(host, 'a', 'b');
  const batch = await batchOf(host, server);
  batch.status = 'in_progress';
  await host.until(() => (batch.status === 'cancelling' ? true : undefined), 'a cancellation', 10_000);
  server.finish(batch, { status: 'cancelled', output: answerLine(ids(batch)[0], good) });
  await host.until(() => told(asked), 'answers');
  expect([host.counts('tracejury.judge.batch.questions'), server.seen.filter((one) => one.endsWith('/cancel')).length]).toEqual([
    { answered: 1, expired: 1 },
    1,
  ]);
});

test('batch: one that does not even end when it is cancelled is given up', async () => {
  const host = await batchHost(server, { batch: { withinMs: 60_000 } });
  const asked = asks(host, 'a');
  await batchOf(host, server);
  await host.until(() => told(asked), 'an answer', 60_000);
  expect(host.counts('tracejury.judge.batch.questions')).toEqual({ expired: 1 });
});

for (const { name, place } of [
  { name: 'the upload', place: 'POST /files' },
  { name: 'the creation', place: 'POST /batches' },
  { name: 'the answers', place: 'GET /files' },
]) {
  test(`batch: a redirect of ${name} is not followed, and the questions are asked directly`, async () => {
    const elsewhere = await batchServer(says(good));
    server.instead = ({ method, path }, response) =>
      `${method} ${path}`.startsWith(place)
        ? response.writeHead(307, { location: `${elsewhere.baseUrl}/files` }).end() !== undefined
        : false;
    const host = await batchHost(server);
    const asked = asks(host, 'a');
    if (place === 'GET /files') {
      const batch = await batchOf(host, server);
      server.finish(batch, { output: all(batch) });
    }
    await host.until(() => told(asked), 'an answer');
    expect([asked[0]?.told(), elsewhere.seen, server.direct.length]).toMatchObject([{ kind: 'answered' }, [], 1]);
    await elsewhere.close();
  });
}

test('batch: an endpoint without one is asked directly', async () => {
  server.instead = ({ path }, response) =>
    path.startsWith('/files') && response.writeHead(404, { 'content-type': 'application/json' }).end('{}') !== undefined;
  const host = await batchHost(server);
  const asked = asks(host, 'a');
  await host.until(() => told(asked), 'an answer');
  expect(host.counts('tracejury.judge.batch.questions')).toEqual({ refused: 1 });
});

test('batch: one that is not taken goes up again, and after three times the questions go directly', async () => {
  server.instead = ({ path }, response) =>
    path.startsWith('/files') && response.writeHead(503, { 'content-type': 'application/json' }).end('{}') !== undefined;
  const host = await batchHost(server);
  const asked = asks(host, 'a');
  await host.until(() => told(asked), 'an answer');
  expect([
    host.counts('tracejury.judge.batch.questions'),
    server.seen.filter((one) => one === 'POST /files').length,
    await host.unfinished(),
  ]).toEqual([{ not_taken: 1 }, 3, []]);
});

test('batch: when its creation is uncertain, it is looked for, and not made twice', async () => {
  server.afterCreation = (response) => response.destroy() !== undefined;
  const host = await batchHost(server);
  const asked = asks(host, 'a', 'b');
  const batch = await batchOf(host, server);
  server.finish(batch, { output: all(batch) });
  await host.until(() => told(asked), 'answers');
  expect([host.counts('tracejury.judge.batches'), server.batches.length, server.direct]).toEqual([{ adopted: 1, done: 1 }, 1, []]);
});

/** Lets this many through. */
function reservation(lets: number) {
  const [most, used]: [Tokens[], Used[]] = [[], []];
  const own: BudgetReservation = {
    async take(tokens) {
      if (most.length >= lets) return overBudget('usd_per_day');
      most.push(tokens);
      return (what) => void used.push(what);
    },
  };
  return { own, most, used };
}

test('batch: what it may cost is reserved when it goes up and settled when it is back; what there is no budget for is not sent', async () => {
  const money = reservation(4);
  const host = await batchHost(server, { reservation: money.own, judge: { answerTokensMax: 500 } });
  const asked = asks(host, 'a', 'b', 'c', 'd', 'e');
  const batch = await batchOf(host, server);
  expect([money.most.length, money.most.every(({ input, output }) => input > 1_000 && output === 500), money.used]).toEqual([4, true, []]);
  const [first, second, third] = ids(batch);
  server.finish(batch, {
    output: [answerLine(first, good), answerLine(second, good, { tokens: {} })].join('\n'),
    errors: errorLine(third, { status: 500 }),
  });
  await host.until(() => told(asked), 'answers');
  expect(money.used).toEqual([{ input: 70, output: 7 }, 'unknown', 'nothing', 'unknown']);
  const last = asked[4]?.told();
  expect(last === undefined ? undefined : overLimit(last)).toBe('usd_per_day');
});

test('batch: questions that go as forced calls are answered by calls, and reserve what their tool takes', async () => {
  const [plain, forced] = [reservation(9), reservation(9)];
  const before = await batchHost(server, { reservation: plain.own });
  asks(before, 'a');
  await batchOf(before, server);
  const host = await batchHost(server, { reservation: forced.own, judge: { answerFormat: 'tool_call' } });
  const asked = asks(host, 'b', 'c', 'd');
  const batch = await batchOf(host, server, 2);
  expect(batch.lines.map(({ body }) => [body.tool_choice?.function.name, body.response_format])).toEqual(
    Array(3).fill(['give_answer', undefined]),
  );
  expect(forced.most.every(({ input }) => input > (plain.most[0]?.input ?? Infinity) + 530)).toBe(true);
  const [first, second, third] = ids(batch);
  const used = { tokens: { prompt_tokens: 700, completion_tokens: 7 } };
  server.finish(batch, {
    output: [
      answerLine(first, good, { called: 'give_answer', ...used }),
      answerLine(second, '{"yes":true,"yes":false}', { called: 'give_answer' }),
      answerLine(third, good, { called: 'f' }),
    ].join('\n'),
  });
  await host.until(() => told(asked), 'answers');
  expect(asked[0]?.told()).toMatchObject({ kind: 'answered', batched: true, value: { yes: true }, tokens: { input: 700, output: 7 } });
  // An unusable item goes by itself.
  expect(host.counts('tracejury.judge.batch.questions')).toEqual({ answered: 1, unusable: 2 });
  expect(server.direct.map(({ body }) => body.tool_choice?.function.name)).toEqual(['give_answer', 'give_answer']);
});

test('batch: a question is paid for by its evaluator and by the judge; what one of them does not pay for costs the other nothing', async () => {
  const [judge, evaluator, direct] = [reservation(2), reservation(3), reservation(9)];
  const host = await batchHost(server, { reservation: judge.own, batch: { requests: 4 } });
  const budget = { batched: evaluator.own, direct: () => direct.own };
  const asked = ['a', 'b', 'c', 'd'].map((asker) => host.ask(asker, question, budget));
  const batch = await batchOf(host, server);
  expect([batch.lines.length, evaluator.most.length, evaluator.used]).toEqual([2, 3, ['unsent']]);
  await host.until(() => told(asked.slice(2)), 'two refusals');
  expect(asked.slice(2).map((one) => overLimit(one.told() ?? { kind: 'none' }))).toEqual(['usd_per_day', 'usd_per_day']);
  const [first, second] = ids(batch);
  server.finish(batch, { output: answerLine(first, good), errors: errorLine(second, { status: 500 }) });
  await host.until(() => told(asked), 'answers');
  // The second one went by itself after all, and was paid for anew.
  expect([evaluator.used, judge.used, direct.most.length, direct.used]).toEqual([
    ['unsent', { input: 70, output: 7 }, 'nothing'],
    [{ input: 70, output: 7 }, 'nothing'],
    1,
    [{ input: 100, output: 10 }],
  ]);
});

test('batch: the same one who asks the same while it is under way waits for the same answer', async () => {
  const host = await batchHost(server);
  const first = host.ask('a');
  const second = host.ask('a');
  const batch = await batchOf(host, server);
  const third = host.ask('a');
  server.finish(batch, { output: all(batch) });
  await host.until(() => told([first, second, third]), 'answers');
  expect([batch.lines.length, server.batches.length]).toEqual([1, 1]);
});

test('batch: with another mode what gathers is asked directly, and what is under way is waited for', async () => {
  const host = await batchHost(server, { batch: { requests: 1, inFlight: 1 } });
  const [first, second] = asks(host, 'a', 'b');
  const batch = await batchOf(host, server);
  const { batch: _none, ...direct } = host.settings;
  host.settings = direct;
  const third = host.ask('c');
  await host.until(() => second?.told() ?? undefined, 'a direct answer', 60_000);
  await third.answer;
  expect([first?.told(), server.direct.length, host.counts('tracejury.judge.batch.questions')]).toEqual([
    undefined,
    2,
    { switched_off: 1 },
  ]);
  server.finish(batch, { output: all(batch) });
  expect(await host.until(() => first?.told(), 'its answer', 60_000)).toMatchObject({ kind: 'answered', batched: true });
});

test('batch: a stop releases all waiting questions, and accepts no more', async () => {
  const host = await batchHost(server, { batch: { requests: 1, inFlight: 1 } });
  const asked = asks(host, 'a', 'b');
  await batchOf(host, server);
  const stopped = host.room.stop();
  expect((await Promise.all(asked.map((one) => one.answer))).map(isDeferred)).toEqual([true, true]);
  expect(isDeferred(await host.room.ask(question, { id: 'c' }))).toBe(true);
  await stopped;
  expect((await host.unfinished()).length).toBe(1);
});
