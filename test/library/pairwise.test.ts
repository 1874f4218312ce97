/** `comparePairwise` of `tracejury/experiment` before a scripted endpoint: its figures, its budget, its faults. */
import { expect, onTestFinished, test } from 'vitest';
import { agentTrace } from '../../src/library/agent-trace.ts';
import { type BudgetedJudge, comparePairwise, experiment, type Report } from '../../src/library/experiment.ts';
import { openAiCompatibleJudge, type OpenAiCompatibleOptions } from '../../src/judges/library.ts';
import { chatServer, type ChatServer, type Play, says, status } from '../judges/chat-server.ts';

/** A word in the input of a pair decides what the judge prefers; `first` is the answer in the first place, `broken` an endpoint that fails. */
const judging: Play = (response, request) => {
  const prompt = request.body.messages.at(-1)?.content ?? '';
  const preference = /judge: (\w+)/.exec(prompt)?.[1] ?? '';
  if (preference === 'broken') return status(400)(response, request);
  const isAFirst = prompt.indexOf('answer of A') < prompt.indexOf('answer of B');
  const label = preference === 'a' || preference === 'b' ? ((preference === 'a') === isAFirst ? 'first' : 'second') : preference;
  says(JSON.stringify({ explanation: `It is ${preference}.`, label }))(response, request);
};

const price = { inputPerMillion: 1_000, outputPerMillion: 1_000 };

async function judgeOf(
  options: Partial<OpenAiCompatibleOptions> = {},
): Promise<{ readonly server: ChatServer; readonly judge: BudgetedJudge }> {
  const server = await chatServer(judging);
  const judge = openAiCompatibleJudge({ model: 'm', baseUrl: server.baseUrl, price, ...options });
  onTestFinished(async () => {
    await judge.stop();
    await server.close();
  });
  return { server, judge };
}

function datasetOf(counts: { readonly [preference: string]: number }): readonly { readonly id: string; readonly input: string }[] {
  return Object.entries(counts).flatMap(([preference, count]) =>
    Array.from({ length: count }, (_, at) => ({ id: `${preference} ${at}`, input: `Question ${at}, judge: ${preference}` })),
  );
}

type Dataset = ReturnType<typeof datasetOf>;

async function reportOf(side: 'A' | 'B', dataset: Dataset, answer = (input: string) => `answer of ${side} to ${input}`): Promise<Report> {
  return await experiment({ dataset, task: (input) => agentTrace({ input, finalResponse: answer(input) }), evaluators: [] }).run();
}

async function reports(dataset: Dataset): Promise<{ readonly a: Report; readonly b: Report }> {
  return { a: await reportOf('A', dataset), b: await reportOf('B', dataset) };
}

const criterion = 'Which answer is friendlier?';

test('comparePairwise: a judge that prefers the first place in 30 % of the cases is reported, with intervals', async () => {
  const { server, judge } = await judgeOf();
  const both = await reports(datasetOf({ first: 30, b: 45, a: 15, tie: 10 }));
  const { summary, spentUsd } = await comparePairwise({ ...both, criterion, judge, budgetUsd: 1_000 });
  expect(summary).toMatchObject({
    judge: 'judge',
    criterion,
    word: 'better',
    isBiased: true,
    counts: { a: 15, b: 45, tie: 10, first: 30, second: 0, failed: 0, not_asked: 0, no_text: 0 },
  });
  expect(server.requests).toHaveLength(200);
  expect(spentUsd).toBeCloseTo(200 * 0.11, 6);
  if (summary?.winRate.kind !== 'estimated' || summary.positionBias.kind !== 'estimated') throw new Error('not estimated');
  expect(summary.winRate.point).toBeCloseTo(0.65, 10);
  // Student's interval of the values 1, ½ and 0 of the pairs: 0.65 ± 1.984 · 0.0359.
  expect(Math.abs(summary.winRate.low - 0.579)).toBeLessThan(0.01);
  expect(Math.abs(summary.winRate.high - 0.721)).toBeLessThan(0.01);
  // 30 of 100, whose interval after Wilson is 0.219 to 0.396.
  expect(summary.positionBias.point).toBeCloseTo(0.3, 10);
  expect(Math.abs(summary.positionBias.low - 0.219)).toBeLessThan(0.03);
  expect(Math.abs(summary.positionBias.high - 0.396)).toBeLessThan(0.03);
});

