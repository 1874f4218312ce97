/** The output of a process without a terminal. */
import { expect, test } from 'vitest';
import { serviceFolder } from './process.ts';

test.each([
  ['', /^\{"level":30,.*"msg":"stopped"\}$/m, /INFO/],
  ['log: { format: pretty }', /^\d\d:\d\d:\d\d INFO {2}stopped {2}unsent=0 {2}unforwarded=0$/m, /\{"level"|\p{Cc}\[/u],
  ['log: { level: warn }', /^Evaluators/m, /"level":30|INFO/],
])('the log of a service with %j', async (yaml, holds, lacks) => {
  const folder = serviceFolder();
  try {
    folder.configure(yaml);
    const up = await folder.start();
    expect(await up.end('SIGTERM')).toBe(0);
    expect(up.said()).toMatch(holds);
    expect(up.said()).not.toMatch(lacks);
  } finally {
    await folder.remove();
  }
});

test.each([
  { level: 'info', isTold: false },
  { level: 'debug', isTold: true },
])('a start reports where the service listens, and at the level $level how connections are bounded: $isTold', async ({ level, isTold }) => {
  const folder = serviceFolder();
  try {
    folder.configure(`log: { level: ${level} }`);
    const up = await folder.start();
    expect(await up.end('SIGTERM')).toBe(0);
    const lines = up.said().split('\n');
    expect(lines.slice(0, 4).map((line) => line.split(' ', 1)[0])).toEqual(['OTLP', 'Console', 'Data', 'Evaluators']);
    expect(lines.some((line) => line.includes('"msg":"the descriptor limit bounds connections"'))).toBe(isTold);
  } finally {
    await folder.remove();
  }
});
