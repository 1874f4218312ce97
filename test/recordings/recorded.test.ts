/** Recordings of the rig (`test/recordings/rig`) come out as what the agent really did, but for those that a visible list names. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { differences } from './compare.ts';
import { openRecordings } from './data/open.ts';
import { fieldOf } from './fields.ts';
import { play, recordingsIn } from './read.ts';

const recordings = recordingsIn(fileURLToPath(new URL('data', import.meta.url)));

test('recorded: the list of open recordings names each once, and only recordings that there are', () => {
  const names = recordings.map(({ name }) => name);
  const listed = openRecordings.map(({ recording }) => recording);
  expect(listed.filter((name, place) => !names.includes(name) || listed.indexOf(name) !== place)).toEqual([]);
});

test('recorded: the catalog of the rig has the steps for each recording of a Python agent', () => {
  const catalog = JSON.parse(readFileSync(new URL('rig/catalog.json', import.meta.url), 'utf8')) as {
    readonly [instrumentation: string]: { readonly scenarios: readonly string[] };
  };
  const catalogued = Object.entries(catalog).flatMap(([name, { scenarios }]) => scenarios.map((scenario) => `${name}/${scenario}`));
  const python = recordings.filter(({ expected }) => expected.source.language === 'python').map(({ name }) => name);
  expect(catalogued.toSorted()).toEqual(python.toSorted());
});

test.each(recordings.map((recording) => [recording.name, recording] as const))('recorded: %s', (name, recording) => {
  const replayed = play(recording);
  expect({ spans: replayed.spans, log_records: replayed.records, otlp_traces: replayed.traceIds.size }).toEqual(recording.expected.decoded);
  const found = differences(recording.expected, replayed.runs);
  const open = openRecordings.find((one) => one.recording === name);
  if (open === undefined) return expect(found).toEqual([]);
  expect(
    found.filter((one) => !open.fields.includes(fieldOf(one))),
    'differs in fields that the list does not name',
  ).toEqual([]);
  expect(found.length, `${name} is equal now: take it from the list in data/open.ts`).toBeGreaterThan(0);
});