test('comparePairwise: the cost is known before the judge is asked, and without a budget it is not asked', async () => {
  const { server, judge } = await judgeOf();
  const both = await reports(datasetOf({ b: 10 }));
  const heard: unknown[] = [];
  const { forecast, summary, spentUsd } = await comparePairwise({
    ...both,
    criterion,
    judge,
    onForecast: (one) => heard.push([one, server.requests.length]),
  });
  expect(heard).toEqual([[forecast, 0]]);
  expect(forecast).toMatchObject({ judge: 'judge', pairs: 10, withoutText: 0, questions: 20, outputTokens: 4_000 });
  expect(forecast.usd).toBeCloseTo((forecast.inputTokens + forecast.outputTokens) / 1_000, 6);
  expect({ summary, spentUsd, asked: server.requests.length }).toEqual({ summary: undefined, spentUsd: 0, asked: 0 });
});

test('comparePairwise: the budget is never exceeded, and pairs without room are counted', async () => {
  const { server, judge } = await judgeOf({ maxOutputTokens: 100 });
  const both = await reports(datasetOf({ b: 100 }));
  const { summary, spentUsd } = await comparePairwise({ ...both, criterion, judge, budgetUsd: 10 });
  // An answer costs 110 tokens of 0.001 USD.
  expect(spentUsd).toBeCloseTo(server.requests.length * 0.11, 6);
  expect(spentUsd).toBeLessThanOrEqual(10);
  // The last question needs room for its most, which is some 2.5 USD.
  expect(spentUsd).toBeGreaterThan(6);
  expect(summary?.counts).toMatchObject({ a: 0, tie: 0, first: 0, failed: 0 });
  expect((summary?.counts.b ?? 0) + (summary?.counts.not_asked ?? 0)).toBe(100);
  expect(summary?.counts.b).toBeGreaterThan(10);
});

test('comparePairwise: pairs without an answer or a usable judgement are left out, never counted as wins', async () => {
  const { judge } = await judgeOf();
  const dataset = datasetOf({ broken: 2, b: 4, lost: 1, same: 1 });
  const a = await reportOf('A', [...dataset, { id: 'only A', input: 'x' }], (input) =>
    input.includes('same') ? 'equal' : `answer of A to ${input}`,
  );
  const b = await reportOf('B', dataset, (input) => {
    if (input.includes('lost')) throw new Error('the agent broke');
    return input.includes('same') ? 'equal' : `answer of B to ${input}`;
  });
  const { forecast, summary, unpaired } = await comparePairwise({ a, b, criterion, judge, budgetUsd: 1_000 });
  expect(forecast).toMatchObject({ pairs: 8, withoutText: 1, questions: 12 });
  expect(summary?.counts).toEqual({ a: 0, b: 4, tie: 1, first: 0, second: 0, failed: 2, not_asked: 0, no_text: 1 });
  expect(unpaired).toBe(1);
});

test('comparePairwise: a judge of your own that keeps a sum takes part', async () => {
  let room = 6;
  const judge: BudgetedJudge = {
    name: 'own',
    forecast: (questions) => ({ questions: [...questions].length, inputTokens: 0, outputTokens: 0, usd: undefined }),
    within: () => ({
      ask: async () =>
        room-- > 0
          ? { kind: 'answered', value: { explanation: 'So.', label: 'tie' }, truncated: false }
          : { kind: 'failed', error: 'over_budget: none left' },
      spentUsd: async () => 6,
    }),
  };
  const both = await reports(datasetOf({ b: 5 }));
  const { forecast, summary, spentUsd } = await comparePairwise({ ...both, criterion, judge, budgetUsd: 6, concurrency: 1 });
  expect(forecast.questions).toBe(10);
  expect(summary?.counts).toMatchObject({ tie: 3, not_asked: 2, failed: 0 });
  expect(spentUsd).toBe(6);
});

test('comparePairwise: a mistake is named before anything is asked', async () => {
  const { server, judge } = await judgeOf();
  const both = await reports(datasetOf({ b: 2 }));
  const plain = openAiCompatibleJudge({ model: 'm', baseUrl: server.baseUrl });
  const moved = { ...both, b: await reportOf('B', [{ id: 'b 0', input: 'another question' }]) };
  const good = { ...both, criterion, judge, budgetUsd: 1 };
  for (const [options, text] of [
    [{ ...good, criterion: ' ' }, 'criterion must be words, of at most 4000 characters.'],
    [{ ...good, budgetUsd: 0 }, 'budgetUsd must be a number above 0.'],
    [{ ...good, concurrency: 0.5 }, 'concurrency must be a whole number from 1 on.'],
    [{ ...good, a: undefined as unknown as Report }, 'a and b must be reports'],
    [{ ...good, judge: { ask: async () => undefined } as unknown as BudgetedJudge }, 'judge must name costs and keep a budget'],
    [{ ...good, judge: plain }, 'a sum cannot bound a judge without a price'],
    [{ ...good, ...moved }, 'example b 0 has another input in b than in a'],
  ] as const)
    await expect(comparePairwise(options)).rejects.toThrow(text);
  expect(server.requests).toHaveLength(0);
  await plain.stop();
});
