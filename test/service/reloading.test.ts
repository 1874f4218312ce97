/** When the configuration is read again, and when it is not. */
import { expect, test } from 'vitest';
import { evaluators } from '../../evaluators/index.ts';
import { loadConfig, type LoadedConfig } from '../../src/config/load.ts';
import { manualClock } from '../../src/model/clock.ts';
import { reloading, type ReloadSource } from '../../src/service/reloading.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { manualSleep, settled } from '../builders/manual-sleep.ts';
import { validators } from '../builders/validators.ts';

function loadedFrom(text: string): LoadedConfig {
  return loadConfig({ validators, file: 'a.yaml', text, env: {}, evaluators });
}

/** A file whose reading takes until the test lets it end. */
function host(options: { readonly room?: () => Promise<void>; readonly exchange?: () => void; readonly source?: undefined } = {}) {
  const first = loadedFrom('');
  const reads: ((text: string) => void)[] = [];
  const taken: string[] = [];
  const told: string[] = [];
  const tell = (_fields: object, message: string): void => void told.push(message);
  const sleeps = manualSleep();
  const registry = metricRegistry();
  const stands: { now: string | undefined } = { now: undefined };
  let reading = 0;
  let mostAtOnce = 0;
  const source: ReloadSource = {
    file: 'a.yaml',
    change: async () => stands.now,
    async read() {
      mostAtOnce = Math.max(mostAtOnce, ++reading);
      stands.now = undefined;
      const text = await new Promise<string>((resolve) => reads.push(resolve));
      reading--;
      return loadedFrom(text);
    },
  };
  const reloads = reloading({
    source: 'source' in options ? undefined : source,
    fingerprints: first.fingerprints,
    exchange(loaded) {
      options.exchange?.();
      taken.push(loaded.config.evaluators.map(({ configured }) => configured.name).join());
    },
    room: options.room ?? (async () => undefined),
    telemetry: registry,
    clock: manualClock(5_000),
    sleep: sleeps.sleep,
    logger: { info: tell, warn: tell, error: tell },
  });
  return {
    reloads,
    reads,
    taken,
    told,
    sleeps,
    stands,
    mostAtOnce: () => mostAtOnce,
    async answer(text: string) {
      reads.shift()?.(text);
      await settled();
      await settled();
    },
    counted: (): { readonly [name: string]: number } =>
      Object.fromEntries(
        registry
          .snapshot()
          .flatMap(({ name, points }) =>
            name.startsWith('tracejury.config.')
              ? points.map((point) => [
                  [name.slice('tracejury.config.'.length), ...Object.values(point.labels)].join(' '),
                  point.kind === 'number' ? point.value : 0,
                ])
              : [],
          ),
      ),
  };
}

test('reloading: one at a time, and what is asked for meanwhile is one more time', async () => {
  const to = host();
  to.reloads.begin();
  for (let at = 0; at < 100; at++) to.reloads.request();
  await settled();
  expect(to.reads).toHaveLength(1);
  for (let at = 0; at < 100; at++) to.reloads.request();
  await to.answer('evaluators: [ tool_error ]');
  // It rests before it reads again.
  expect(to.reads).toHaveLength(0);
  await to.sleeps.wakeAll();
  expect(to.reads).toHaveLength(1);
  await to.answer('evaluators: [ tool_recovery ]');
  await to.sleeps.wakeAll();
  await settled();
  expect([to.reads.length, to.mostAtOnce(), to.taken]).toEqual([0, 1, ['tool_error', 'tool_recovery']]);
  expect(to.counted()).toMatchObject({ 'reloads applied': 2, loaded: 5, refused: 0, waiting: 0 });
});

test('reloading: what is asked for before the service is up is done then, and after a stop nothing is taken', async () => {
  const to = host();
  to.reloads.request();
  await settled();
  expect(to.reads).toHaveLength(0);
  to.reloads.begin();
  await settled();
  expect(to.reads).toHaveLength(1);
  to.reloads.stop();
  await to.answer('evaluators: [ tool_error ]');
  to.reloads.request();
  await to.sleeps.wakeAll();
  expect([to.taken, to.reads.length]).toEqual([[], 0]);
});

test('reloading: a fault of the file and one of the service leave what is in force, and the next file is taken', async () => {
  let isBroken = true;
  const to = host({
    exchange() {
      if (isBroken) throw new Error('no');
    },
  });
  to.reloads.begin();
  for (const text of ['evaluators: [ nope ]', 'evaluators: [ tool_error ]']) {
    to.reloads.request();
    await settled();
    await to.answer(text);
    await to.sleeps.wakeAll();
    expect(to.counted()).toMatchObject({ refused: 1 });
  }
  expect(to.taken).toEqual([]);
  isBroken = false;
  to.reloads.request();
  await settled();
  await to.answer('limits: { memory_bytes: 1GiB }\nevaluators: [ tool_error ]');
  expect(to.taken).toEqual(['tool_error']);
  expect(to.counted()).toMatchObject({ 'reloads refused': 2, 'reloads applied': 1, refused: 0, waiting: 1 });
});

test('reloading: a change of the files counts when they stand the same twice', async () => {
  const to = host();
  to.reloads.begin();
  const look = async (stand: string | undefined): Promise<number> => {
    to.stands.now = stand;
    await to.sleeps.wakeAll();
    await settled();
    return to.reads.length;
  };
  expect([await look(undefined), await look('half written'), await look('whole'), await look('whole')]).toEqual([0, 0, 0, 1]);
});

test('reloading: it waits until what left before has made room, and reads only then', async () => {
  let free = (): void => undefined;
  const to = host({ room: () => new Promise((resolve) => void (free = resolve)) });
  to.reloads.begin();
  to.reloads.request();
  await settled();
  expect(to.reads).toHaveLength(0);
  free();
  await settled();
  expect(to.reads).toHaveLength(1);
});

test('reloading: without a file nothing is read, and that is said', async () => {
  const to = host({ source: undefined });
  to.reloads.begin();
  to.reloads.request();
  await settled();
  expect([to.reads.length, to.told]).toEqual([0, [expect.stringContaining('without -c')]]);
});
