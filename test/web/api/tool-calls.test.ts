/** The tool calls of one run, page by page, and the bounded lists in the answer about it, asked over HTTP. */
import { expect, onTestFinished, test } from 'vitest';
import { isJsonArray, isJsonObject, type JsonObject } from '../../../src/model/json.ts';
import type { PartVerdict } from '../../../src/model/verdict.ts';
import { agentTrace, call, spanId } from '../../builders/agent-trace.ts';
import { emptyApi, openConsole } from '../../builders/console-listener.ts';
import { run, scored, scoredRun } from '../../builders/scored-run.ts';

const calls = Array.from({ length: 7 }, (_, at) => call({ name: `tool_${at}`, spanId: spanId(0x100 + at) }));
const failed = new Set([3, 6]);
const parts = calls.map(({ name, spanId: id }, index): PartVerdict => ({
  index,
  tool: name,
  ...(id === undefined ? {} : { spanId: id }),
  score: failed.has(index) ? 0 : 1,
  passed: !failed.has(index),
  explanation: '',
}));

/** Answers below one run of seven calls, two of them failed. */
async function opened(): Promise<(rest: string) => Promise<JsonObject>> {
  const api = await emptyApi();
  const of = run({ trace: agentTrace({ agent: 'importer', toolCalls: calls }) });
  const leftOut = { parts_left_out: { failed: 1, passed: 10 } };
  await api.store.write([scoredRun({ tool_error: scored(0.7, { parts, details: leftOut }), other: scored(1) }, of)]);
  const console_ = await openConsole({ api });
  onTestFinished(() => console_.listener.stop());
  return async (rest) => {
    const response = await fetch(`${console_.url}/api/v1/runs/${of.traceId}/${of.spanId}${rest}`);
    const answer: unknown = await response.json();
    if (!response.ok || !isJsonObject(answer)) throw new Error(`${rest}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  };
}

function objects(list: unknown): readonly JsonObject[] {
  return isJsonArray(list) ? list.filter(isJsonObject) : [];
}

interface Bounded {
  readonly query: string;
  readonly calls: readonly number[];
  readonly leftOut: number;
  readonly parts: readonly number[];
  readonly partsLeftOut: JsonObject;
}

const bounded: readonly Bounded[] = [
  { query: '', calls: [0, 1, 2, 3, 4, 5, 6], leftOut: 0, parts: [0, 1, 2, 3, 4, 5, 6], partsLeftOut: { failed: 1, passed: 10 } },
  { query: '?list_max=7', calls: [0, 1, 2, 3, 4, 5, 6], leftOut: 0, parts: [0, 1, 2, 3, 4, 5, 6], partsLeftOut: { failed: 1, passed: 10 } },
  { query: '?list_max=3', calls: [0, 1, 2], leftOut: 4, parts: [0, 3, 6], partsLeftOut: { failed: 1, passed: 14 } },
  { query: '?list_max=0', calls: [], leftOut: 7, parts: [3, 6], partsLeftOut: { failed: 1, passed: 15 } },
];

for (const { query, calls: kept, leftOut, parts: keptParts, partsLeftOut } of bounded)
  test(`a run${query} has ${kept.length} tool calls and ${keptParts.length} parts of a verdict`, async () => {
    const answer = await (await opened())(query);
    expect(objects(answer['tool_calls']).map(({ name }) => name)).toEqual(kept.map((at) => `tool_${at}`));
    expect(answer['tool_calls_left_out']).toBe(leftOut);
    const verdicts = objects(answer['verdicts']);
    const details = verdicts.find(({ name }) => name === 'tool_error')?.['details'] as JsonObject;
    expect(objects(details['parts']).map(({ index }) => index)).toEqual(keptParts);
    expect(details['parts_left_out']).toEqual(partsLeftOut);
    expect(verdicts.find(({ name }) => name === 'other')?.['details']).toEqual({});
  });

test('the tool calls of a run come page by page', async () => {
  const get = await opened();
  const seen: unknown[] = [];
  let cursor = '';
  do {
    const page = await get(`/tool-calls?limit=3${cursor}`);
    seen.push(...objects(page['tool_calls']).map(({ index, call: of }) => [index, isJsonObject(of ?? null) && (of as JsonObject)['name']]));
    cursor = page['next'] === null ? '' : `&cursor=${String(page['next'])}`;
  } while (cursor !== '');
  expect(seen).toEqual(calls.map(({ name }, at) => [at, name]));
});

const chosen = [
  { query: 'index=5', found: [5] },
  { query: 'index=7', found: [] },
  { query: `of_span=${spanId(0x104)}`, found: [4] },
  { query: `of_span=${spanId(0x999)}`, found: [] },
];

for (const { query, found } of chosen)
  test(`tool-calls?${query} has ${found.length} calls`, async () => {
    const answer = await (await opened())(`/tool-calls?${query}`);
    expect(objects(answer['tool_calls']).map(({ index }) => index)).toEqual(found);
    expect(answer['next']).toBeNull();
  });
