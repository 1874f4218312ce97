/**
 * The record of a run, by evaluator: one text, and marks, which filters and counts need. A mark has what many verdicts
 * share; the numbers that they do not share are beside it.
 */
import { isJsonArray, isJsonObject, jsonText, parseJson, type JsonValue } from '../model/json.ts';
import type { RunDecision, ScoredRun } from '../model/scored-run.ts';
import type { RunRecord, StoredVerdict } from '../model/store/store.ts';
import type { Decision, EvaluatorKind, VerdictWord } from '../model/verdict.ts';
import { failuresText, toolsText } from './run-counts.ts';
import { storedVerdict } from './row-mapping.ts';

/** The record of a run under one name. */
export interface RunEntry {
  readonly name: string;
  readonly verdict?: EntryVerdict;
  readonly decision?: EntryDecision;
}

export interface EntryVerdict extends Omit<StoredVerdict, 'name'> {
  readonly kind: EvaluatorKind;
  readonly optionsHash: string;
}

export interface EntryDecision extends Omit<RunDecision, 'name'> {
  /** Revision of the run or session that it is about. */
  readonly revision: number;
}

/** Ordered by name. */
export type RunEntries = ReadonlyMap<string, RunEntry>;

/** Longer labels are only in the text. */
const labelCharsMax = 64;

export interface Mark {
  readonly name: string;
  readonly kind: EvaluatorKind | null;
  /** Null when there is no verdict. */
  readonly word: VerdictWord | null;
  /** Null when there is none, or it is only in the text. */
  readonly label: string | null;
  /** `x`: the score is the next number. */
  readonly score: 0 | 1 | 'x' | null;
  readonly sampleProbability: 1 | 'x' | null;
  readonly decision: Decision | null;
  readonly probability: 'x' | null;
  /** `x`: the sample probability was raised, and by how much is a number. Null when it was not. Rules, and releases that did not note it, omit it. */
  readonly raisedBy?: 'x' | null;
  /** `x`: samplers before the service have a part in it, which is a number. */
  readonly upstream?: 'x';
}

export function runRecord(item: Pick<ScoredRun, 'run' | 'evaluations' | 'decisions'>): RunRecord {
  const entries = entriesOf(item);
  return { ...encodedEntries([...entries.values()]), tools: toolsText(item.run) };
}

function entriesOf({ run, evaluations, decisions }: Pick<ScoredRun, 'run' | 'evaluations' | 'decisions'>): RunEntries {
  const entries = new Map<string, RunEntry>();
  for (const evaluation of evaluations) {
    const verdict = storedVerdict(evaluation);
    const { evaluatorKind: kind, optionsHash } = evaluation;
    entries.set(verdict.name, { name: verdict.name, verdict: { ...verdict, kind, optionsHash } });
  }
  const revision = run.session?.revision ?? run.revision;
  for (const decision of decisions) {
    const { name } = decision;
    entries.set(name, { ...entries.get(name), name, decision: { ...decision, revision } });
  }
  return entries;
}

/**
 * A verdict or a decision of an older revision changes nothing, and neither does a rule's of the same one. Rules speak once about a revision, so theirs
 * comes from a process that knows less of the run: spans that were sent again when another process had stored it.
 */
export function addEntry(entries: Map<string, RunEntry>, { name, verdict, decision }: RunEntry): void {
  const before = entries.get(name);
  const isRule = (verdict?.kind ?? decision?.evaluatorKind) === 'rule';
  const newest = <Said extends { readonly revision: number }>(own: Said | undefined, old: Said | undefined): Said | undefined =>
    own === undefined || (old !== undefined && (own.revision < old.revision || (isRule && own.revision === old.revision))) ? old : own;
  const said = { verdict: newest(verdict, before?.verdict), decision: newest(decision, before?.decision) };
  entries.set(name, {
    name,
    ...(said.verdict === undefined ? {} : { verdict: said.verdict }),
    ...(said.decision === undefined ? {} : { decision: said.decision }),
  });
}

export function encodedEntries(entries: readonly RunEntry[]): Omit<RunRecord, 'tools'> {
  const marks: string[] = [];
  const figures: number[] = [];
  for (const entry of entries) marks.push(markText(entry, figures));
  return { marks: marks.join('\n'), figures, verdicts: jsonText(entries.map(entryJson)), failures: failuresText(entries) };
}

function markText({ name, verdict, decision }: RunEntry, figures: number[]): string {
  const { score, sampleProbability, label } = verdict ?? {};
  const isPlain = score === undefined || score === 0 || score === 1;
  if (!isPlain) figures.push(score);
  if (verdict !== undefined && sampleProbability !== 1) figures.push(verdict.sampleProbability);
  if (decision?.probability !== undefined) figures.push(decision.probability);
  const parts = samplingParts(verdict);
  for (const part of parts) if (part !== undefined) figures.push(part);
  return JSON.stringify([
    name,
    verdict?.kind ?? null,
    verdict?.verdict ?? null,
    label === undefined || label.length > labelCharsMax ? null : label,
    isPlain ? (score ?? null) : 'x',
    verdict === undefined ? null : sampleProbability === 1 ? 1 : 'x',
    decision?.decision ?? null,
    decision?.probability === undefined ? null : 'x',
    ...parts.map((part) => (part === undefined ? null : 'x')),
  ]);
}

