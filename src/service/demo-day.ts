/** The recorded day that `tracejury demo` and the button of the console send, with new ids and moved to the last hours. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Span, spanWith } from '../model/span.ts';
import { readTraces } from '../otlp/read/read.ts';
import { seededRandom } from '../statistics/seeded-random.ts';

export interface DemoDay {
  readonly spans: readonly Span[];
  /** Without those of sub-agents. */
  readonly runs: number;
  /** Requests without an agent. */
  readonly webRequests: number;
}

type RandomBytes = (count: number) => Uint8Array;

interface DayOptions {
  readonly runs: number;
  /** Chooses the order of the conversations. */
  readonly seed: number;
  /** End of the last run. */
  readonly endUnixMs: number;
  readonly randomBytes: RandomBytes;
}

export const demoDefaults = { runs: 120, seed: 1 } as const;

/** Blocks of lines: each kind of conversation once, further conversations, and web requests. */
const file = join(import.meta.dirname, import.meta.filename.endsWith('.ts') ? '../..' : '../../..', 'examples/demo-day.jsonl');
const hoursMs = 8 * 60 * 60 * 1_000;
const runsPerWebRequest = 12;

/** A day with more runs than the recording has repeats it, with other ids. Rejects when the file cannot be read. */
export async function demoDay({ runs, seed, endUnixMs, randomBytes }: DayOptions): Promise<DemoDay> {
  const random = seededRandom(seed);
  const shuffled = <Item>(items: readonly Item[]): readonly Item[] =>
    items
      .map((item) => [random(), item] as const)
      .toSorted(([one], [other]) => one - other)
      .map(([, item]) => item);
  const [each = [], further = [], web = []] = (await readFile(file, 'utf8')).split('\n\n').map((block) => block.trim().split('\n'));
  const recorded = [...each, ...shuffled(further)];
  const conversations: (readonly Span[])[] = [];
  for (let made = 0, at = 0; made < runs; at++) {
    const traces = [...Map.groupBy(withNewIds(recorded[at % recorded.length] ?? '', randomBytes), ({ traceId }) => traceId).values()];
    const taken = traces.slice(0, runs - made);
    conversations.push(taken.flat());
    made += taken.length;
  }
  const order = shuffled(conversations);
  const webRequests = Math.ceil(runs / runsPerWebRequest);
  return {
    spans: [
      ...order.flatMap((spans, at) => endingAt(spans, endUnixMs - Math.round(((order.length - 1 - at) * hoursMs) / order.length))),
      ...Array.from({ length: webRequests }, (_, at) =>
        endingAt(withNewIds(web[at % web.length] ?? '', randomBytes), endUnixMs - Math.round(random() * hoursMs)),
      ).flat(),
    ],
    runs,
    webRequests,
  };
}

/** A service takes spans with known ids for a repetition, and joins runs by the ids of their calls. */
function withNewIds(line: string, randomBytes: RandomBytes): readonly Span[] {
  const known = new Map<string, string>();
  const renewed = (id: string): string => {
    const found = known.get(id) ?? Buffer.from(randomBytes(id.length / 2)).toString('hex');
    known.set(id, found);
    return found;
  };
  const text = line
    .replaceAll(/("(?:traceId|spanId|parentSpanId)":")([0-9a-f]+)/g, (_, key: string, id: string) => `${key}${renewed(id)}`)
    .replaceAll(/(call_)([0-9a-f]{12})/g, (_, start: string, id: string) => `${start}${renewed(id)}`);
  return readTraces(Buffer.from(text), 'json').spans;
}

function endingAt(spans: readonly Span[], endUnixMs: number): readonly Span[] {
  const end = spans.reduce((latest, { endUnixNano }) => (endUnixNano > latest ? endUnixNano : latest), 0n);
  const later = BigInt(Math.round(endUnixMs)) * 1_000_000n - end;
  return spans.map((span) =>
    spanWith(span, {
      startUnixNano: span.startUnixNano + later,
      endUnixNano: span.endUnixNano + later,
      events: span.events.map((event) => ({ ...event, timeUnixNano: event.timeUnixNano + later })),
    }),
  );
}
