/**
 * Verdicts as OpenInference's page on annotations has them: `evaluations.N.evaluation.*` of the span that the carrier links to, and
 * `session.evaluations.N.evaluation.*` of the session that it names. Numbers are contiguous in each.
 */
import { evaluationId, type Evaluation, type Verdict } from '../../model/verdict.ts';
import type { NewAttributes } from '../../otlp/write/attributes.ts';
import { wire } from '../../model/attributes.ts';
import { jsonText } from '../../model/json.ts';
import { cutText } from '../delivery/export-outcome.ts';

interface Keys {
  readonly name: string;
  readonly score: string;
  readonly label: string;
  readonly explanation: string;
  readonly kind: string;
  readonly identifier: string;
  readonly metadata: string;
}

const explanationCharsMax = 4096;

/** Adds annotations to the attributes of an evaluation span. Only scored verdicts are results there. */
export function addAnnotations(to: NewAttributes, evaluations: readonly Evaluation[]): void {
  const numbers = new Map<Scope, number>();
  for (const evaluation of evaluations) {
    const { key, verdict } = evaluation;
    if (verdict.kind !== 'scored') continue;
    const scope = key.targetKind === 'session' ? wire.sessionAnnotationPrefix : wire.annotationPrefix;
    const at = numbers.get(scope) ?? 0;
    numbers.set(scope, at + 1);
    addAnnotation(to, firstKeys[scope][at] ?? keysOf(scope, at), evaluation, verdict);
  }
}

function addAnnotation(
  to: NewAttributes,
  keys: Keys,
  { key, evaluator, evaluatorKind, evaluatorVersion, revision, completeness, sampleProbability }: Evaluation,
  verdict: Extract<Verdict, { kind: 'scored' }>,
): void {
  const metadata: NewAttributes = {
    [wire.evaluatorId]: evaluator,
    [wire.evaluatorVersion]: evaluatorVersion,
    [wire.revision]: revision,
    [wire.completeness]: completeness,
    [wire.sampleProbability]: sampleProbability,
  };
  if (verdict.threshold !== null) metadata[wire.threshold] = verdict.threshold;
  if (verdict.passed !== null) metadata[wire.passed] = verdict.passed;
  to[keys.name] = key.name;
  to[keys.score] = verdict.score;
  if (verdict.label !== '') to[keys.label] = verdict.label;
  if (verdict.explanation !== '') to[keys.explanation] = cutText(verdict.explanation, explanationCharsMax);
  to[keys.kind] = evaluatorKind === 'judge' ? 'LLM' : 'CODE';
  to[keys.identifier] = evaluationId(key);
  to[keys.metadata] = jsonText(metadata);
}

type Scope = typeof wire.annotationPrefix | typeof wire.sessionAnnotationPrefix;

function keysOf(scope: Scope, at: number): Keys {
  const head = `${scope}${at}${wire.annotationForm}`;
  return {
    name: `${head}${wire.annotationName}`,
    score: `${head}${wire.annotationScore}`,
    label: `${head}${wire.annotationLabel}`,
    explanation: `${head}${wire.annotationExplanation}`,
    kind: `${head}${wire.annotationKind}`,
    identifier: `${head}${wire.annotationIdentifier}`,
    metadata: `${head}${wire.annotationMetadata}`,
  };
}

/** Of the first annotations, made once: to put keys together takes longer than all else that is done with them. */
const firstKeys: { readonly [scope in Scope]: readonly Keys[] } = {
  [wire.annotationPrefix]: firstOf(wire.annotationPrefix),
  [wire.sessionAnnotationPrefix]: firstOf(wire.sessionAnnotationPrefix),
};

function firstOf(scope: Scope): readonly Keys[] {
  return Array.from({ length: 32 }, (_, at) => keysOf(scope, at));
}
