/**
 * Verdicts as a store without a file holds them: what filters and figures ask for as it is, the rest as bytes. Thousands of runs are held for hours, and what they hold in objects
 * the garbage collector walks over again and again.
 */
import { isJsonArray, isJsonObject, jsonText, parseJson, type JsonObject, type JsonValue } from '../model/json.ts';
import type { Evaluation } from '../model/verdict.ts';
import { roughBytes } from '../model/size-estimate.ts';
import { brief, briefText } from './compression.ts';
import { storedVerdict } from './row-mapping.ts';
import type { StoredVerdict } from '../model/store/store.ts';

type Said = Pick<StoredVerdict, 'explanation' | 'evidence' | 'details'>;

export interface HeldVerdict extends Omit<StoredVerdict, keyof Said> {
  /** Of its evaluator. */
  readonly kind: string;
  /** What was said in these verdicts and in those that came with them: JSON, compressed where it is long. */
  readonly said: Buffer;
  /** Which of them is its own. */
  readonly at: number;
}

/** Compressing less takes longer than it is worth. */
const asItIsBytesMax = 2_048;

/** Of what is said of one run at a time. */
export function heldVerdicts(evaluations: readonly Evaluation[]): readonly HeldVerdict[] {
  if (evaluations.length === 0) return [];
  const verdicts = evaluations.map(storedVerdict);
  const said = brief(
    jsonText(verdicts.map(({ explanation, evidence, details }) => ({ explanation, evidence: [...evidence], details }))),
    asItIsBytesMax,
  );
  return verdicts.map(({ explanation: _explanation, evidence: _evidence, details: _details, ...verdict }, at) => ({
    ...verdict,
    kind: evaluations[at]?.evaluatorKind ?? '',
    said,
    at,
  }));
}

/** With everything that was said. */
export function wholeVerdicts(held: readonly HeldVerdict[]): readonly StoredVerdict[] {
  const read = new Map<Buffer, readonly JsonValue[]>();
  return held.map(({ kind: _kind, said, at, ...verdict }) => {
    const all = read.get(said) ?? listOf(said);
    read.set(said, all);
    return { ...verdict, ...saidIn(all[at]) };
  });
}

export function detailsOf({ said, at }: HeldVerdict): JsonObject {
  return saidIn(listOf(said)[at]).details;
}

export function heldBytes(held: Iterable<HeldVerdict>): number {
  const said = new Set<Buffer>();
  let bytes = 0;
  for (const { said: own, ...verdict } of held) {
    said.add(own);
    bytes += roughBytes(verdict);
  }
  return bytes + roughBytes([...said]);
}

function listOf(said: Buffer): readonly JsonValue[] {
  const all = parseJson(briefText(said));
  if (!isJsonArray(all)) throw new Error('verdicts are not what was written');
  return all;
}

function saidIn(value: JsonValue | undefined): Said {
  if (!isJsonObject(value)) throw new Error('a verdict is not what was written');
  const { explanation, evidence, details } = value;
  return {
    explanation: String(explanation),
    evidence: isJsonArray(evidence) ? evidence.map(String) : [],
    details: isJsonObject(details) ? details : {},
  };
}
