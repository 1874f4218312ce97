/** The spans of a simulated day, with random ids. */
import { randomBytes } from 'node:crypto';
import { parseSpanId, parseTraceId } from '../../model/ids.ts';
import type { Span } from '../../model/span.ts';
import type { Day } from './day.ts';
import { type Ids, spansOfRun, spansOfWebRequest } from './spans.ts';

/** What `tracejury demo` and the button of the console send. */
export const demoDefaults = { runs: 120, seed: 1 } as const;

export function spansOfDay(day: Day): readonly Span[] {
  return [
    ...day.runs.flatMap(({ item, startUnixMs }) => spansOfRun(item, startUnixMs, randomIds)),
    ...day.webRequests.flatMap((startUnixMs) => spansOfWebRequest(startUnixMs, randomIds)),
  ];
}

/** Random ids: a service treats a second day with the same ids as a repetition. */
const randomIds: Ids = {
  traceId: () => drawn(16, parseTraceId),
  spanId: () => drawn(8, parseSpanId),
};

function drawn<Id>(bytes: number, parse: (text: string) => Id | undefined): Id {
  const id = parse(randomBytes(bytes).toString('hex'));
  // An id of all zeros is invalid.
  return id ?? drawn(bytes, parse);
}
