/** What becomes of each member of a verdict, and of how it was reached. */
import type { RunDecision } from '../model/scored-run.ts';
import type { Evaluation, EvaluationKey, PartVerdict, Verdict } from '../model/verdict.ts';
import { jsonObject, kept, list, members, text, type Change } from './field-rules.ts';

type Scored = Extract<Verdict, { readonly kind: 'scored' }>;

/** Words of ours, which dashboards count by. */
const ownLabels: ReadonlySet<string> = new Set(['pass', 'fail']);

const part = members<PartVerdict>({ index: kept, tool: text, callId: text, spanId: kept, score: kept, passed: kept, explanation: text });

const scored = members<Scored>({
  kind: kept,
  score: kept,
  threshold: kept,
  passed: kept,
  label: (label, search) => (ownLabels.has(label) ? label : search.text(label)),
  explanation: text,
  evidence: kept,
  parts: list(part),
  details: jsonObject,
});
const skipped = members<Extract<Verdict, { readonly kind: 'skipped' }>>({
  kind: kept,
  reason: kept,
  explanation: text,
  details: jsonObject,
});
const failed = members<Extract<Verdict, { readonly kind: 'failed' }>>({ kind: kept, error: text, explanation: text, details: jsonObject });

export const changedVerdict: Change<Verdict> = (verdict, search) => {
  if (verdict.kind === 'scored') return scored(verdict, search);
  return verdict.kind === 'skipped' ? skipped(verdict, search) : failed(verdict, search);
};

/** The id of a run is made of those of a trace and a span; other targets have ids of the traffic. */
const key: Change<EvaluationKey> = (value, search) =>
  value.targetKind === 'run' ? value : { ...value, targetId: search.text(value.targetId) };

export const changedEvaluation: Change<Evaluation> = members<Evaluation>({
  key,
  run: kept,
  evaluator: kept,
  evaluatorKind: kept,
  evaluatorVersion: kept,
  guard: kept,
  optionsHash: kept,
  revision: kept,
  completeness: kept,
  verdict: changedVerdict,
  sampleProbability: kept,
});

export const changedDecision: Change<RunDecision> = members<RunDecision>({
  name: kept,
  evaluator: kept,
  evaluatorKind: kept,
  decision: kept,
  reason: text,
  probability: kept,
});
