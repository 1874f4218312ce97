/** `tracejury demo` against the real service. */
import { expect, test } from 'vitest';
import { pino } from 'pino';
import { evaluators } from '../../../evaluators/index.ts';
import { commands } from '../../../src/cli/commands/index.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { service } from '../../../src/service.ts';
import { freePort } from '../../builders/free-port.ts';
import { validators } from '../../builders/validators.ts';

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function demo(...words: readonly string[]): Promise<Ended> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCommandLine({
    words: ['demo', ...words],
    commands,
    version: '',
    env: {},
    say: (text) => out.push(text),
    complain: (text) => err.push(text),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

test('demo: a service scores every run of the demo, and the summary shows how', async () => {
  const { config } = loadConfig({
    validators,
    file: 'test',
    text: 'listen: { otlp_http: "127.0.0.1:0", otlp_grpc: "127.0.0.1:0", console: "127.0.0.1:0" }\nclosing: { settle: 1ms, quiet: 20ms }\n',
    env: {},
    evaluators,
  });
  const running = service({ config, logger: pino({ level: 'silent' }) });
  const { otlpHttp, console: page } = await running.start();
  try {
    const { code, out, err } = await demo('--endpoint', otlpHttp, '--console', page, '--runs', '40', '--seed', '5');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^Sent \d+ spans in \d+ requests to .*: 40 agent runs with \d+ of sub-agents, and 4 web requests/);
    const subAgents = Number(/with (\d+) of sub-agents/.exec(out)?.[1]);
    expect(out).toContain(`Scored ${40 + subAgents} runs in `);
    for (const { id } of evaluators.filter(({ onByDefault }) => onByDefault)) {
      const counts = new RegExp(`^  ${id} +(\\d+) +(\\d+) +(\\d+)$`, 'm').exec(out)?.slice(1).map(Number) ?? [];
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(40 + subAgents);
      if (['tool_call_validity', 'tool_error', 'tool_efficiency'].includes(id)) expect(counts[1]).toBeGreaterThan(0);
    }
    expect(out).toContain('Worst agents\n');
    expect(out).toContain('One failed run\n');
    const [, ...places] = out.slice(out.indexOf('Where to look next')).split('\n');
    expect(places.map((line) => line.trim().split(/ {2,}/)[0])).toEqual([
      `${page}/runs?verdict=fail`,
      `${page}/api/v1/runs?verdict=fail`,
      `${page}/metrics`,
      'tracejury inspect FILE',
    ]);
  } finally {
    await running.stop();
  }
});

test('demo: without a service it names the command that starts one', async () => {
  const nowhere = `http://127.0.0.1:${await freePort()}`;
  expect(await demo('--endpoint', nowhere, '--console', nowhere)).toEqual({
    code: 1,
    out: '',
    err: `Nothing listens at ${nowhere}. Start the service first, in another terminal: tracejury serve.`,
  });
});

test('demo: a mistyped word is reported with the usage', async () => {
  for (const words of [
    ['--runs', '0'],
    ['--runs', 'many'],
    ['--seed', '1.5'],
    ['--endpoint', 'file:///x'],
    ['--endpoint', 'x'],
  ]) {
    const { code, err } = await demo(...words);
    expect([code, err.includes(`tracejury demo: ${words[0]} takes `)]).toEqual([2, true]);
  }
});
