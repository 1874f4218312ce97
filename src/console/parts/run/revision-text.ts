/** Describes the changes of a run's revision. */
import { timeText } from '../format.ts';

export interface Change {
  readonly of: string;
  readonly name: string | null;
  readonly before: string | number | null;
  readonly after: string | number | null;
}

const words: { readonly [of: string]: string } = {
  completeness: 'completeness',
  status: 'status',
  ended_at: 'end',
  input_tokens: 'input tokens',
  output_tokens: 'output tokens',
};

export function changeText({ of, name, before, after }: Change): string {
  const what = of === 'tool_calls' ? `calls of ${name ?? ''}` : of === 'verdict' ? (name ?? 'a verdict') : (words[of] ?? of);
  return `${what}: ${valueText(of, before)} → ${valueText(of, after)}`;
}

function valueText(of: string, value: string | number | null): string {
  if (value === null) return of === 'verdict' ? 'no verdict' : 'unknown';
  return of === 'ended_at' ? timeText(String(value)) : String(value);
}
