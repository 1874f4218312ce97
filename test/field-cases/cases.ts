/** Field cases: inputs of kinds that people reported in public trackers, each with the runs and verdicts that are right. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isJsonArray, isJsonObject, member, parseJson, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { command } from '../builders/command.ts';
import { difference } from '../conformance/compare.ts';

export interface FieldCase {
  readonly name: string;
  readonly expected: Expected;
  /** Recorded requests in the order in which they are sent. `alternatives` of the expectation are read one by one. */
  readonly inputs: readonly (readonly string[])[];
}

interface Expected {
  /** Public trackers where people reported the kind. */
  readonly source: string;
  readonly symptom: string;
  /** True when each file holds the whole case in another form. */
  readonly alternatives?: true;
  /** All runs, by start time, sub-agents after their agent. Members that are not named are not compared. `verdicts` has the names of evaluators. */
  readonly runs: readonly JsonObject[];
}

export function fieldCases(): readonly FieldCase[] {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const names = readdirSync(folder, { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? [one.name] : []));
  return names.toSorted().map((name) => {
    const files = readdirSync(join(folder, name)).toSorted();
    const expected = JSON.parse(readFileSync(join(folder, name, 'expected.json'), 'utf8')) as Expected;
    const bodies = files.filter((file) => file !== 'expected.json').map((file) => join(folder, name, file));
    return { name, expected, inputs: expected.alternatives === true ? bodies.map((body) => [body]) : [bodies] };
  });
}

/** The report of `tracejury inspect` on some recorded requests, with the verdicts of every evaluator by name. */
export async function inspectedRuns(files: readonly string[]): Promise<readonly JsonObject[]> {
  const { out, err } = await command(['inspect', ...files, '--format', 'json']);
  const report = parseJson(out);
  const runs = isJsonObject(report) ? member(report, 'runs') : undefined;
  if (!isJsonArray(runs)) throw new Error(`no report: ${err}`);
  return runs.filter(isJsonObject).map((run) => ({ ...run, verdicts: byName(member(run, 'evaluability')) }));
}

function byName(verdicts: JsonValue | undefined): JsonObject {
  const list = isJsonArray(verdicts) ? verdicts.filter(isJsonObject) : [];
  return Object.fromEntries(list.map((verdict) => [String(member(verdict, 'name')), verdict]));
}

/** The places where the runs differ from the expected ones; undefined when they do not. */
export function caseDifference({ runs: wanted }: Expected, runs: readonly JsonObject[]): string | undefined {
  return difference([...wanted], [...runs], 'runs');
}
