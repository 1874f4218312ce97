/**
 * `npm run bench -- profile`: the use of the service's CPU time, by parts of its code and by threads, while spans come as fast as they are taken.
 * Profiling costs some time itself: the shares say more than the microseconds.
 *
 *   --passes N   (3)      --spans N   spans of one pass (72000)      --in-memory   with neither journal nor file, and the evaluators that are on by default
 *   --write FILE   the profile of the main thread, for a browser's developer tools
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { sendLoad } from '../load.ts';
import { applicable } from '../offline.ts';
import { measured, type Measured } from '../server.ts';
import { byDefault, configured, inMemory, onDisk } from '../service.ts';
import { workload } from '../workload.ts';
import { timeByArea } from './areas.ts';
import { cpuByThread } from './threads.ts';
import { runnerArguments } from '../../runner-arguments.ts';

const { values } = runnerArguments({
  options: {
    passes: { type: 'string', default: '3' },
    spans: { type: 'string', default: '72000' },
    'in-memory': { type: 'boolean', default: false },
    write: { type: 'string' },
  },
});
const [passes, spans] = [Number(values.passes), Number(values.spans)];
const root = pathToFileURL(join(import.meta.dirname, '../../..')).href.replace(/\/?$/, '/');
/** Until what a pass brought is scored, stored and sent. */
const doneMs = 8_000;
/** Less would be in no table. */
const leastMicros = 0.05;

const folder = mkdtempSync(join(tmpdir(), 'tracejury-profile-'));
const sink = await measured('floor.ts', [], { asStarted: true, lastLine: /^OTLP/m });
const names = values['in-memory'] ? byDefault : await applicable(workload({ seed: 7_000, spans: 360 }).bodies);
const server = await configured(
  join(folder, 'tracejury.yaml'),
  names,
  values['in-memory'] ? inMemory : onDisk(join(folder, 'data'), sink.otlpUrl),
);
try {
  await load(server, 1_000);
  const before = cpuByThread(server.pid);
  const profile = await server.profiled(async () => {
    for (let pass = 1; pass <= passes; pass++) await load(server, pass);
  });
  const after = cpuByThread(server.pid);
  if (values.write !== undefined) writeFileSync(values.write, JSON.stringify(profile));
  tell(
    'main thread',
    timeByArea(profile, root).map(({ area, micros }) => [area, micros]),
  );
  tell(
    'thread',
    [...after].map(([name, micros]) => [name, micros - (before.get(name) ?? 0)]),
  );
  process.stdout.write(`${passes} passes of ${spans} spans. Evaluators: ${names.join(', ')}. Node ${process.versions.node}.\n`);
} finally {
  await Promise.all([server.stop(), sink.stop()]);
  rmSync(folder, { recursive: true });
}

async function load({ otlpUrl }: Measured, seed: number): Promise<void> {
  await sendLoad({ url: otlpUrl, bodies: workload({ seed, spans }).bodies, encoding: 'identity' });
  await pause(doneMs);
}

function tell(title: string, times: readonly (readonly [name: string, micros: number])[]): void {
  const sum = times.reduce((total, [, micros]) => total + micros, 0);
  const lines = times.toSorted(([, one], [, other]) => other - one).filter(([, micros]) => micros / (passes * spans) >= leastMicros);
  const cells = [
    ...lines.map(([name, micros]) => `| ${name} | ${(micros / (passes * spans)).toFixed(1)} | ${((100 * micros) / sum).toFixed(0)} % |`),
    `| together | ${(sum / (passes * spans)).toFixed(1)} | |`,
  ];
  process.stdout.write(`| ${title} | µs/span | share |\n|---|---|---|\n${cells.join('\n')}\n\n`);
}
