/**
 * Verdicts as OpenInference's page on annotations has them: `evaluations.N.evaluation.*` of the span that the carrier links to, and
 * `session.evaluations.N.evaluation.*` of the session that it names. Numbers are contiguous in each.
 */
import { wire } from '../model/attributes.ts';
import { jsonText, type JsonObject } from '../model/json.ts';
import type { Evaluation, Verdict } from '../model/verdict.ts';
import { cutText } from './cut-text.ts';
import { evaluationId } from './evaluation-id.ts';

interface Annotations {
  readonly [key: string]: string | number;
}

const explanationCharsMax = 4096;

/** Only what is scored is a result there. */
export function openInferenceAnnotations(evaluations: readonly Evaluation[]): Annotations {
  const scopes = new Map<string, number>();
  return Object.fromEntries(
    evaluations.flatMap((evaluation) => {
      const { key, verdict } = evaluation;
      if (verdict.kind !== 'scored') return [];
      const scope = key.targetKind === 'session' ? wire.sessionAnnotationPrefix : wire.annotationPrefix;
      const at = scopes.get(scope) ?? 0;
      scopes.set(scope, at + 1);
      return Object.entries(annotation(`${scope}${at}${wire.annotationForm}`, evaluation, verdict));
    }),
  );
}

function annotation(head: string, { key, evaluator, evaluatorKind, evaluatorVersion, revision, completeness, sampleProbability }: Evaluation, verdict: Extract<Verdict, { kind: 'scored' }>): Annotations {
  const metadata: JsonObject = {
    [wire.evaluatorId]: evaluator,
    [wire.evaluatorVersion]: evaluatorVersion,
    [wire.revision]: revision,
    [wire.completeness]: completeness,
    [wire.sampleProbability]: sampleProbability,
    ...(verdict.threshold === null ? {} : { [wire.threshold]: verdict.threshold }),
    ...(verdict.passed === null ? {} : { [wire.passed]: verdict.passed }),
  };
  return {
    [`${head}${wire.annotationName}`]: key.name,
    [`${head}${wire.annotationScore}`]: verdict.score,
    ...(verdict.label === '' ? {} : { [`${head}${wire.annotationLabel}`]: verdict.label }),
    ...(verdict.explanation === '' ? {} : { [`${head}${wire.annotationExplanation}`]: cutText(verdict.explanation, explanationCharsMax) }),
    [`${head}${wire.annotationKind}`]: evaluatorKind === 'judge' ? 'LLM' : 'CODE',
    [`${head}${wire.annotationIdentifier}`]: evaluationId(key),
    [`${head}${wire.annotationMetadata}`]: jsonText(metadata),
  };
}
