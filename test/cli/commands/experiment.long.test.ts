/** `tracejury experiment` around real processes: results, reasons, repeats, going on, and what is stored. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readExperimentFile } from '../../../src/analytics/experiment-json.ts';
import type { ExperimentResult } from '../../../src/model/experiment.ts';
import { parseJson } from '../../../src/model/json.ts';
import { openStore } from '../../../src/stores/index.ts';
import { noTenant } from '../../../src/model/ids.ts';
import { agent, workplace, type Outcome, type Workplace } from '../experiment/command.ts';

const node = process.execPath;

function ids({ folder }: Workplace, name = 'result.json'): { readonly id: string; readonly results: readonly ExperimentResult[] } {
  const read = readExperimentFile(parseJson(readFileSync(join(folder, name), 'utf8')) ?? null);
  if (typeof read === 'string') throw new Error(read);
  return { id: read.experiment.id, results: read.results };
}

async function run(place: Workplace, dataset: string, options: readonly string[] = [], env = {}): Promise<Outcome> {
  const file = place.file('dataset.yaml', dataset);
  return await place.tracejury(
    [
      'experiment',
      'run',
      '--dataset',
      file,
      '--name',
      'nightly',
      '--output',
      join(place.folder, 'result.json'),
      ...options,
      '--',
      node,
      agent,
    ],
    env,
  );
}

/** An ended process that no parent has waited for is there as a zombie. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

describe('experiment run', () => {
  test('gives the input on standard input and in a variable, and scores what the spans show', async () => {
    const place = workplace();
    const { code, out } = await run(
      place,
      '- { id: one, input: hello, expect: { tool_calls: [ { name: find } ] } }\n- { id: two, input: { q: 1 }, expect: { tool_calls: [ { name: other } ] } }\n',
    );
    expect(new Set(place.starts().map((start) => start.join(' ')))).toEqual(new Set(['hello hello', '{"q":1} {"q":1}']));
    const { results } = ids(place);
    expect(results.map(({ exampleId, status }) => `${exampleId} ${status}`).toSorted()).toEqual(['one passed', 'two failed']);
    expect(results.find(({ exampleId }) => exampleId === 'one')).toMatchObject({
      agent: { agent: 'helper', version: '2.1', model: 'gpt-5-mini' },
      tookMicros: 5_000,
    });
    expect(results[0]?.agent.promptHash).toMatch(/^[0-9a-f]{16}$/);
    expect([code, out]).toEqual([0, expect.stringContaining('agent helper, version 2.1, model gpt-5-mini')]);
  });

  test('a run that cannot be scored is a failed example with the reason and what to check', async () => {
    const place = workplace();
    const { code, out } = await run(
      place,
      ['crash', 'silent', 'slow', 'loud', 'orphan']
        .map((word) => `- { id: ${word}, input: ${word}${word === 'slow' ? ', expect: {}' : ''} }\n`)
        .join(''),
      ['--timeout', '8'],
    );
    expect(code).toBe(1);
    const errors = Object.fromEntries(ids(place).results.map(({ exampleId, error, status }) => [exampleId, [status, error?.kind]]));
    expect(errors).toEqual({
      crash: ['failed', 'exit_code'],
      silent: ['failed', 'no_spans'],
      slow: ['failed', 'timed_out'],
      loud: ['failed', 'too_much_output'],
      orphan: ['failed', 'no_run'],
    });
    for (const part of [
      'exited with 3. Its last output: the agent has crashed',
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'did not end within 8 s',
      'more than 16 MiB',
      'tracejury inspect',
    ])
      expect(out).toContain(part);
  });

  test('a run beyond its time is killed with all its processes', async () => {
    const place = workplace();
    await run(place, '- { id: one, input: slow child }\n', ['--timeout', '3']);
    const [, pid] = place.starts().find(([word]) => word === 'pid') ?? [];
    expect(pid).toBeTypeOf('number');
    expect(isRunning(Number(pid))).toBe(false);
  });

  test('an agent that begins its own trace is known by its resource attributes, for each repeat', async () => {
    const place = workplace();
    const { code } = await run(place, '- { id: "a b,c=ü", input: own trace }\n', ['--repeat', '3']);
    expect(code).toBe(0);
    const { results } = ids(place);
    expect(results.map(({ exampleId, repeat, status }) => `${exampleId} ${repeat} ${status}`).toSorted()).toEqual(
      [1, 2, 3].map((repeat) => `a b,c=ü ${repeat} passed`),
    );
    expect(new Set(results.map((result) => result.run?.traceId)).size).toBe(3);
  });

  test('a gate on an evaluator, and one on the runs that came to their end, decide the exit code', async () => {
    const place = workplace();
    const dataset = '- { id: one, input: hello }\n- { id: two, input: bad }\n- { id: three, input: crash }\n';
    expect(await run(place, dataset, ['--fail-under', 'tool_error=0.4', '--fail-under', 'completed=0.5'])).toMatchObject({ code: 0 });
    expect(await run(place, dataset, ['--fail-under', 'tool_error=0.9', '--fail-under', 'completed=0.5'])).toMatchObject({
      code: 1,
      out: expect.stringContaining('not held: tool_error passed 50 %') as string,
    });
    expect(await run(place, dataset, ['--fail-under', 'tool_eror=0.9'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('Did you mean tool_error?') as string,
    });
  });

  test('a run that ended in an error fails, unless it may, and PASSED names the failed example', async () => {
    const place = workplace();
    const dataset = '- { id: one, input: hello }\n- { id: two, input: outage }\n';
    const { code, out } = await run(place, dataset);
    expect([code, ids(place).results.find(({ exampleId }) => exampleId === 'two')]).toMatchObject([
      1,
      { status: 'failed', error: { kind: 'run_error', message: 'The run ended in an error: 503 the model is overloaded' } },
    ]);
    expect(out).toContain('1 of 2 runs did not come to their end.');
    expect(out).toContain('--allow-run-errors lets runs pass that ended in an error.');
    expect(out).toMatch(/^FAILED  /m);
    const allowed = await run(place, dataset, ['--allow-run-errors']);
    expect(allowed.code).toBe(0);
    expect(allowed.out).toMatch(/^PASSED, though 1 example failed: two  /m);
    expect((await run(place, dataset, ['--allow-run-errors', '--format', 'markdown'])).out).toMatch(/^### ⚠ .*1 example failed: two/m);
    // The first example is well, so a gate that allows half of the runs to fail holds too.
    expect((await run(place, dataset, ['--fail-under', 'completed=0.5'])).code).toBe(0);
  });

  test('repeats give pass@k and pass^k', async () => {
    const place = workplace();
    const { out } = await run(place, '- { id: one, input: hello }\n', ['--repeat', '2', '--format', 'markdown']);
    expect(out).toContain('| tool\\_error | 2 | 0 |');
    expect((await place.tracejury(['experiment', 'show', 'nightly'])).out).toMatch(/tool_error +2 +1 +100 % +100 %/);
  });

  test('--resume runs what has no result, and refuses to mix another dataset in', async () => {
    const place = workplace();
    const dataset = '- { id: one, input: hello }\n- { id: two, input: bad }\n';
    await run(place, dataset, ['--id', 'first']);
    const store = await openStore({ scheme: 'sqlite', rest: join(place.folder, 'tracejury.db') });
    const [kept, lost] = ids(place).results;
    if (kept === undefined || lost === undefined) throw new Error('there are two results');
    const whole = await store.experiments.experiment({ tenant: noTenant, id: 'first' });
    if (whole === undefined) throw new Error('it is stored');
    // The state that a killed runner leaves: one result is missing, and the experiment counts as running.
    await store.experiments.delete(whole);
    await store.experiments.begin({ ...whole, state: 'running', endedAt: undefined });
    await store.experiments.add(whole, kept);
    await store.stop();
    expect(await run(place, `${dataset}- { id: three, input: hello }\n`, ['--resume'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('Changed since it began: the examples.') as string,
    });
    const resumed = await run(place, dataset, ['--resume']);
    expect(resumed.err).toContain('first goes on: 1 of 2 runs have their result.');
    expect(ids(place).id).toBe('first');
    expect(
      ids(place)
        .results.map(({ exampleId }) => exampleId)
        .toSorted(),
    ).toEqual(['one', 'two']);
    expect(place.starts().filter(([word]) => word === 'hello' || word === 'bad')).toHaveLength(3);
  });

  test('what is wrong with the command line is said before anything runs', async () => {
    const place = workplace();
    const file = place.file('dataset.yaml', '- { id: one, input: hello }\n');
    const base = ['experiment', 'run', '--name', 'n'];
    for (const [words, text] of [
      [[...base, '--', node], '--dataset'],
      [[...base, '--dataset', file], 'Name the command after --'],
      [[...base, '--dataset', file, '--url', 'http://127.0.0.1:1', '--', node], 'not both'],
      [[...base, '--dataset', file, '--url', 'ftp://x'], 'http://'],
      [[...base, '--dataset', file, '--repeat', '0', '--', node], '--repeat takes a whole number'],
      [[...base, '--dataset', 'refunds@3', '--', node], 'no dataset refunds'],
      [[...base, '--dataset', 'no.yml', '--', node], 'no.yml: there is no such file. Check the path and its permissions.'],
      [[...base, '--dataset', place.file('empty.yaml', '[]'), '--', node], 'has no example'],
      [[...base, '--dataset', place.file('bare.yaml', '- { id: one }'), '--', node], 'has no input'],
      [['experiment', 'rum'], 'Did you mean run?'],
      [['experiment', 'show', 'nobody'], 'There is no experiment'],
    ] as const)
      expect(await place.tracejury(words)).toMatchObject({ code: 2, err: expect.stringContaining(text) as string });
    expect(place.starts()).toEqual([]);
  });

  test('a command that cannot be started is the reason of each example', async () => {
    const place = workplace();
    const file = place.file('dataset.yaml', '- { id: one, input: hello }\n');
    const { code, out } = await place.tracejury(['experiment', 'run', '--dataset', file, '--name', 'n', '--', '/no/such/agent']);
    expect([code, out]).toEqual([1, expect.stringContaining('"/no/such/agent" cannot be started (ENOENT)')]);
  });
});

test('experiment list, show and delete: what is stored, by id and by name', async () => {
  const place = workplace();
  await run(place, '- { id: one, input: hello }\n');
  const { id } = ids(place);
  expect((await place.tracejury(['experiment', 'list'])).out).toContain(`nightly  ${id}  dataset.yaml  1 passed, 0 failed  done`);
  expect(JSON.parse((await place.tracejury(['experiment', 'list', '--format', 'json'])).out)).toMatchObject({
    id,
    results: 1,
    state: 'done',
  });
  expect((await place.tracejury(['experiment', 'show', id])).out).toContain('1 passed');
  expect(await place.tracejury(['experiment', 'delete', 'nightly'])).toMatchObject({ code: 2, err: expect.stringContaining(id) as string });
  expect(await place.tracejury(['experiment', 'delete', id])).toMatchObject({ code: 0 });
  expect(await place.tracejury(['experiment', 'show', 'nightly'])).toMatchObject({ code: 2 });
});
