/** The output on a terminal: the real process, on a pseudo-terminal of util-linux's `script`. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { eventually, sendAgentRun } from './running.ts';

const program = join(import.meta.dirname, '../../bin/tracejury.cjs');

test('serve: on a terminal the log is readable, in colours, and each scored run has a line with what failed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-terminal-'));
  const [file, pidFile] = [join(folder, 'tracejury.yaml'), join(folder, 'pid')];
  writeFileSync(
    file,
    'listen: { otlp_http: "127.0.0.1:0", otlp_grpc: "127.0.0.1:0", console: "127.0.0.1:0" }\nclosing: { settle: 10ms, quiet: 1s }\nstore: { url: "memory:" }\njournal: { url: "memory:" }\n',
  );
  // The process itself gets the signal: `script` would hang its terminal up, which reads the configuration again.
  const line = `stty cols 200; echo $$ > '${pidFile}'; exec '${process.execPath}' '${program}' serve -c '${file}'`;
  const { NO_COLOR: _none, FORCE_COLOR: _force, ...env } = process.env;
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...env, TERM: 'xterm-256color', SHELL: '/bin/sh' },
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  let shown = '';
  child.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
  let isOver = false;
  void ended.then(() => (isOver = true));
  const end = async (): Promise<number | null> => {
    if (!isOver) process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGTERM');
    isOver = true;
    return await ended;
  };
  try {
    const otlp = await eventually(
      () => (/^Evaluators/m.test(shown) ? /^OTLP +(http:\/\/[\d.:]+)/m.exec(shown)?.[1] : undefined),
      'the start',
    );
    await sendAgentRun(otlp, { agent: 'order_support' });
    const plain = (): string => stripVTControlCharacters(shown);
    const run = await eventually(
      () =>
        plain()
          .split(/\r?\n/)
          .find((one) => one.includes('order_support')),
      'the line of the run',
    );
    expect(run).toMatch(/tool_error/);
    expect(shown).toContain('\u001b[');
    expect(plain()).not.toMatch(/^\{"level"/m);
    expect(await end()).toBe(0);
    expect(plain()).toMatch(/^\d\d:\d\d:\d\d INFO {2}stopped/m);
  } finally {
    await end();
    rmSync(folder, { recursive: true });
  }
});
