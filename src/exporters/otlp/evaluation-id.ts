/** What a score is known by where ids are short. */
import { hash } from 'node:crypto';
import { evaluationKeyText, type EvaluationKey } from '../../model/verdict.ts';

/** 32 hex digits, the same for every revision. */
export function evaluationId(key: EvaluationKey): string {
  return hash('sha256', evaluationKeyText(key), 'hex').slice(0, 32);
}
