/** The log and the metrics while a backend takes nothing: a line when it begins, one when it ends, few between, and every failure counted. */
import { expect, test } from 'vitest';
import type { ExportOutcome } from '../../../src/exporters/exporter.ts';
import { outageLog, type OutageLog } from '../../../src/exporters/delivery/outage-log.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { metricRegistry } from '../../../src/telemetry/registry.ts';
import { fine, item, later, never, shelf, started } from '../shelf.ts';

type Line = readonly [string, string, object];

function told(): {
  readonly lines: Line[];
  readonly logger: { warn(fields: object, message: string): void; info(fields: object, message: string): void };
} {
  const lines: Line[] = [];
  return {
    lines,
    logger: {
      warn: (fields, message) => void lines.push(['warn', message, fields]),
      info: (fields, message) => void lines.push(['info', message, fields]),
    },
  };
}

const down = 'a backend takes nothing: its scores wait';
const again = 'a backend takes scores again';
const given = 'scores were given up: they are dead letters';

test('backend-news: an outage is two lines, with nothing between, and given-up scores are a third', async () => {
  const { lines, logger } = told();
  const own = await started(await shelf(), { logger, name: 'traces', failuresMax: 2, sendingMax: 1 });
  for (let run = 1; run <= 4; run++) own.offer(item(run));
  await own.write();
  const refused: ExportOutcome = { kind: 'failed', retryable: true, error: 'status 401: api_key is refused' };
  await own.answer(refused);
  expect(lines).toEqual([]);
  await own.answer(refused);
  for (let probe = 0; probe < 5; probe++) {
    own.clock.advance(60_000);
    await own.sleep.wakeAll();
    await own.answer(refused);
  }
  expect(lines).toEqual([
    [
      'warn',
      down,
      {
        exporter: 'traces',
        reason: 'http_401',
        fault: 'status 401: api_key is refused',
        todo: 'Look at the keys, and whether they are of this address.',
      },
    ],
  ]);
  own.clock.advance(60_000);
  await own.sleep.wakeAll();
  await own.answer(fine);
  expect(lines.slice(1)).toEqual([['info', again, { exporter: 'traces' }]]);
  for (let turn = 0; turn < 10 && own.sending() === 0; turn++) await own.tick();
  await own.answer(never);
  expect(lines.slice(2)).toEqual([['warn', given, { exporter: 'traces', reason: 'other', fault: 'no', items: 1, todo: '' }]]);
});

test('backend-news: missing spans do not make an outage, and are reported when they are given up', async () => {
  const { lines, logger } = told();
  const own = await started(await shelf(), { logger, failuresMax: 1, missingMs: 1_000, sendingMax: 1 });
  const missing: ExportOutcome = { kind: 'failed', retryable: true, isMissing: true, error: 'its span is not there' };
  own.offer(item(1));
  await own.answer(missing);
  expect(lines).toEqual([]);
  own.clock.advance(5_000);
  await own.sleep.wakeAll();
  await own.answer(missing);
  expect(lines).toEqual([
    [
      'warn',
      given,
      {
        exporter: 'x',
        reason: 'missing',
        fault: 'its span is not there',
        items: 1,
        todo: expect.stringContaining('spans reach this backend'),
      },
    ],
  ]);
});

test('backend-news: where nothing is left to try it with, no line reports it as back', async () => {
  const { lines, logger } = told();
  const own = await started(await shelf(), { logger, failuresMax: 1, giveUpMs: 10, sendingMax: 1 });
  own.offer(item(1));
  await own.answer(later);
  own.clock.advance(60_000);
  await own.sleep.wakeAll();
  await own.answer(later);
  own.clock.advance(60_000);
  await own.sleep.wakeAll();
  expect([own.box.status().circuit, lines.map(([, message]) => message)]).toEqual(['closed', [down, given]]);
});

const error = (text: string): Extract<ExportOutcome, { kind: 'failed' }> => ({ kind: 'failed', retryable: true, error: text });
const flips: readonly {
  readonly name: string;
  readonly what: (news: OutageLog, wait: (ms: number) => void) => void;
  readonly want: readonly string[];
}[] = [
  {
    name: 'one that goes and comes every second is reported once a minute',
    what: (news, wait) => {
      for (let at = 0; at < 130; at++) {
        news.failed(error('status 503'));
        news.circuit('open');
        news.circuit('half_open');
        news.circuit('closed');
        wait(1_000);
      }
    },
    want: ['http_503', 'again', 'http_503', 'again', 'http_503', 'again'],
  },
  {
    name: 'down for a new reason is another line',
    what: (news) => {
      news.failed(error('ECONNREFUSED'));
      news.circuit('open');
      news.failed(error('ECONNREFUSED'));
      news.failed(error('status 401'));
      news.circuit('open');
      news.circuit('closed');
    },
    want: ['connection', 'http_401', 'again'],
  },
  {
    name: 'two reasons that take turns are two lines',
    what: (news, wait) => {
      for (let at = 0; at < 200; at++) {
        news.failed(error(at % 2 === 0 ? 'status 503' : 'status 429'));
        news.circuit('open');
        wait(1_000);
      }
    },
    want: ['http_503', 'http_429'],
  },
  {
    name: 'given-up scores are reported once a minute, with their number since the last line',
    what: (news, wait) => {
      for (let at = 0; at < 90; at++) {
        news.givenUp({ error: 'status 400' }, 2);
        wait(1_000);
      }
      news.givenUp({ error: 'status 413' });
    },
    want: ['http_400 2', 'http_400 120', 'http_413 1'],
  },
];
for (const { name, what, want } of flips) {
  test(`backend-news: ${name}`, () => {
    const [clock, telemetry] = [manualClock(), metricRegistry()];
    const { lines, logger } = told();
    what(outageLog({ name: () => 'x', what: 'scores', telemetry, clock, logger }), (ms) => clock.advance(ms));
    const words = lines.map(([, message, fields]) =>
      message === again
        ? 'again'
        : Object.entries(fields)
            .flatMap(([key, value]) => (key === 'reason' || key === 'items' ? [String(value)] : []))
            .join(' '),
    );
    expect(words).toEqual(want);
  });
}

test('backend-news: every failure counts, by its reason', () => {
  const [clock, telemetry] = [manualClock(), metricRegistry()];
  const news = outageLog({ name: () => 'x', what: 'spans', telemetry, clock });
  for (const text of ['status 503', 'status 503', 'ENOTFOUND', 'CERT_HAS_EXPIRED', 'no answer within 10 ms', 'TypeError'])
    news.failed(error(text));
  const points = telemetry.snapshot().find(({ name }) => name === 'tracejury.exporter.failures')?.points ?? [];
  expect(points.map((point) => `${point.labels['tracejury.reason']} ${point.kind === 'number' ? point.value : 0}`).toSorted()).toEqual([
    'dns 1',
    'http_503 2',
    'other 1',
    'timeout 1',
    'tls 1',
  ]);
});
