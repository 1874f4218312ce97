/** Facts about the judges in the details of a verdict. */

export interface JudgeFacts {
  readonly model: string | undefined;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  /** `undefined`: the price of the model is unknown. */
  readonly costUsd: number | undefined;
  /** 0 to 1. */
  readonly confidence: number | undefined;
  readonly cached: boolean;
  /** The explanation as the judge gave it. */
  readonly answer: string | undefined;
  readonly ballots: readonly Ballot[];
  readonly decidedBy: string | undefined;
}

export interface Ballot {
  readonly judge: string;
  readonly outcome: string;
  readonly explanation: string;
}

const ballotsMax = 100;

/** `undefined`: no judge was asked. */
export function judgeFacts(details: unknown): JudgeFacts | undefined {
  const all = objectOf(details);
  const jury = objectOf(all['jury']);
  const tokens = objectOf(all['judge_tokens']);
  const isJudged = all['judge_called'] === true || all['judge_requests'] !== undefined || all['jury'] !== undefined;
  if (!isJudged) return undefined;
  const ballots = Array.isArray(jury['ballots']) ? (jury['ballots'] as readonly unknown[]).slice(0, ballotsMax).map(ballotOf) : [];
  return {
    model: textOf(all['model']),
    inputTokens: numberOf(tokens['input']) ?? numberOf(jury['input_tokens']),
    outputTokens: numberOf(tokens['output']) ?? numberOf(jury['output_tokens']),
    costUsd: numberOf(all['judge_cost_usd']) ?? numberOf(jury['cost_usd']),
    confidence: numberOf(all['confidence']),
    cached: typeof all['cached'] === 'number' && all['cached'] > 0,
    answer: textOf(all['explanation']),
    ballots: ballots.length > 1 ? ballots : [],
    decidedBy: textOf(jury['decided_by']),
  };
}

function ballotOf(value: unknown): Ballot {
  const { judge, vote, status, label, score, reason, error, explanation } = objectOf(value);
  const outcome = textOf(label) ?? numberOf(score)?.toString() ?? textOf(reason) ?? textOf(error) ?? textOf(status) ?? 'unknown';
  const name = textOf(judge) ?? 'judge';
  return { judge: typeof vote === 'number' ? `${name} (vote ${vote})` : name, outcome, explanation: textOf(explanation) ?? '' };
}

function objectOf(value: unknown): { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as { readonly [key: string]: unknown }) : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
