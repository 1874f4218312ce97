/**
 * One budget of a day over whole processes, some of them killed: it is never overspent, and a question that no killed process had in
 * progress is asked once. `TRACEJURY_TRIALS=50` makes it the trial that measured the promise.
 */
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { emptyPostgres } from '../builders/postgres.ts';
import { seeded } from '../builders/seeded.ts';
import { serviceFolder, type ServiceProcess } from './process.ts';
import { backend, judge, openJobs, patience, spans, trialYaml } from './replica-trial.ts';
import { eventually } from './running.ts';

const trials = Number(process.env['TRACEJURY_TRIALS'] ?? 1);
const processes = 3;
const concurrency = 2;
const runsMax = 300;
/** The usage that the judge reports for a question; the budget pays for 200 of them. */
const usd = { budget: 1, question: 0.005 };
const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };
const perMillion = usd.question / (usage.total_tokens / 1e6);
/** The budget is used at all. Most of the rest is reserved: each killed process takes its reservations along, which cover the longest questions. */
const usdMin = 0.4;
const keys = `concurrency: ${concurrency}, timeout: 10m, answer_tokens: 100, price: { input_per_million: ${perMillion}, output_per_million: ${perMillion} }, budget: { usd_per_day: ${usd.budget} }`;

test.each(Array.from({ length: trials }, (_, at) => at + 1))(
  'replicas: one budget holds over killed processes, trial %i',
  { timeout: 600_000 },
  async (trial) => {
    const chance = seeded(trial);
    const [store, target, main] = [await emptyPostgres(), await backend(), await judge({ usage })];
    const client = new pg.Client({ connectionString: store });
    await client.connect();
    onTestFinished(() => client.end());
    // In the evening the pace of the day holds little back, and midnight is far away.
    const clockMs = 20 * 3_600_000 - (Date.now() % 86_400_000);
    const folders = Array.from({ length: processes }, () => serviceFolder({ store, clockMs }));
    for (const folder of folders) {
      onTestFinished(() => folder.remove());
      folder.configure(trialYaml(target, main, keys));
    }
    const services = await Promise.all(folders.map((folder) => folder.start()));
    let inDoubt = 0;
    let last = 0;
    for (let life = 0; life < processes; life++) {
      const end = last + runsMax / processes;
      while (last < end) {
        const service = services[chance.below(processes)];
        expect(await service?.send(spans(++last))).toBe(200);
      }
      // Killed with questions under way: they may have been answered, and are asked again.
      main.state.isHeld = true;
      await eventually(
        async () => (main.held() > 0 || (await openJobs(client)) === 0 ? true : undefined),
        'a question under way',
        patience,
      );
      const victim = chance.below(processes);
      await (services[victim] as ServiceProcess).end('SIGKILL');
      inDoubt += concurrency;
      main.letGo();
      services[victim] = await (folders[victim] as (typeof folders)[number]).start();
    }
    await eventually(async () => ((await openJobs(client)) === 0 ? true : undefined), 'the end of every question', patience);
    const spent = main.asked.length * usd.question;
    expect(spent).toBeLessThanOrEqual(usd.budget);
    expect(spent).toBeGreaterThan(usdMin);
    expect(main.asked.length - new Set(main.asked).size).toBeLessThanOrEqual(inDoubt);
  },
);
