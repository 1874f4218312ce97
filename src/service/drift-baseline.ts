/** What a drift watch asks whom: as long as it is the same, looks can be compared. */
import { createHash } from 'node:crypto';
import type { Config, EvaluatorConfig } from '../config/config.ts';
import { promptOf } from '../judges/client/prompt.ts';
import type { Run } from '../model/agent-trace.ts';
import { jsonText, member, type JsonObject, type JsonValue } from '../model/json.ts';
import { expectedOf, type ToJudge } from '../pipeline/evaluation/evaluate.ts';
import { redactedRun } from '../pipeline/evaluation/redacted-run.ts';
import type { Redaction } from '../redaction/redaction.ts';

export interface Watch {
  readonly name: string;
  /** As the judge is shown them, each with what is asked about it. */
  readonly items: readonly WatchedItem[];
  readonly everyMs: number;
  readonly planned: number | undefined;
  readonly judge: string;
  readonly model: string;
  /** Hashes and names, and no text of runs. */
  readonly asked: JsonObject;
}

interface WatchedItem {
  readonly id: string;
  readonly run: Run;
  readonly work: ToJudge;
}

/** The watches of a configuration, in its order. */
export function watchesOf(
  { evaluators, judges }: Pick<Config, 'evaluators' | 'judges'>,
  redaction: Redaction | undefined,
): readonly Watch[] {
  return evaluators.flatMap(({ configured, judge, drift, budget }: EvaluatorConfig): readonly Watch[] => {
    const seat = judges.find(({ name }) => name === judge);
    if (drift === undefined || seat === undefined || configured.kind !== 'judge') return [];
    const items = drift.runs.map((whole): WatchedItem => {
      const { run, work } = redactedRun(whole, redaction);
      return {
        id: whole.contentHash,
        run,
        work: work({
          configured,
          judge: seat.name,
          ...(budget === undefined ? {} : { budget }),
          expected: expectedOf(whole),
          probability: 1,
        }),
      };
    });
    const { evaluator, threshold, optionsHash } = configured;
    const { baseUrl, model, temperature, answerTokensMax } = seat;
    const asked: JsonObject = {
      evaluator: evaluator.id,
      version: evaluator.version,
      threshold,
      options: optionsHash,
      model,
      endpoint: hashOf(baseUrl),
      settings: hashOf({ temperature: temperature ?? null, answer_tokens: answerTokensMax ?? null }),
      frame: hashOf(
        promptOf({ id: '', instruction: '', data: [], answerSchema: {} }, { nonce: '', blockCharsMax: 1, promptCharsMax: 1 }).system,
      ),
      runs: hashOf(items.map(({ id, run: { trace, expected } }) => [id, trace as unknown as JsonValue, expected ?? null])),
      baseline: drift.baseline,
    };
    return [{ name: configured.name, items, everyMs: drift.everyMs, planned: drift.looks, judge: seat.name, model, asked }];
  });
}

/** In words; empty: nothing. */
export function differences(before: JsonObject, now: JsonObject): readonly string[] {
  const differs = (key: string): boolean => jsonText(member(before, key) ?? null) !== jsonText(member(now, key) ?? null);
  const told = (key: string, word: string): readonly string[] =>
    differs(key) ? [`${word} ${said(member(now, key))}, before ${said(member(before, key))}`] : [];
  const plain = (key: string, sentence: string): readonly string[] => (differs(key) ? [sentence] : []);
  const own = [...told('evaluator', 'evaluator'), ...told('version', 'version of the evaluator'), ...told('threshold', 'threshold')];
  return [
    ...own,
    // Their hash is also made of what is told before it.
    ...(own.length === 0 ? plain('options', 'other options, of which a template is one, or another expectation') : []),
    ...told('model', 'model'),
    ...plain('endpoint', 'another endpoint of the judge'),
    ...plain('settings', 'other settings of the judge'),
    ...plain('frame', 'this release puts questions in other words'),
    ...plain('runs', 'other runs in the dataset, or other rules of redact'),
    ...told('baseline', 'baseline'),
  ];
}

function said(value: JsonValue | undefined): string {
  return typeof value === 'string' ? JSON.stringify(value) : jsonText(value ?? null);
}

function hashOf(value: JsonValue): string {
  return createHash('sha256')
    .update(jsonText(value, { sortKeys: true }))
    .digest('base64')
    .slice(0, 22);
}
