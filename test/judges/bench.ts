/** A real judge client before a scripted endpoint, on a clock that only its waits move. */
import { onTestFinished } from 'vitest';
import { openAiCompatibleJudge } from '../../src/judges/openai-compatible.ts';
import type { Judge, JudgeSettings } from '../../src/judges/judge.ts';
import type { BudgetReservation } from '../../src/model/budget.ts';
import { manualClock } from '../../src/model/clock.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { chatServer, type ChatServer, type Play } from './chat-server.ts';

export interface Bench {
  readonly judge: Judge;
  readonly server: ChatServer;
  /** The waits it asked for, in milliseconds. */
  readonly slept: readonly number[];
  /** The points of a counter by outcome. */
  readonly counts: (metric: string) => { readonly [outcome: string]: number };
  /** Answers whose usage was not believed. */
  readonly disbelieved: () => number;
}

/** Closed when the test that asked for it is over. */
export async function bench(
  script: readonly Play[],
  settings: Partial<JudgeSettings> = {},
  reservation?: BudgetReservation,
  nonce = () => 'n0nce',
): Promise<Bench> {
  return await benchAt(await chatServer(...script), settings, reservation, nonce);
}

/** Before this server, which is closed as well. */
export async function benchAt(
  server: ChatServer,
  settings: Partial<JudgeSettings> = {},
  reservation?: BudgetReservation,
  nonce = () => 'n0nce',
): Promise<Bench> {
  const telemetry = metricRegistry();
  const slept: number[] = [];
  const clock = manualClock(Date.parse('2026-01-01T00:00:00Z'));
  const judge = openAiCompatibleJudge(
    { name: 'main', baseUrl: server.baseUrl, model: 'm', apiKey: 'k', concurrency: 2, timeoutMs: 60_000, ...settings },
    {
      telemetry,
      clock,
      random: () => 0,
      nonce,
      async sleep(ms) {
        slept.push(ms);
        clock.advance(ms);
      },
      ...(reservation === undefined ? {} : { reservation }),
    },
  );
  onTestFinished(async () => {
    await judge.stop();
    await server.close().catch(() => undefined);
  });
  const points = (metric: string) => telemetry.snapshot().find(({ name }) => name === metric)?.points ?? [];
  const disbelieved = (): number =>
    points('tracejury.judge.usage.disbelieved').reduce((sum, point) => sum + (point.kind === 'number' ? point.value : 0), 0);
  return {
    judge,
    server,
    slept,
    disbelieved,
    counts: (metric) =>
      Object.fromEntries(
        points(metric).map((point) => [point.labels['tracejury.outcome'] ?? '', point.kind === 'number' ? point.value : 0]),
      ),
  };
}
