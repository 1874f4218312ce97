/** A service to be pressed: a separate process over a separate folder, with a file as store and a journal on disk. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { measured, type Measured } from '../server.ts';
import { flooding } from './flooding.ts';
import { metricsPage, type Page } from './metrics-page.ts';

export interface Bed {
  readonly server: Measured;
  readonly otlpUrl: string;
  /** Host and port. */
  readonly grpcAddress: string;
  page(): Promise<Page>;
  stop(): Promise<void>;
}

export const memoryMib = 512;
/** Another machine than that of the agents, as far as the service can see. */
export const floodAddress = '127.0.0.2';
/** Spans of a sender, by turns. */
export const templateSpans = 2_400;

export async function bed(more = ''): Promise<Bed> {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-overload-'));
  const file = join(folder, 'tracejury.yaml');
  writeFileSync(
    file,
    `listen: { otlp_http: "127.0.0.1:0", otlp_grpc: "127.0.0.1:0", console: "127.0.0.1:0" }\nstore: { url: "sqlite:${join(folder, 'tracejury.db')}" }\njournal: { url: "disk:${join(folder, 'journal')}" }\nlimits: { memory_bytes: ${memoryMib}MiB }\n${more}`,
  );
  const server = await measured('../../src/cli/main.ts', ['serve', '-c', file], { lastLine: /^Evaluators/m, asStarted: true });
  const { consoleUrl = '', said } = server;
  return {
    server,
    otlpUrl: server.otlpUrl,
    grpcAddress: /(\S+) \(gRPC\)/.exec(said)?.[1] ?? '',
    page: () => metricsPage(consoleUrl),
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Spans a second that are taken and scored when eight connections send as fast as they are answered. */
export async function saturation(on: Bed, seconds: number, sender: number): Promise<number> {
  const load = flooding({ url: on.otlpUrl, from: floodAddress, connections: 8, sender, spans: templateSpans });
  // Until the code is compiled.
  await pause(Math.min(10_000, seconds * 500));
  const before = await acceptedSpans(on);
  const startMs = performance.now();
  await pause(seconds * 1_000);
  const after = await acceptedSpans(on);
  const rate = ((after - before) * 1_000) / (performance.now() - startMs);
  await load.stop();
  await settled(on);
  load.end();
  return rate;
}

export async function acceptedSpans(on: Bed): Promise<number> {
  return (await on.page()).sum('tracejury_receiver_spans_total', { tracejury_outcome: 'accepted' });
}

/** Waits until nothing is late any more. Gives the milliseconds that it took; undefined: it did not come to that. */
export async function settled(on: Bed, withinMs = 60_000): Promise<number | undefined> {
  const startMs = performance.now();
  while (performance.now() - startMs < withinMs) {
    const page = await on.page();
    if (
      page.sum('tracejury_stress_level') === 0 &&
      page.sum('tracejury_store_queue') === 0 &&
      page.sum('tracejury_stress_strain_ratio', { tracejury_strain: 'closing' }) < 0.05
    )
      return performance.now() - startMs;
    await pause(200);
  }
  return undefined;
}
