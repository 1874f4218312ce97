/** The worked examples of evaluators: `examples/evaluators.yaml`, scored. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { AnyEvaluator, Answer } from '../../evaluators/evaluator.ts';
import { givenTraces } from '../../src/library/given-traces.ts';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';
import type { Verdict } from '../../src/model/verdict.ts';
import { asked, score } from '../evaluators/score.ts';

interface Example {
  /** Beside `use`, as a configuration has it. */
  readonly entry?: JsonObject;
  readonly run: JsonValue;
  /** Answers of the judge or the endpoint, one per question. */
  readonly answers?: readonly JsonValue[];
  /** Vectors of an embedding model, for the texts in the order of the questions. */
  readonly vectors?: JsonValue;
  /** Duration of the run. */
  readonly seconds?: number;
}

const source = readFileSync(join(import.meta.dirname, '../../examples/evaluators.yaml'), 'utf8');
const examples = parse(source) as { readonly [id: string]: Example };

export const exampleIds: readonly string[] = Object.keys(examples);

/** The example as its file has it, and its verdict. */
export function exampleText(one: AnyEvaluator): string {
  const text = sourceOf(one.id);
  // A fence ends at the next one that is as long.
  const fence = text.includes('```') ? '````' : '```';
  return `${fence}yaml\n${text}\n${fence}\n\n${verdictText(exampleOutcome(one).verdict)}`;
}

export function exampleOutcome({ id, kind }: AnyEvaluator): {
  readonly verdict: Verdict;
  readonly requests: number;
  readonly answers: number;
} {
  const example = examples[id];
  if (example === undefined) throw new Error(`${id} has no example`);
  const { judge: _, ...entry } = example.entry ?? {};
  const about = { entry: { use: id, ...entry }, trace: traceOf(example) };
  if (kind === 'rule') return { verdict: score(about), requests: 0, answers: 0 };
  const answers = [...(example.answers ?? []), ...(example.vectors === undefined ? [] : [example.vectors])];
  const { verdict, requests } = asked(
    about,
    answers.map((value): Answer => ({ kind: 'answered', value, truncated: false })),
  );
  return { verdict, requests: requests.length, answers: answers.length };
}

function traceOf({ run, seconds }: Example): ReturnType<typeof givenTraces>[number]['trace'] {
  const [given] = givenTraces('run', run);
  if (given === undefined) throw new Error('an example has no run');
  return seconds === undefined ? given.trace : { ...given.trace, startUnixNano: 0n, endUnixNano: BigInt(seconds) * 1_000_000_000n };
}

function sourceOf(id: string): string {
  const lines = source.split('\n');
  const from = lines.indexOf(`${id}:`) + 1;
  const length = lines.slice(from).findIndex((line) => line === '');
  return lines
    .slice(from, from + length)
    .map((line) => line.slice(2))
    .join('\n');
}

function verdictText(verdict: Verdict): string {
  if (verdict.kind !== 'scored') return `Verdict: \`${verdict.kind}\`. *${verdict.explanation}*`;
  const rounded = Math.round(verdict.score * 1000) / 1000;
  const end = verdict.passed === undefined ? 'raw' : verdict.passed ? 'pass' : 'fail';
  return `Verdict: \`${end}\`, score ${rounded}. *${verdict.explanation.replaceAll('*', '\\*')}*`;
}
