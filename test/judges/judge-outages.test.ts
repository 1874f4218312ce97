/** Reports about a judge that does not answer: at the first failure, for any share of the runs, and when it answers again. */
import { expect, onTestFinished, test } from 'vitest';
import { judgeOutages } from '../../src/judges/judge-outages.ts';
import { manualClock } from '../../src/model/clock.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { pino } from 'pino';
import { isJsonArray, type JsonObject } from '../../src/model/json.ts';
import { eventually, running, sample, sendAgentRun } from '../service/running.ts';
import { chatServer, says, status } from './chat-server.ts';

const down = 'judge_unavailable: no connection';

function host() {
  const clock = manualClock(1_700_000_000_000);
  const telemetry = metricRegistry();
  const lines: string[] = [];
  const logger = {
    warn: (fields: object, message: string) => void lines.push(`warn ${message} ${JSON.stringify(fields)}`),
    info: (fields: object, message: string) => void lines.push(`info ${message} ${JSON.stringify(fields)}`),
  };
  const outages = judgeOutages({ telemetry, clock, logger });
  return { clock, telemetry, lines, outages, names: () => outages.current().map(({ judge }) => judge) };
}

const ends: readonly { readonly error: string | undefined; readonly isOutage: boolean }[] = [
  { error: 'judge_unavailable: no connection', isOutage: true },
  { error: 'judge_unavailable: status 401: wrong key', isOutage: true },
  { error: 'judge_unavailable: status 404', isOutage: true },
  { error: 'judge_timed_out: no whole answer in time', isOutage: true },
  { error: 'judge_out_of_quota: status 429', isOutage: true },
  { error: 'judge_redirected: status 302, and redirects are not followed', isOutage: true },
  { error: 'http_unavailable: no connection', isOutage: true },
  { error: 'http_refused: status 403', isOutage: true },
  { error: undefined, isOutage: false },
  { error: 'judge_answer_invalid: no JSON', isOutage: false },
  { error: 'judge_refused: a content filter stopped the question', isOutage: false },
  { error: 'over_budget: no room', isOutage: false },
  { error: 'judge_stopped: the service is stopping', isOutage: false },
];

for (const { error = 'an answer', isOutage } of ends)
  test(`judge outages: ${error} ${isOutage ? 'begins an outage' : 'begins none'}`, () => {
    const { outages, names, lines } = host();
    outages.ended('main', error === 'an answer' ? undefined : error);
    expect([names(), lines.length]).toEqual(isOutage ? [['main'], 1] : [[], 0]);
  });

test('judge outages: one line at the first failure with its remedy, none for the same one again, one when the judge answers', () => {
  const { outages, lines, clock, names, telemetry } = host();
  outages.ended('main', down);
  for (let nth = 0; nth < 20; nth++) outages.ended('main', down);
  clock.advance(90_000);
  outages.ended('main', undefined);
  outages.ended('main', undefined);
  expect(lines).toEqual([
    `warn a judge does not answer {"judge":"main","fault":"${down}","todo":"Check base_url, and that the endpoint runs."}`,
    'info a judge answers again {"judge":"main","seconds":90}',
  ]);
  expect(names()).toEqual([]);
  const points = telemetry.snapshot().find(({ name }) => name === 'tracejury.judge.unanswered')?.points;
  expect(points).toMatchObject([{ labels: { 'tracejury.judge': 'main' }, value: 0 }]);
});

test('judge outages: a request that got nothing back begins one before its last attempt, a busy endpoint does not', () => {
  const { outages, names } = host();
  outages.retried('busy', { kind: 'busy', error: 'judge_unavailable: status 429', retryAfter: '2' });
  outages.retried('gone', { kind: 'busy', error: down, retryAfter: undefined, isUnanswered: true });
  expect(names()).toEqual(['gone']);
});

test('judge outages: a question that was not asked ends none', () => {
  const { outages, names } = host();
  outages.ended('main', down);
  outages.ended('main', 'over_budget: no room');
  outages.ended('main', 'judge_stopped: the service is stopping');
  expect(names()).toEqual(['main']);
});

test('judge outages: a judge that fails every other question fills no log', () => {
  const { outages, lines } = host();
  for (let nth = 0; nth < 50; nth++) {
    outages.ended('main', down);
    outages.ended('main', undefined);
  }
  expect(lines.map((line) => line.slice(0, 4))).toEqual(['warn', 'info']);
});

test('judge outages: other settings begin anew, others stay', () => {
  const { outages, names } = host();
  outages.ended('main', down);
  outages.ended('other', down);
  outages.keep((judge) => judge === 'other');
  expect(names()).toEqual(['other']);
});

test('service: a judge that does not answer is a notice, a metric and a line of the log after one run, and over when it answers', async () => {
  const judge = await chatServer(status(401), says('{"tasks":[{"number":1,"explanation":"It says so.","completed":true}]}'));
  onTestFinished(judge.close);
  const lines: JsonObject[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line) as JsonObject) });
  const own = await running(
    `judges: { main: { base_url: "${judge.baseUrl}", model: m } }
evaluators:
  - { use: task_completion, judge: main, sample: { rate: 1 }, expect: { tasks: [find it] } }
`,
    { logger },
  );
  onTestFinished(own.stop);
  const notices = async (): Promise<readonly JsonObject[]> => {
    const page = (await (await fetch(`${own.console}/api/v1/notices`)).json()) as JsonObject;
    const all = isJsonArray(page['notices'] ?? null) ? (page['notices'] as readonly JsonObject[]) : [];
    return all.filter(({ code }) => code === 'judge_down');
  };
  const messages = (): readonly unknown[] => lines.flatMap(({ msg, judge }) => (judge === 'main' ? [msg] : []));
  await sendAgentRun(own.otlp, {});
  const [notice] = await eventually(async () => {
    const found = await notices();
    return found.length > 0 ? found : undefined;
  }, 'a notice');
  expect(notice).toMatchObject({ severity: 'error', message: expect.stringContaining('judge_unavailable: status 401') });
  expect(messages()).toEqual(['a judge does not answer']);
  expect(sample(await own.metrics(), 'tracejury_judge_unanswered_ratio', { tracejury_judge: 'main' })).toBe(1);

  await sendAgentRun(own.otlp, {});
  await eventually(async () => ((await notices()).length === 0 ? true : undefined), 'the end of the notice');
  expect(messages()).toEqual(['a judge does not answer', 'a judge answers again']);
});
