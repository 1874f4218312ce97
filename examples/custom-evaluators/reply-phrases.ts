/** An evaluator of one's own: the reply holds none of the phrases that must not be said. */
import type { Outcome, RuleEvaluator, Subject } from 'tracejury/evaluators';

export interface ReplyPhrasesOptions {
  readonly never: readonly string[];
  readonly caseSensitive: boolean;
}

export const replyPhrases = {
  kind: 'rule',
  id: 'reply_phrases',
  version: 1,
  summary: 'The reply holds no forbidden phrase.',
  needs: ['final_response'],
  onByDefault: false,
  defaultThreshold: 1,
  defaults: { never: [], caseSensitive: false },
  optionsSchema: {
    type: 'object',
    additionalProperties: false,
    required: ['never'],
    properties: {
      never: { type: 'array', minItems: 1, maxItems: 100, items: { type: 'string', minLength: 1 }, description: 'Phrases that must not be said.' },
      case_sensitive: { type: 'boolean', description: 'Upper and lower case count.' },
    },
  },
  source: 'our support handbook',
  evaluate,
} as const satisfies RuleEvaluator<ReplyPhrasesOptions>;

function evaluate({ trace }: Subject, { never, caseSensitive }: ReplyPhrasesOptions): Outcome {
  if (typeof trace.finalResponse !== 'string') return { kind: 'skipped', reason: 'no_final_response', explanation: 'The run has no reply in words.' };
  const plain = (text: string): string => (caseSensitive ? text : text.toLowerCase());
  const reply = plain(trace.finalResponse);
  const said = never.filter((phrase) => reply.includes(plain(phrase)));
  return {
    kind: 'scored',
    score: (never.length - said.length) / never.length,
    explanation: said.length === 0 ? 'The reply holds no forbidden phrase.' : `The reply holds ${said.map((phrase) => JSON.stringify(phrase)).join(', ')}.`,
    evidence: [],
    details: { said },
  };
}
