/** What reads the cases that have details and no score, by the evaluator that their file names. */
import type { JsonObject } from '../../src/model/json.ts';
import type { Case } from './vectors.ts';

export const extractors: { readonly [evaluator: string]: ((one: Case) => JsonObject) | undefined } = {};
