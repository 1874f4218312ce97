/** Origin of an example, and its state of review. */
import type { Schemas } from '../../api/client.ts';
import { pageAddress } from '../../parts/address.ts';
import { lineText, unknownText } from '../../parts/format.ts';

type Origin = Schemas['StoredExample']['origin'];

export function OriginText({ origin, tenant }: { readonly origin: Origin; readonly tenant: string }) {
  if (origin === undefined) return <>{unknownText}</>;
  const { trace_id: trace, span_id: span, by, rule, file } = origin;
  const who = rule !== undefined ? `rule ${rule}` : by === undefined ? undefined : `by ${by}`;
  return (
    <>
      {trace === undefined || span === undefined ? (
        file === undefined ? (
          'no run '
        ) : (
          <span>{lineText(file, 60)} </span>
        )
      ) : (
        <a href={pageAddress(`/runs/${trace}/${span}`, { tenant })}>the run </a>
      )}
      {who === undefined ? null : <span class="dim">{lineText(who, 40)}</span>}
    </>
  );
}

export function ReviewChip({ review }: { readonly review: 'draft' | 'reviewed' | undefined }) {
  return review === 'draft' ? (
    <span class="chip warn">
      <span aria-hidden="true">✎</span>draft
    </span>
  ) : (
    <span class="chip pass">
      <span aria-hidden="true">✓</span>reviewed
    </span>
  );
}
