/** Numbers of Evaluators, Judges, Agents, Tools and Sessions: the tables are those of the API, and of what was sent. */
import type { GetAnswer } from '../../../../src/console/api/client.ts';
import {
  costText,
  countText,
  durationText,
  percentText,
  scoreText,
  shortCountText,
  unknownText,
} from '../../../../src/console/parts/format.ts';
import { evaluableOf } from '../../../../src/console/parts/missing-data.ts';
import { agentsOf } from '../../../../src/console/pages/versions/agent-versions.ts';
import { rowFaults, type SameRequests, sameRequests, tableRows, type WantedRow } from '../page-tables.ts';
import { costOf, secondsOf } from '../runs/agent-run.ts';
import { refundAgent, refundModel, refunds, refundTokens, sentStories, session } from '../runs/stories.ts';
import { watchedPage, type WatchedPage } from '../watched-page.ts';
import { judged, type World } from '../world.ts';
import type { Suite } from './suite.ts';

const [before, recent] = [refunds['1.0'], refunds['1.1']];
const all = before.runs + recent.runs;
const refundCalls = 3;
const parcelCalls = 7;

interface Look {
  readonly watched: WatchedPage;
  readonly requests: SameRequests;
  readonly world: World;
}

const looks: { readonly [name: string]: (look: Look) => Promise<readonly string[]> } = {
  evaluators: async ({ watched: { page, open }, requests }) => {
    await open(`/evaluators?agent=${refundAgent}`);
    const { evaluators } = await requests.answerTo<GetAnswer<'/evaluators'>>('/evaluators');
    const { rates } = await requests.answerTo<GetAnswer<'/rates'>>('/rates');
    const { evaluability } = await requests.answerTo<GetAnswer<'/evaluability'>>('/evaluability');
    const rows = await tableRows(page, 'Evaluators with their verdicts in this time');
    const wanted = evaluators.map(({ name, threshold, verdicts: { pass, fail, raw, skipped, error } }): WantedRow => {
      const rate = rates.find((one) => one.name === name && one.agent === null);
      const { scored, of } = evaluableOf(evaluability.filter((row) => row.name === name));
      return {
        first: name,
        cells: {
          Threshold: threshold === null ? unknownText : scoreText(threshold),
          Scored: countText(pass + fail + raw),
          Failed: countText(fail),
          Skipped: countText(skipped),
          Errors: countText(error),
          'Can score': of === 0 ? unknownText : percentText(scored / of),
          ...(pass + fail + raw === 0
            ? { 'Pass rate, or mean score': '! nothing scored' }
            : rate === undefined
              ? {}
              : { 'Pass rate, or mean score': { begins: percentText(rate.rate.point) } }),
        },
      };
    });
    const sent: readonly WantedRow[] = ['tool_error', 'tool_call_validity'].map((name) => ({
      first: name,
      cells: {
        Scored: String(recent.runs),
        Failed: String(recent.failing),
        ...(name === 'tool_error' ? { 'Pass rate, or mean score': { begins: percentText(1 - recent.failing / recent.runs) } } : {}),
      },
    }));
    return [...rowFaults(rows, wanted, { isAll: true }), ...rowFaults(rows, sent)];
  },

  'one evaluator': async ({ watched: { page, open } }) => {
    await open(`/evaluators?agent=${refundAgent}&evaluator=tool_error`);
    const rows = await tableRows(page, 'Rates of tool_error by agent');
    const text = (await page.locator('main').innerText()).replaceAll(/\s+/g, ' ');
    const words = [`${recent.runs - recent.failing} passed`, `${recent.failing} failed`, `Scores of ${recent.runs} runs`];
    return [
      ...words.filter((word) => !text.includes(word)).map((word) => `the page has no “${word}”`),
      ...rowFaults(rows, [
        {
          first: refundAgent,
          cells: {
            'Runs scored': String(recent.runs),
            'Pass rate of all traffic': { begins: percentText(1 - recent.failing / recent.runs) },
          },
        },
      ]),
    ];
  },

  judges: async ({ watched: { page, open }, requests, world }) => {
    await open('/judges');
    const { judges, budgets, days, traffic, latency } = await requests.answerTo<GetAnswer<'/judges'>>('/judges');
    const [agreement, spent, byDay, requested, times] = await Promise.all(
      [
        'Agreement of evaluators with people',
        'Budgets of this day (UTC)',
        'Spending by day (UTC)',
        'Requests by judge',
        'Time to a verdict by evaluator',
      ].map((caption) => tableRows(page, caption)),
    );
    const labelled = await labelledRuns(world);
    const [row, ...more] = judges.filter(({ name, runs }) => name === judged && runs > 0);
    return [
      ...rowFaults(
        agreement ?? [],
        judges.map((one) => ({
          first: one.name,
          cells: {
            Labelled: countText(one.runs),
            'Both pass': countText(one.both_pass),
            'Both fail': countText(one.both_fail),
            Missed: countText(one.missed),
            'False alarms': countText(one.false_alarms),
            Kappa: { begins: scoreText(one.kappa.point) },
            'Same verdict': { begins: percentText(one.accuracy.point) },
          },
        })),
        { isAll: true },
      ),
      ...(row !== undefined && more.length === 0 && JSON.stringify(labelled) === JSON.stringify(pick(row, Object.keys(labelled)))
        ? []
        : [`the labels of the runs make ${JSON.stringify(labelled)}, and the API has ${JSON.stringify(row)} and ${more.length} more`]),
      ...rowFaults(
        spent ?? [],
        budgets.map(({ judge, evaluator, limit, spent: used, left }) => ({
          first: judge === null ? `evaluator ${String(evaluator)}` : `judge ${judge}`,
          cells: { Spent: costText(used), Left: costText(left), Used: { begins: `${percentText(used / limit)} of ${costText(limit)}` } },
        })),
        { isAll: true },
      ),
      ...rowFaults(
        byDay ?? [],
        days.map(({ day, cost_usd: cost, requests: count, input_tokens: input, output_tokens: output }) => ({
          first: day,
          cells: { Cost: costText(cost), Requests: countText(count), 'Tokens in': countText(input), 'Tokens out': countText(output) },
        })),
        { isAll: true },
      ),
      ...rowFaults(
        requested ?? [],
        traffic.map(({ judge, waiting, answered, failed, tokens, cost_usd: cost }) => ({
          first: judge,
          cells: {
            Waiting: countText(waiting),
            Answered: countText(answered),
            Failed: countText(failed),
            Tokens: countText(tokens),
            Cost: costText(cost),
          },
        })),
        { isAll: true },
      ),
      ...rowFaults(
        times ?? [],
        latency.map(({ name, verdicts, p50_seconds: p50, p95_seconds: p95 }) => ({
          first: name,
          cells: { Verdicts: countText(verdicts), p50: durationText(p50), p95: durationText(p95) },
        })),
        { isAll: true },
      ),
    ];
  },

  agents: async ({ watched: { page, open }, requests }) => {
    await open('/agents');
    const { versions } = await requests.answerTo<GetAnswer<'/versions'>>('/versions');
    const rows = await tableRows(page, 'Agents, the one with the newest run first');
    const wanted = agentsOf(versions).map(({ agent, versions: own, newest, runs }) => ({
      first: agent ?? unknownText,
      cells: {
        Versions: countText(own.length),
        'Newest version': newest.version ?? unknownText,
        Runs: countText(runs),
        'p95 of the newest': durationText(newest.p95_seconds),
        'Cost per run': costText(newest.cost_per_run),
      },
    }));
    const sent = { Versions: '2', 'Newest version': '1.1', Runs: String(all), 'Cost per run': costText(refundCost()) };
    return [...rowFaults(rows, wanted, { isAll: true }), ...rowFaults(rows, [{ first: refundAgent, cells: sent }])];
  },

  versions: async ({ watched: { page, open }, requests }) => {
    await open(`/agents/${refundAgent}`);
    const { versions, comparison } = await requests.answerTo<GetAnswer<'/versions'>>('/versions');
    const rows = await tableRows(page, 'Versions, the newest first');
    const compared = await tableRows(page, '1.1 compared with 1.0');
    const seconds = refundSeconds();
    return [
      ...rowFaults(
        rows,
        versions.map((one) => ({
          first: one.version ?? 'without a version',
          cells: {
            Runs: countText(one.runs),
            'Median time': durationText(one.median_seconds),
            p95: durationText(one.p95_seconds),
            'Cost per run': costText(one.cost_per_run),
          },
        })),
        { isAll: true },
      ),
      ...rowFaults(
        rows,
        Object.entries(refunds).map(([version, { runs }]) => ({
          first: version,
          cells: {
            Runs: String(runs),
            'Cost per run': costText(refundCost()),
            'Tokens per run': `${countText(refundCalls * refundTokens.input)} + ${countText(refundCalls * refundTokens.output)}`,
            Models: refundModel,
          },
        })),
      ),
      ...versions.flatMap(({ version, median_seconds: median }) =>
        near(median, seconds) ? [] : [`the median of ${String(version)} is ${String(median)} s, and ${seconds} s were sent`],
      ),
      ...rowFaults(
        compared,
        (comparison?.evaluators ?? []).map(({ name, word, version, against }) => ({
          first: name,
          cells: {
            Shown: shownWords[word],
            '1.1': { begins: percentText(version.point) },
            '1.0': { begins: percentText(against.point) },
          },
        })),
        { isAll: true },
      ),
      ...rowFaults(compared, [
        {
          first: 'tool_error',
          cells: {
            '1.1': { begins: percentText(1 - recent.failing / recent.runs) },
            '1.0': { begins: percentText(1 - before.failing / before.runs) },
          },
        },
      ]),
    ];
  },

  tools: async ({ watched: { page, open }, requests }) => {
    await open('/tools');
    const { tools } = await requests.answerTo<GetAnswer<'/tools'>>('/tools');
    const rows = await tableRows(page, 'Tools by agent, the highest error rate first');
    const refused = await tableRows(page, 'Arguments that the schema of the tool refuses');
    return [
      ...rowFaults(
        rows,
        tools.map(({ name, agent, calls, errors, error_rate: rate, p50_seconds: p50, p95_seconds: p95, not_executed: lost }) => ({
          first: name,
          cells: {
            Agent: agent ?? unknownText,
            Calls: countText(calls),
            Errors: countText(errors),
            'Error rate': { begins: percentText(rate.point) },
            p50: durationText(p50),
            p95: durationText(p95),
            'Without a result': countText(lost),
          },
        })),
        { isAll: true },
      ),
      ...rowFaults(rows, [
        {
          first: 'refund_order',
          cells: {
            Agent: refundAgent,
            Calls: String(recent.runs),
            Errors: String(recent.failing),
            'Error rate': { begins: percentText(recent.failing / recent.runs) },
            'Without a result': '0',
          },
        },
        { first: 'find_order', cells: { Agent: refundAgent, Calls: String(recent.runs), Errors: '0', 'Error rate': { begins: '0 %' } } },
      ]),
      ...rowFaults(refused, [
        {
          first: 'refund_order',
          cells: {
            Agent: refundAgent,
            'Refused by': 'type',
            Calls: String(recent.failing),
            'Share of all calls': percentText(recent.failing / recent.runs),
          },
        },
      ]),
    ];
  },

  sessions: async ({ watched: { page, open }, requests }) => {
    await open('/sessions');
    const { sessions } = await requests.answerTo<GetAnswer<'/sessions'>>('/sessions');
    const rows = (await tableRows(page, 'Sessions, newest first')).map(({ Session: id = '', ...rest }) => ({ Session: id, ...rest }));
    const turns = sentStories().filter(({ story }) => story.session === session);
    const seconds = turns.reduce((sum, { story }) => sum + secondsOf(story), 0);
    return [
      ...rowFaults(
        rows,
        sessions.map((one) => ({
          first: one.id,
          cells: {
            Agents: one.agents.join(', ') || unknownText,
            Turns: countText(one.turns),
            'Time in turns': durationText(one.duration_seconds),
            Tokens:
              one.input_tokens === null && one.output_tokens === null
                ? unknownText
                : shortCountText((one.input_tokens ?? 0) + (one.output_tokens ?? 0)),
            Cost: costText(one.cost_usd),
          },
        })),
        { isAll: sessions.length < 20 },
      ),
      ...rowFaults(rows, [
        {
          first: session,
          cells: {
            Agents: 'parcel-support',
            Turns: String(turns.length),
            'Time in turns': durationText(seconds),
            Tokens: shortCountText(parcelCalls * 120),
            Cost: costText(turns.reduce((sum, { story }) => sum + costOf(story), 0)),
          },
        },
      ]),
    ];
  },

  'one session': async ({ watched: { page, open }, requests }) => {
    await open(`/sessions/${session}`);
    const { runs } = await requests.answerTo<GetAnswer<'/sessions/{id}'>>(`/sessions/${session}`);
    const failed = runs.filter(({ verdicts }) => verdicts.some(({ passed }) => passed === false)).length;
    const text = (await page.locator('main').innerText()).replaceAll(/\s+/g, ' ');
    const words = [
      '4 turns of parcel-support',
      failed === 0 ? 'No turn has a failed verdict.' : `${failed} ${failed === 1 ? 'turn has' : 'turns have'} a failed verdict.`,
    ];
    return words.filter((word) => !text.includes(word)).map((word) => `the page has no “${word}”: ${text.slice(0, 300)}`);
  },
};