/** Parts of the sample probability of a judge's verdict. Rules have none of it; the first part is always noted. */
function samplingParts(verdict: EntryVerdict | undefined): readonly (number | undefined)[] {
  if (verdict === undefined || verdict.kind === 'rule') return [];
  return verdict.upstream === undefined ? [verdict.raisedBy] : [verdict.raisedBy, verdict.upstream];
}

/** Most have nothing there. */
function withoutEnd<Value>(values: readonly (Value | null)[]): readonly (Value | null)[] {
  return values.slice(0, values.findLastIndex((value) => value !== null) + 1);
}

export function parsedMark(text: string): Mark {
  const [name, kind, word, label, score, sampleProbability, decision, probability, raisedBy, upstream] = JSON.parse(text) as [
    string,
    Mark['kind'],
    Mark['word'],
    string | null,
    Mark['score'],
    Mark['sampleProbability'],
    Mark['decision'],
    Mark['probability'],
    Mark['raisedBy'],
    Mark['upstream'],
  ];
  return {
    name,
    kind,
    word,
    label,
    score,
    sampleProbability,
    decision,
    probability,
    ...(raisedBy === undefined ? {} : { raisedBy }),
    ...(upstream === undefined ? {} : { upstream }),
  };
}

/** The mark of all labels. */
export function withoutLabel(text: string): string {
  return JSON.stringify((JSON.parse(text) as JsonValue[]).with(3, null));
}

function entryJson({ name, verdict, decision }: RunEntry): JsonValue {
  const said =
    verdict === undefined
      ? null
      : [
          verdict.evaluator,
          verdict.kind,
          verdict.version,
          verdict.optionsHash,
          verdict.revision,
          verdict.verdict,
          verdict.score ?? null,
          verdict.label,
          verdict.explanation,
          verdict.reason ?? null,
          verdict.evidence,
          verdict.details,
          verdict.sampleProbability,
          ...withoutEnd([verdict.threshold ?? null, verdict.raisedBy ?? null, verdict.upstream ?? null]),
        ];
  if (decision === undefined) return [name, said, null];
  // The consequence of a verdict is not stored again.
  if (verdict !== undefined && followsFrom(decision, verdict)) return [name, said, true];
  return [
    name,
    said,
    [
      decision.evaluator,
      decision.evaluatorKind,
      decision.decision,
      decision.revision,
      decision.reason ?? null,
      decision.probability ?? null,
    ],
  ];
}

function followsFrom(decision: EntryDecision, verdict: EntryVerdict): boolean {
  return (
    decision.decision === decisionAfter(verdict.verdict) &&
    decision.reason === verdict.reason &&
    decision.evaluator === verdict.evaluator &&
    decision.evaluatorKind === verdict.kind &&
    decision.revision === verdict.revision &&
    decision.probability === undefined
  );
}

function decisionAfter(word: VerdictWord): Decision {
  return word === 'skipped' ? 'skipped' : word === 'error' ? 'failed' : 'scored';
}

/** Written by `encodedEntries`; what is not is passed over. */
export function parsedEntries(text: string): readonly RunEntry[] {
  // The list adds levels, so that details of the greatest depth exceed what parseJson accepts.
  const value = parseJson(text) ?? (JSON.parse(text) as JsonValue);
  return isJsonArray(value) ? value.flatMap((one) => (isJsonArray(one) ? [entryOf(one)] : [])) : [];
}

function entryOf([name, said, ended]: readonly JsonValue[]): RunEntry {
  const verdict = isJsonArray(said) ? verdictOf(said) : undefined;
  const decision = isJsonArray(ended) ? decisionOf(ended) : ended === true && verdict !== undefined ? impliedBy(verdict) : undefined;
  return { name: String(name), ...(verdict === undefined ? {} : { verdict }), ...(decision === undefined ? {} : { decision }) };
}

function verdictOf(said: readonly JsonValue[]): EntryVerdict {
  const [
    evaluator,
    kind,
    version,
    optionsHash,
    revision,
    word,
    score,
    label,
    explanation,
    reason,
    evidence,
    details,
    probability,
    threshold,
    raisedBy,
    upstream,
  ] = said;
  return {
    evaluator: String(evaluator),
    kind: kind as EvaluatorKind,
    version: Number(version),
    optionsHash: String(optionsHash),
    revision: Number(revision),
    verdict: word as VerdictWord,
    score: score === null ? undefined : Number(score),
    label: String(label),
    explanation: String(explanation),
    reason: reason === null ? undefined : String(reason),
    evidence: isJsonArray(evidence) ? evidence.filter((one) => typeof one === 'string') : [],
    details: isJsonObject(details) ? details : {},
    sampleProbability: Number(probability),
    // Rows of older releases have none.
    ...(typeof threshold === 'number' ? { threshold } : {}),
    ...(typeof raisedBy === 'number' ? { raisedBy } : {}),
    ...(typeof upstream === 'number' ? { upstream } : {}),
  };
}

function decisionOf([evaluator, kind, decision, revision, reason, probability]: readonly JsonValue[]): EntryDecision {
  return {
    evaluator: String(evaluator),
    evaluatorKind: kind as EvaluatorKind,
    decision: decision as Decision,
    revision: Number(revision),
    ...(reason === null ? {} : { reason: String(reason) }),
    ...(probability === null ? {} : { probability: Number(probability) }),
  };
}

function impliedBy({ evaluator, kind, verdict, revision, reason }: EntryVerdict): EntryDecision {
  return {
    evaluator,
    evaluatorKind: kind,
    decision: decisionAfter(verdict),
    revision,
    ...(reason === undefined ? {} : { reason }),
  };
}
