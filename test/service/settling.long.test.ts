/** The default of `closing.settle` in a whole service. */
import { expect, test } from 'vitest';
import { head, open } from '../receivers/door.ts';
import { eventually, running, sample, sendAgentRun } from './running.ts';

test('service: a run that comes in one request waits half a second while another request is being received', async () => {
  const jury = await running('', { closing: 'quiet: 5s' });
  const { socket, answer } = await open(Number(new URL(jury.otlp).port));
  answer.catch(() => undefined);
  socket.write(head('/v1/traces', { 'content-type': 'application/x-protobuf', 'content-length': 1_000 }));
  const inFlight = async (): Promise<number> => sample(await jury.metrics(), 'tracejury_receiver_in_flight_bytes') ?? 0;
  await eventually(async () => ((await inFlight()) >= 1_000 ? true : undefined), 'the first request');
  const startMs = performance.now();
  await sendAgentRun(jury.otlp);
  const labels = { tracejury_completeness: 'complete' };
  await eventually(async () => sample(await jury.metrics(), 'tracejury_runs_total', labels), 'the run');
  // Both clocks count whole milliseconds.
  expect(performance.now() - startMs).toBeGreaterThanOrEqual(498);
  socket.destroy();
  await jury.stop();
});
