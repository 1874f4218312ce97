/** Whole processes on one PostgreSQL: work that one of them begins is done once, through deaths and wrong clocks. */
import { expect, onTestFinished, test } from 'vitest';
import { isJsonArray } from '../../src/model/json.ts';
import { sharedTasks } from '../../src/service/replicas.ts';
import { emptyPostgres } from '../builders/postgres.ts';
import { serviceFolder, type ServiceProcess } from './process.ts';
import { allJudged, backend, judge, listed, patience, scoresOf, spans, trialYaml } from './replica-trial.ts';
import { eventually } from './running.ts';

const runsOfEach = 20;

test('replicas: a killed process loses nothing, and the other one goes on with all that it had to do', { timeout: 900_000 }, async () => {
  const [store, target, main] = [await emptyPostgres(), await backend(), await judge()];
  const start = async (): Promise<ServiceProcess> => {
    const folder = serviceFolder({ store });
    onTestFinished(() => folder.remove());
    folder.configure(trialYaml(target, main));
    return await folder.start();
  };
  const [first, second] = [await start(), await start()];
  let last = 0;
  const sendToBoth = async (): Promise<void> => {
    for (let count = 0; count < runsOfEach; count++)
      for (const service of [first, second]) expect(await service.send(spans(++last))).toBe(200);
  };
  const taken = (): number => new Set(target.taken).size;

  await sendToBoth();
  const before = await allJudged(second, store, last);
  const scores = scoresOf({ runs: last, judged: before });
  await eventually(() => (taken() === scores ? true : undefined), 'all scores of both at the backend', patience);
  expect([target.taken.length, new Set(main.answered).size, main.answered.length]).toEqual([scores, before, before]);
  for (const service of [first, second]) expect((await service.runs()).length).toBe(last);
  expect((await listed(second, 'replicas')).map(({ own, tasks }) => [own, isJsonArray(tasks ?? null) && (tasks as []).length])).toEqual([
    [false, sharedTasks.length],
    [true, 0],
  ]);

  target.state.isDown = true;
  main.state.isHeld = true;
  await sendToBoth();
  // A run that is stored goes on without the process that scored it.
  await eventually(async () => ((await second.runs()).length === last ? true : undefined), 'all runs in the store', patience);
  const held = main.held();
  await first.end('SIGKILL');
  await eventually(() => (main.held() < held ? true : undefined), 'the end of what the killed process asked', patience);
  target.state.isDown = false;
  main.letGo();
  const after = await allJudged(second, store, last);
  const allScores = scoresOf({ runs: last, judged: after });
  await eventually(() => (taken() === allScores ? true : undefined), 'the scores of the killed process as well', patience);
  expect([target.taken.length, main.answered.length]).toEqual([allScores, after]);
  expect(after).toBeGreaterThan(before);
  expect(
    await eventually(
      async () => {
        const tasks = (await listed(second, 'replicas')).find((one) => one['own'] === true)?.['tasks'] ?? null;
        return isJsonArray(tasks) && tasks.length > 0 ? tasks : undefined;
      },
      'the tasks of the killed process',
      patience,
    ),
  ).toEqual([...sharedTasks]);
  expect((await listed(second, 'notices')).map(({ code }) => code)).toContain('replica_silent');
});

const minute = 60_000;
const clocks = [0, 5 * minute, -5 * minute, 0] as const;

test('replicas: clocks that differ by minutes make no process ask or send twice', { timeout: 900_000 }, async () => {
  const [store, target, main] = [await emptyPostgres(), await backend(), await judge()];
  const services: ServiceProcess[] = [];
  for (const clockMs of clocks) {
    const folder = serviceFolder({ store, clockMs });
    onTestFinished(() => folder.remove());
    folder.configure(trialYaml(target, main));
    services.push(await folder.start());
  }
  const [first] = services;
  if (first === undefined) throw new Error('no process');
  target.state.isDown = true;
  main.state.isHeld = true;
  let last = 0;
  for (let count = 0; count < runsOfEach; count++) for (const service of services) expect(await service.send(spans(++last))).toBe(200);
  await eventually(async () => ((await first.runs()).length === last ? true : undefined), 'all runs in the store', patience);
  const seen = async () => new Map((await listed(first, 'replicas')).map((one) => [one['id'], one['seen_at']] as const));
  // Each process looks at what the others hold.
  for (let looks = 0; looks < 3; looks++) {
    const before = await seen();
    await eventually(
      async () => ([...(await seen())].every(([id, at]) => at !== before.get(id)) ? true : undefined),
      'a look of each process',
      patience,
    );
  }
  target.state.isDown = false;
  main.letGo();
  const questions = await allJudged(first, store, last);
  const scores = scoresOf({ runs: last, judged: questions });
  await eventually(() => (new Set(target.taken).size === scores ? true : undefined), 'all scores at the backend', patience);
  expect([main.asked.length, new Set(main.asked).size, target.taken.length]).toEqual([questions, questions, scores]);
  expect(questions).toBeGreaterThan(last / 2);
  const replicas = await listed(first, 'replicas');
  expect(replicas.map(({ state }) => state)).toEqual(clocks.map(() => 'alive'));
  expect(replicas.map((one) => Math.round(Number(one['clock_skew_seconds']) / 60)).toSorted((one, other) => one - other)).toEqual([
    -5, 0, 0, 5,
  ]);
  expect((await listed(first, 'notices')).map(({ code }) => code)).toContain('clocks_differ');
  expect(services.map(({ said }) => said().split('differs from that of the database').length - 1)).toEqual([0, 1, 1, 0]);
});
