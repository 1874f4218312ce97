/** How many questions a forecast counts, from runs in a real store. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { commands } from '../../../src/cli/commands/index.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { agentTrace, call } from '../../builders/agent-trace.ts';
import { run, scoredRun } from '../../builders/scored-run.ts';
import { traceId } from '../../builders/spans.ts';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-forecast-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function judge(...words: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCommandLine({
    words: ['judge', ...words],
    commands,
    version: '',
    env: {},
    say: (text) => out.push(text),
    complain: (text) => err.push(text),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

test('judge forecast: an evaluator that asks about parts of a run has a question for each of them', async () => {
  const path = join(folder, 'parts.db');
  const store = await sqliteStore(path);
  const start = BigInt(Date.now() - 2 * 86_400_000) * 1_000_000n;
  const calls = (at: number) => Array.from({ length: at % 2 === 0 ? 1 : 3 }, () => call({ name: 'search', result: 'found' }));
  await store.write(
    Array.from({ length: 20 }, (_, at) =>
      scoredRun(
        {},
        run({
          traceId: traceId(at + 1),
          trace: agentTrace({ agent: 'a', input: 'Where is it?', finalResponse: 'There.', toolCalls: calls(at) }),
          startUnixNano: start,
          endUnixNano: start + 1n,
        }),
      ),
    ),
  );
  await store.stop();
  const config = (on: string): string =>
    file(
      'parts.yaml',
      `evaluators: [ { use: toxicity, judge: main, sample: { rate: 1 }${on} } ]\njudges: { main: { model: small, budget: { requests_per_day: 10 } } }\nprices: { small: { input_per_million: 2, output_per_million: 10 } }\nstore: { url: "sqlite:${path}" }\n`,
    );
  const forecast = async (on: string) => {
    const { code, out, err } = await judge('forecast', '-c', config(on), '--format', 'json');
    expect([code, err]).toEqual([0, '']);
    return JSON.parse(out) as {
      readonly evaluators: readonly { readonly questions: number; readonly input_tokens: number; readonly output_tokens: number }[];
      readonly judges: readonly { readonly rate_left: number }[];
    };
  };
  const [whole, parts] = [await forecast(''), await forecast(', on: { tool: search }')];
  // Half of the runs have three calls, half have one: two on average.
  expect([whole.evaluators[0]?.questions, parts.evaluators[0]?.questions]).toEqual([1, 2]);
  expect(parts.evaluators[0]?.output_tokens).toBe(2 * (whole.evaluators[0]?.output_tokens ?? 0));
  expect(parts.evaluators[0]?.input_tokens).toBeGreaterThan(1.8 * (whole.evaluators[0]?.input_tokens ?? 0));
  // Ten runs a day: the budget of ten requests is enough for the runs, and for half of their parts.
  expect([whole.judges[0]?.rate_left, parts.judges[0]?.rate_left]).toEqual([1, expect.closeTo(0.5, 1)]);
  expect((await judge('forecast', '-c', config(', on: { tool: search }'))).out).toContain(
    '10.0 verdicts a day, 100.0 % of the runs, 2.0 questions each',
  );
});

test('judge forecast: a run that is read in pieces has a question for each, and one for all notes', async () => {
  const path = join(folder, 'pieces.db');
  const store = await sqliteStore(path);
  const start = BigInt(Date.now() - 2 * 86_400_000) * 1_000_000n;
  const toolCalls = Array.from({ length: 20 }, (_, at) => call({ name: 'search', result: `result ${at} `.padEnd(4_000, `${at}.`) }));
  await store.write([
    scoredRun(
      {},
      run({
        trace: agentTrace({ agent: 'a', input: 'Where is it?', finalResponse: 'There.', toolCalls }),
        startUnixNano: start,
        endUnixNano: start + 1n,
      }),
    ),
  ]);
  await store.stop();
  const questions = async (map: string): Promise<number | undefined> => {
    const config = file(
      'pieces.yaml',
      `evaluators: [ { use: trajectory_quality, judge: main, sample: { rate: 1 }${map} } ]\njudges: { main: { model: small } }\nstore: { url: "sqlite:${path}" }\n`,
    );
    const { code, out, err } = await judge('forecast', '-c', config, '--format', 'json');
    expect([code, err]).toEqual([0, '']);
    return (JSON.parse(out) as { readonly evaluators: readonly { readonly questions: number }[] }).evaluators[0]?.questions;
  };
  expect([await questions(''), await questions(', map: reduce')]).toEqual([1, 4]);
});
