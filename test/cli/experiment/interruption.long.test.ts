/** A runner that is killed, or interrupted, again and again: in the end every example has exactly one result. */
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { noTenant } from '../../../src/model/ids.ts';
import type { ExperimentResult } from '../../../src/model/experiment.ts';
import { openStore } from '../../../src/stores/index.ts';
import { seeded } from '../../builders/seeded.ts';
import { agent, workplace, type Workplace } from './command.ts';

const main = join(import.meta.dirname, '../../../src/cli/main.ts');
const examples = 90;
const kills = 20;
const everyMs = 10;
const looksMax = 6_000;

function started(place: Workplace): ChildProcess {
  const words = ['experiment', 'run', '-c', join(place.folder, 'tracejury.yaml'), '--dataset', join(place.folder, 'dataset.yaml')];
  const options = ['--name', 'killed', '--id', 'killed', '--resume', '--', process.execPath, agent];
  return spawn(process.execPath, [main, ...words, ...options], {
    cwd: place.folder,
    stdio: 'ignore',
    env: { ...process.env, AGENT_LOG: join(place.folder, 'starts.jsonl') },
  });
}

const ended = (child: ChildProcess): Promise<number | null> => new Promise((resolve) => void child.once('exit', (code) => resolve(code)));

async function untilStarts(place: Workplace, count: number): Promise<void> {
  for (let look = 0; look < looksMax; look++) {
    if (place.starts().length >= count) return;
    await wait(everyMs);
  }
  throw new Error(`there were never ${count} starts`);
}

async function results({
  folder,
}: Workplace): Promise<{ readonly state: string | undefined; readonly results: readonly ExperimentResult[] }> {
  const store = await openStore({ scheme: 'sqlite', rest: join(folder, 'tracejury.db') });
  const key = { tenant: noTenant, id: 'killed' };
  const found = {
    state: (await store.experiments.experiment(key))?.state,
    results: (await store.experiments.results(key, { limit: 1_000 })).results,
  };
  await store.stop();
  return found;
}

function dataset(place: Workplace): void {
  place.file('dataset.yaml', Array.from({ length: examples }, (_, at) => `- { id: example-${at}, input: wait ${at} }\n`).join(''));
}

test(`experiment: killed ${kills} times, every example has one result in the end`, { timeout: 600_000 }, async () => {
  const place = workplace();
  dataset(place);
  const chance = seeded(9);
  for (let kill = 0; kill < kills; kill++) {
    const before = place.starts().length;
    const runner = started(place);
    await untilStarts(place, before + 1 + chance.below(4));
    await wait(chance.below(60));
    runner.kill('SIGKILL');
    await ended(runner);
  }
  expect((await results(place)).results.length).toBeLessThan(examples);
  expect(await ended(started(place))).toBe(0);
  const found = await results(place);
  expect(found.state).toBe('done');
  expect(found.results.map(({ exampleId, status }) => `${exampleId} ${status}`).toSorted()).toEqual(
    Array.from({ length: examples }, (_, at) => `example-${at} passed`).toSorted(),
  );
});

test('experiment: interrupted, it kills its agents, reports that it is stopped, and goes on', async () => {
  const place = workplace();
  place.file('dataset.yaml', '- { id: quick, input: hello }\n- { id: long, input: slow }\n');
  const runner = started(place);
  await untilStarts(place, 2);
  for (let look = 0; look < looksMax && (await results(place)).results.length === 0; look++) await wait(everyMs);
  runner.kill('SIGINT');
  expect(await ended(runner)).toBe(130);
  const found = await results(place);
  expect(found).toMatchObject({ state: 'stopped', results: [{ exampleId: 'quick' }] });
});

test('experiment: its agents and what they have started end when the command is killed', { timeout: 120_000 }, async () => {
  const place = workplace();
  place.file('dataset.yaml', '- { id: long, input: slow child }\n');
  const runner = started(place);
  // The line of the start, and the one of the child.
  await untilStarts(place, 2);
  const child = Number(place.starts().find(([what]) => what === 'pid')?.[1]);
  const isThere = (): boolean => {
    try {
      return process.kill(child, 0);
    } catch {
      return false;
    }
  };
  expect(isThere()).toBe(true);
  runner.kill('SIGKILL');
  await ended(runner);
  for (let look = 0; look < looksMax && isThere(); look++) await wait(everyMs);
  expect(isThere()).toBe(false);
});

test('experiment: the command inherits no key that the configuration names, unless it is passed on', { timeout: 120_000 }, async () => {
  const place = workplace("judges: { main: { model: m, api_key: '${env:JUDGE_KEY}', headers: { x-team: 'Bearer ${env:TEAM_KEY}' } } }\n");
  place.file('dataset.yaml', '- { id: one, input: hello }\n');
  const out = join(place.folder, 'environment');
  const env = { JUDGE_KEY: 'sk-judge-secret', SAME_KEY: 'sk-judge-secret', TEAM_KEY: 'team-secret-value', PLAIN: 'plain' };
  const run = async (...options: readonly string[]) => {
    const words = ['--dataset', join(place.folder, 'dataset.yaml'), '--name', 'env', ...options, '--', 'sh', '-c', `env > ${out}`];
    const { err } = await place.tracejury(['experiment', 'run', ...words], env);
    return {
      err,
      names: readFileSync(out, 'utf8')
        .split('\n')
        .map((line) => line.split('=', 1)[0]),
    };
  };
  const inherited = await run();
  expect(inherited.names).toContain('PLAIN');
  for (const name of ['JUDGE_KEY', 'SAME_KEY', 'TEAM_KEY']) expect(inherited.names).not.toContain(name);
  expect(inherited.err).toContain('does not get JUDGE_KEY, SAME_KEY, TEAM_KEY');
  expect((await run('--pass-env', 'JUDGE_KEY')).names).toContain('JUDGE_KEY');
});
