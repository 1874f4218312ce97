/** The conformance vectors: files of cases, each with what went into the original evaluator and what has to come out of ours. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonArray, isJsonObject, member, parseJson } from '../../src/model/json.ts';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';

export interface Wanted {
  readonly score: number | null;
  readonly passed: boolean | null;
  /** Undefined: not compared. */
  readonly details: JsonObject | undefined;
}

export interface Case {
  readonly id: string;
  readonly config: JsonObject;
  readonly trace: JsonObject;
  readonly expected: JsonObject;
  readonly judgeAnswers: readonly JsonValue[] | undefined;
  readonly outcome: 'scored' | 'skipped' | 'failed' | 'refused' | 'extracted';
  /** The recommendation where there is one, else what the original returned. */
  readonly wanted: Wanted;
  /** Why an implementation may decline the case. */
  readonly optional: string | undefined;
}

export interface VectorFile {
  readonly name: string;
  readonly evaluator: string;
  readonly cases: readonly Case[];
}

export function vectorFolder(): string {
  return process.env['TRACEJURY_CONFORMANCE_DIR'] ?? join(import.meta.dirname, '../fixtures/conformance');
}

export function readVectors(folder: string): readonly VectorFile[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => vectorFile(name.slice(0, -'.json'.length), object(parseJson(readFileSync(join(folder, name), 'utf8')), name)));
}

function vectorFile(name: string, file: JsonObject): VectorFile {
  const cases = member(file, 'cases');
  if (!isJsonArray(cases)) throw new Error(`${name}: has no list of cases`);
  return { name, evaluator: text(member(file, 'evaluator'), name), cases: cases.map((one) => readCase(object(one, name), name)) };
}

function readCase(one: JsonObject, file: string): Case {
  const id = text(member(one, 'id'), file);
  const answers = member(one, 'judge_answers');
  const optional = member(one, 'optional');
  const recommended = member(one, 'recommend');
  const outcome = text(member(one, 'outcome'), `${file} ${id}`);
  if (!isOutcome(outcome)) throw new Error(`${file} ${id}: ${outcome} is not an outcome`);
  return {
    id,
    config: object(member(one, 'config') ?? {}, id),
    trace: object(member(one, 'trace') ?? {}, id),
    expected: object(member(one, 'expected') ?? {}, id),
    judgeAnswers: isJsonArray(answers) ? answers : undefined,
    outcome,
    wanted: wanted(isJsonObject(recommended) ? recommended : one),
    optional: typeof optional === 'string' ? optional : undefined,
  };
}

function wanted(from: JsonObject): Wanted {
  const [score, passed, details] = [member(from, 'score'), member(from, 'passed'), member(from, 'details')];
  return {
    score: typeof score === 'number' ? score : null,
    passed: typeof passed === 'boolean' ? passed : null,
    details: isJsonObject(details) ? details : undefined,
  };
}

function isOutcome(outcome: string): outcome is Case['outcome'] {
  return ['scored', 'skipped', 'failed', 'refused', 'extracted'].includes(outcome);
}

function object(value: JsonValue | undefined, where: string): JsonObject {
  if (!isJsonObject(value)) throw new Error(`${where}: an object is wanted`);
  return value;
}

function text(value: JsonValue | undefined, where: string): string {
  if (typeof value !== 'string') throw new Error(`${where}: a text is wanted`);
  return value;
}
