import { afterEach, expect, test } from 'vitest';
import { eventually, running, type Running } from './running.ts';

const open: Running[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.stop()));
});

test('demo loader: the console loads a day of runs, which are scored', async () => {
  const jury = await running('', { closing: 'settle: 50ms, quiet: 200ms' });
  open.push(jury);
  const addresses = (await (await fetch(`${jury.console}/api/v1/addresses`)).json()) as object;
  expect(addresses).toMatchObject({ otlp_http: jury.otlp, token_needed: false });
  const answer = await fetch(`${jury.console}/api/v1/demo`, { method: 'POST' });
  expect(await answer.json()).toEqual({ spans: expect.any(Number), runs: 120 });
  const scored = await eventually(async () => {
    const { runs } = (await (await fetch(`${jury.console}/api/v1/runs?limit=200`)).json()) as {
      readonly runs: readonly { readonly verdicts: readonly object[] }[];
    };
    return runs.length >= 120 ? runs : undefined;
  }, 'the runs of the demonstration');
  expect(scored.every(({ verdicts }) => verdicts.length > 0)).toBe(true);
});
