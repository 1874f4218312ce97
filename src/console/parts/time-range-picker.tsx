/** The time range of the page, in its head. */
import { useMemo, useState } from 'preact/hooks';
import { ranges, type TimeRange, timeRangeOf, localInput } from './time-range.ts';
import { useAddress } from './use-address.ts';

/** The time range in the address. It moves on when the address changes, not with the clock. */
export function useTimeRange(): TimeRange {
  const { query } = useAddress();
  const { range, from, to } = query;
  return useMemo(() => timeRangeOf({ range, from, to }, Date.now()), [range, from, to]);
}

export function TimeRangePicker() {
  const { change } = useAddress();
  const range = useTimeRange();
  const [isOwn, setOwn] = useState(false);
  const offset = new Date().getTimezoneOffset();
  const choose = (value: string): void => {
    if (value === 'own') return setOwn(true);
    setOwn(false);
    change({ range: value, from: undefined, to: undefined });
  };
  const setTime = (name: 'from' | 'to', text: string): void => {
    const ms = Date.parse(text);
    change({ range: undefined, from: range.from, to: range.to, [name]: Number.isFinite(ms) ? new Date(ms).toISOString() : undefined });
  };
  return (
    <div class="row">
      <label>
        <span class="visually-hidden">Time range</span>
        <select value={isOwn ? 'own' : range.value} onChange={(event) => choose(event.currentTarget.value)}>
          {ranges.map(({ value, title }) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
          <option value="own">From … to …</option>
        </select>
      </label>
      {isOwn || range.value === 'own' ? (
        <>
          <label>
            From{' '}
            <input
              type="datetime-local"
              value={localInput(range.from, offset)}
              onChange={(event) => setTime('from', event.currentTarget.value)}
            />
          </label>
          <label>
            to{' '}
            <input
              type="datetime-local"
              value={localInput(range.to, offset)}
              onChange={(event) => setTime('to', event.currentTarget.value)}
            />
          </label>
        </>
      ) : null}
    </div>
  );
}