export const numbersSuite: Suite = {
  name: 'numbers',
  isQuick: false,
  async run({ browser, world, tally }) {
    const watched = await watchedPage(browser, { console: world.console, height: 4_000 });
    const requests = sameRequests(watched.page);
    for (const [name, look] of Object.entries(looks))
      await tally.attempt(`numbers: ${name}`, async () => [...(await look({ watched, requests, world })), ...watched.faults()]);
    await watched.close();
  },
};

const shownWords = {
  worse: '✗ worse',
  better: '✓ better',
  no_difference_shown: '○ no difference shown',
  not_estimable: '– no comparison',
} as const;

interface LabelledRun {
  readonly verdicts: readonly { readonly name: string; readonly score: number | null }[];
  readonly annotations: readonly { readonly name: string; readonly passed: boolean | null }[];
}

/** Verdicts of people and the judge on the same runs, counted from the runs themselves. */
async function labelledRuns({ console }: World): Promise<{ readonly [figure: string]: number }> {
  const read = async <Answer>(path: string): Promise<Answer> => (await (await fetch(`${console}/api/v1${path}`)).json()) as Answer;
  const { runs } = await read<{ readonly runs: readonly { readonly trace_id: string; readonly span_id: string }[] }>(
    '/runs?annotated=true&limit=200',
  );
  const figures = { runs: 0, both_pass: 0, both_fail: 0, missed: 0, false_alarms: 0 };
  for (const { trace_id: trace, span_id: span } of runs) {
    const { verdicts, annotations } = await read<LabelledRun>(`/runs/${trace}/${span}`);
    const score = verdicts.find(({ name }) => name === judged)?.score;
    const passed = annotations.find(({ name }) => name === judged)?.passed;
    if (typeof score !== 'number' || typeof passed !== 'boolean') continue;
    figures.runs++;
    if (score >= 0.5) figures[passed ? 'both_pass' : 'missed']++;
    else figures[passed ? 'false_alarms' : 'both_fail']++;
  }
  return figures;
}

function pick(row: object, keys: readonly string[]): object {
  const members = new Map<string, unknown>(Object.entries(row));
  return Object.fromEntries(keys.map((key) => [key, members.get(key)]));
}

/** Percentiles come from sketches: the API gives them to 5 % of their value. */
function near(value: number | null, wanted: number): boolean {
  return value !== null && Math.abs(value - wanted) <= wanted * 0.05;
}

function refundCost(): number {
  return refundStoryFigure(costOf);
}

function refundSeconds(): number {
  return refundStoryFigure(secondsOf);
}

/** All runs of the refund agent take the same. */
function refundStoryFigure(of: typeof costOf): number {
  const found = sentStories().find(({ story }) => story.agent === refundAgent);
  return found === undefined ? 0 : of(found.story);
}
