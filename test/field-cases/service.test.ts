/** Field cases that only a running service shows: late spans, stored runs, answers of the API. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isJsonObject, parseJson, type JsonObject } from '../../src/model/json.ts';
import { eventually, running, type Running } from '../service/running.ts';

let service: Running;
beforeAll(async () => {
  service = await running('store: { url: "memory:", content: all }', { closing: 'settle: 5ms, quiet: 40ms' });
});
afterAll(() => service.stop());

/** Gives the ids of its traces, in order. */
async function sent(file: string): Promise<readonly string[]> {
  const body = readFileSync(new URL(file, import.meta.url), 'utf8');
  const answer = await fetch(`${service.otlp}/v1/traces`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  expect(answer.status).toBe(200);
  return [...new Set(Array.from(body.matchAll(/"traceId": ?"(\w+)"/g), ([, id = '']) => id))];
}

async function got(path: string): Promise<JsonObject> {
  const value = parseJson(await (await fetch(`${service.console}/api/v1/${path}`)).text());
  if (!isJsonObject(value)) throw new Error(`no object at ${path}`);
  return value;
}

/** The run of an agent's span in the revision that `holds` waits for. */
function runWhen(place: string, holds: (run: JsonObject) => boolean): Promise<JsonObject> {
  return eventually(async () => {
    const run = await got(`runs/${place}`);
    return holds(run) ? run : undefined;
  }, `${place} as expected`);
}

test('field cases: children of an agent span that ended at once make the next revision, and the run lasts as long as they do', async () => {
  const [trace] = await sent('80-root-closes-at-once/1.json');
  const place = `${trace}/abc0000000000001`;
  await runWhen(place, ({ revision }) => revision === 1);
  await sent('80-root-closes-at-once/2-after-4s.json');
  expect(await runWhen(place, ({ revision }) => revision === 2)).toMatchObject({
    started_at: '2026-11-27T18:20:00.000000Z',
    ended_at: '2026-11-27T18:20:04.000000Z',
    final_response: 'Seen.',
    tool_calls: [{ name: 'look', result: 'seen' }],
  });
});

test('field cases: spans that announce others become no runs and no calls', async () => {
  const [trace] = await sent('55-pending-spans/1.json');
  // A run that comes after them closes: they had as long.
  const [other] = await sent('19-end-before-start/request.json');
  await runWhen(`${other}/abc0000000000001`, ({ revision }) => revision === 1);
  await sent('55-pending-spans/2-after-4s.json');
  const run = await runWhen(`${trace}/abc0000000000001`, ({ revision }) => revision === 1);
  expect(run).toMatchObject({ agent: 'pend', completeness: 'complete', tool_calls: [{ name: 'slow', arguments: { a: 1 } }] });
  expect(await got(`runs?trace=${trace}`)).toMatchObject({ runs: [{ span_id: 'abc0000000000001' }] });
});

test('field cases: spans that end before they start have no negative duration, and nothing is of 1970', async () => {
  const [back, zero] = await sent('57-agent-span-end-faults/request.json');
  for (const place of [`${back}/abc0000000000001`, `${zero}/abc000000000000b`]) {
    await runWhen(place, ({ revision }) => revision === 1);
    const spans = await eventually(async () => {
      const told = (await got(`runs/${place}/timeline`)) as unknown as { readonly spans: readonly Times[] };
      return told.spans.length > 1 ? told.spans : undefined;
    }, 'the stored spans');
    expect(spans.filter(({ started_at: start, ended_at: end }) => end < start || start < '2026')).toEqual([]);
  }
});

interface Times {
  readonly started_at: string;
  readonly ended_at: string;
}

test('field cases: halves of characters leave as U+FFFD', async () => {
  const [trace] = await sent('23-lone-surrogates/request.json');
  await runWhen(`${trace}/abc0000000000001`, ({ revision }) => revision === 1);
  const text = await (await fetch(`${service.console}/api/v1/runs/${trace}/abc0000000000001`)).text();
  expect(text).toContain('half a face: \ufffd and more');
  expect(text).not.toMatch(/\\ud83d/i);
});
