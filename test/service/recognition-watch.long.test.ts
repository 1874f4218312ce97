/** A service whose spans make no run is named wherever a person looks: in the log, on the metrics page, in the API and on the first page. */
import { expect, test } from 'vitest';
import { pino } from 'pino';
import { eventually, running, sample, sendAgentRun } from './running.ts';

const notice = 'no agent is recognised in the spans of a service';
/** It waits eight seconds for an agent's own span. */
const soon = { everyMs: 100, looksMax: 600 };

interface LogLine {
  readonly msg: string;
  readonly [field: string]: unknown;
}

function body(service: string, name: string): string {
  const text = (value: string): object => ({ stringValue: value });
  const spans = [
    {
      traceId: 'a'.repeat(32),
      spanId: 'b'.repeat(16),
      name,
      startTimeUnixNano: '1000000',
      endTimeUnixNano: '2000000',
      attributes: [{ key: 'my.prompt', value: text('hello') }],
    },
  ];
  return JSON.stringify({
    resourceSpans: [
      { resource: { attributes: [{ key: 'service.name', value: text(service) }] }, scopeSpans: [{ scope: { name: 'my.loop' }, spans }] },
    ],
  });
}

test('recognition: a service without an agent is named in the log, in the metrics, in the API and on the first page, and one with an agent is not', async () => {
  const lines: LogLine[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line) as LogLine) });
  const to = await running('redact: [{ match: email, replace: "[mail]" }]\n', { logger });
  try {
    const sent = await fetch(`${to.otlp}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: body('<plain>', 'step for anna@example.com'),
    });
    expect(sent.status).toBe(200);
    await sendAgentRun(to.otlp);
    expect(sample(await to.metrics(), 'tracejury_services_unrecognised') ?? 0).toBe(0);

    const line = await eventually(() => lines.find(({ msg }) => msg === notice), 'the line in the log', soon);
    expect(line).toMatchObject({ service: '<plain>', scope: 'my.loop', spans: 1, names: ['step for [mail]'], keys: ['my.prompt'] });
    const found = await eventually(
      async () =>
        (
          (await (await fetch(`${to.console}/api/v1/evaluability`)).json()) as { readonly unrecognised: readonly object[] }
        ).unrecognised.find(() => true),
      'the row of the API',
      soon,
    );
    expect(found).toMatchObject({
      service: '<plain>',
      scope: 'my.loop',
      spans: 1,
      names: ['step for [mail]'],
      keys: ['my.prompt'],
      missing: line['missing'],
      todo: line['todo'],
    });
    expect(
      await eventually(async () => sample(await to.metrics(), 'tracejury_services_unrecognised') || undefined, 'the metric', soon),
    ).toBe(1);
    const page = await (await fetch(`${to.console}/plain`)).text();
    for (const text of [
      'No agent is recognised in the spans of <code>&lt;plain&gt;</code>',
      '<code>my.loop</code>',
      '<code>step for [mail]</code>',
      '<code>my.prompt</code>',
    ])
      expect(page).toContain(text);
    expect([
      lines.filter(({ msg }) => msg === notice).length,
      lines.filter(({ msg }) => msg.startsWith('first spans of a service')).map(({ service }) => service),
    ]).toEqual([1, ['shop']]);
  } finally {
    await to.stop();
  }
});
