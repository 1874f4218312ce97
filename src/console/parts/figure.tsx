/** A figure with its interval. Without a figure it gives the reason. */
import { percentText, unknownText } from './format.ts';

export interface FigureProps {
  readonly value: number | null | undefined;
  readonly low?: number | null | undefined;
  readonly high?: number | null | undefined;
  /** Number of observations. */
  readonly n?: number | null | undefined;
  /** Default: a share as percent. */
  readonly text?: (value: number) => string;
  /** Why there is no figure. */
  readonly why?: string | null | undefined;
}

export function Figure({ value, low, high, n, text = percentText, why }: FigureProps) {
  if (value === null || value === undefined)
    return (
      <span class="dim" title={why ?? 'There is no figure.'}>
        {unknownText}
        <span class="visually-hidden">{why ?? 'no figure'}</span>
      </span>
    );
  const hasInterval = typeof low === 'number' && typeof high === 'number';
  return (
    <span class="figure" title={n === null || n === undefined ? undefined : `of ${n}`}>
      <span class="figure-value">{text(value)}</span>
      {hasInterval ? (
        <>
          {' '}
          <span class="figure-interval">
            <span class="visually-hidden">between </span>({text(low).replace(/ %$/, '')}–{text(high)})
          </span>
        </>
      ) : null}
    </span>
  );
}
