/** A verdict: an icon, the name of the evaluator and a word. Colour is never the only sign. */
import { scoreText } from './format.ts';
import { type ShortVerdict, type VerdictKind, verdictKind, worstFirst } from './verdict.ts';

const icons: { readonly [kind in VerdictKind]: string } = { pass: '✓', fail: '✗', raw: '•', skipped: '○', error: '!' };
const words: { readonly [kind in VerdictKind]: string } = {
  pass: 'passed',
  fail: 'failed',
  raw: 'scored',
  skipped: 'skipped',
  error: 'error of the evaluator',
};

export interface VerdictChipProps {
  readonly verdict: ShortVerdict & { readonly name?: string; readonly score?: number | null; readonly reason?: string | null };
  /** Without the name, for a column of one evaluator. */
  readonly isNameless?: boolean;
}

export function VerdictChip({ verdict, isNameless = false }: VerdictChipProps) {
  const kind = verdictKind(verdict);
  const { name = '', score, reason } = verdict;
  const value = kind === 'raw' ? ` ${scoreText(score)}` : '';
  return (
    <span class={`chip ${kind}`} title={[name, words[kind], scoreOf(score), reason ?? ''].filter((part) => part !== '').join(', ')}>
      <span aria-hidden="true">{icons[kind]}</span>
      <span>
        {isNameless ? words[kind] : name}
        {value}
        {isNameless ? null : <span class="visually-hidden"> {words[kind]}</span>}
      </span>
    </span>
  );
}

/** How many verdicts are of each kind, with their names on hover. */
export function VerdictCounts({ verdicts }: { readonly verdicts: readonly VerdictChipProps['verdict'][] }) {
  const byKind = Map.groupBy(worstFirst(verdicts), verdictKind);
  return [...byKind].map(([kind, own]) => (
    <span key={kind} class={`chip ${kind}`} title={`${words[kind]}: ${own.map(({ name }) => name ?? '').join(', ')}`}>
      <span aria-hidden="true">{icons[kind]}</span>
      <span>
        {own.length}
        <span class="visually-hidden"> {words[kind]}</span>
      </span>
    </span>
  ));
}

function scoreOf(score: number | null | undefined): string {
  return score === null || score === undefined ? '' : `score ${scoreText(score)}`;
}
