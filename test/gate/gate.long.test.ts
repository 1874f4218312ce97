import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startGate } from './gate.ts';
import type { Suite } from './suite.ts';

/** A suite that runs a line of shell. */
const suite = (name: string, code: string, more: Partial<Suite> = {}): Suite => ({
  name,
  command: ['sh', '-c', code],
  load: 'waits',
  minutesMax: 5,
  ...more,
});
const passes = (name: string, more: Partial<Suite> = {}): Suite => suite(name, 'echo "2 passed, 0 failed"', more);
const hangs = 'exec sleep 1000';

async function played(suites: readonly Suite[], minutesMax = 5): Promise<{ readonly isGreen: boolean; readonly lines: readonly string[] }> {
  const lines: string[] = [];
  const isGreen = await startGate(suites, { minutesMax, say: (line) => lines.push(...line.split('\n')) }).outcome;
  return { isGreen, lines };
}

describe('gate: what counts as a failure', () => {
  const rows: readonly { readonly name: string; readonly one: Suite; readonly last: string; readonly fault?: RegExp }[] = [
    { name: 'a suite that passes', one: passes('a'), last: '2 passed, 0 failed' },
    {
      name: 'a suite with a failed check',
      one: suite('a', 'echo "2 passed, 1 failed"; exit 1'),
      last: '2 passed, 1 failed',
    },
    {
      name: 'a suite with a failed check that exits with 0',
      one: suite('a', 'echo "2 passed, 1 failed"'),
      last: '2 passed, 1 failed',
    },
    {
      name: 'a suite that prints no counts',
      one: suite('a', 'echo "all good"'),
      last: '0 passed, 1 failed',
      fault: /printed no line/,
    },
    { name: 'a suite that prints nothing', one: suite('a', ''), last: '0 passed, 1 failed', fault: /printed no line/ },
    {
      name: 'a suite without a check',
      one: suite('a', 'echo "0 passed, 0 failed"'),
      last: '0 passed, 1 failed',
      fault: /checked nothing/,
    },
    {
      name: 'a suite that counts no failure and exits with 3',
      one: suite('a', 'echo "2 passed, 0 failed"; exit 3'),
      last: '2 passed, 1 failed',
      fault: /exit code 3, although no check failed/,
    },
    {
      name: 'a suite that is killed by a signal after its counts',
      one: suite('a', 'echo "2 passed, 0 failed"; kill -9 $$'),
      last: '2 passed, 1 failed',
      fault: /exit code none/,
    },
    {
      name: 'a suite that hangs',
      one: suite('a', hangs, { minutesMax: 0.005 }),
      last: '0 passed, 1 failed',
      fault: /killed after 0.005 minutes/,
    },
    {
      name: 'a suite whose program does not exist',
      one: { ...suite('a', ''), command: ['no-such-program'] },
      last: '0 passed, 1 failed',
      fault: /no-such-program/,
    },
    { name: 'a single check that passes', one: suite('a', '', { isOneCheck: true }), last: '1 passed, 0 failed' },
    {
      name: 'a single check that fails',
      one: suite('a', 'exit 2', { isOneCheck: true }),
      last: '0 passed, 1 failed',
      fault: /exit code 2/,
    },
  ];
  test.each(rows)('gate: $name', async ({ one, last, fault }) => {
    const { isGreen, lines } = await played([one]);
    expect(lines.at(-1)).toBe(last);
    expect(isGreen).toBe(last.endsWith(' 0 failed'));
    const faults = lines.filter((line) => line.startsWith('FAILED  a: '));
    expect(faults).toHaveLength(fault === undefined ? 0 : 1);
    if (fault !== undefined) expect(faults[0]).toMatch(fault);
  });

  test('gate: no suite at all', async () => {
    expect(await played([])).toMatchObject({ isGreen: false });
  });
});

test('gate: counts every suite, and only the last line looks like its sum', async () => {
  const { isGreen, lines } = await played([passes('a'), passes('b', { load: 'works' }), passes('c', { load: 'alone' })]);
  expect(isGreen).toBe(true);
  expect(lines.filter((line) => /^\d+ passed, \d+ failed$/.test(line))).toEqual(['6 passed, 0 failed']);
  expect(lines.at(-1)).toBe('6 passed, 0 failed');
  expect(lines.slice(-5, -1).map((line) => line.split(/ +/).filter((_, at) => at !== 1))).toEqual([
    ['suite', 'passed', 'failed'],
    ...['a', 'b', 'c'].map((name) => [name, '2', '0']),
  ]);
});

test('gate: prints the output of each suite in one piece', async () => {
  const talks = (name: string): Suite => suite(name, `for n in 0 1 2 3 4; do echo ${name}$n; sleep 0.02; done; echo "1 passed, 0 failed"`);
  const { lines } = await played([talks('x'), talks('y')]);
  for (const name of ['x', 'y']) {
    const from = lines.indexOf(`== ${name}`);
    expect(lines.slice(from + 1, from + 6)).toEqual([0, 1, 2, 3, 4].map((n) => `${name}${n}`));
  }
});

test('gate: one suite that works at a time, others that wait beside it, and those that measure by themselves at the end', async () => {
  const spell = (name: string, load: Suite['load']): Suite =>
    suite(name, 'date +%s%N; sleep 0.2; date +%s%N; echo "1 passed, 0 failed"', { load });
  const { lines } = await played([spell('m', 'alone'), spell('v', 'works'), spell('w', 'works'), spell('x', 'waits'), spell('n', 'alone')]);
  const times = Object.fromEntries(
    ['m', 'n', 'v', 'w', 'x'].map((name) => {
      const from = lines.indexOf(`== ${name}`);
      return [name, { from: Number(lines[from + 1]), to: Number(lines[from + 2]) }];
    }),
  );
  const overlap = (a: string, b: string): boolean => {
    const [one, other] = [times[a], times[b]];
    return one !== undefined && other !== undefined && one.from < other.to && other.from < one.to;
  };
  const pairs = ['m', 'n', 'v', 'w', 'x'].flatMap((a, at, all) => all.slice(at + 1).map((b) => [a, b] as const));
  expect(pairs.filter(([a, b]) => overlap(a, b))).not.toContainEqual(['v', 'w']);
  expect(pairs.filter(([a, b]) => overlap(a, b)).flat()).not.toContain('m');
  expect(pairs.filter(([a, b]) => overlap(a, b)).flat()).not.toContain('n');
  expect(Math.max(times['v']?.to ?? 0, times['w']?.to ?? 0, times['x']?.to ?? 0)).toBeLessThanOrEqual(times['m']?.from ?? 0);
});

test('gate: a suite starts after what it needs, and fails without a start when that has failed', async () => {
  const green = await played([passes('uses', { needs: ['makes'] }), passes('makes')]);
  expect(green.lines.filter((line) => line.startsWith('-- '))).toEqual(['-- makes starts', '-- uses starts']);
  const red = await played([passes('uses', { needs: ['makes'] }), suite('makes', 'exit 1', { isOneCheck: true })]);
  expect(red.lines.filter((line) => line.startsWith('-- '))).toEqual(['-- makes starts']);
  expect(red.lines).toContain('FAILED  uses: it needs makes');
  expect(red.lines.at(-1)).toBe('0 passed, 2 failed');
  expect((await played([passes('uses', { needs: ['unknown'] })])).lines.at(-1)).toBe('0 passed, 1 failed');
});

test('gate: at the end of its time, nothing has passed that has not ended', async () => {
  const { isGreen, lines } = await played([suite('a', hangs, { load: 'works' }), passes('b', { load: 'works' })], 0.005);
  expect(isGreen).toBe(false);
  for (const name of ['a', 'b']) expect(lines).toContain(`FAILED  ${name}: the gate takes longer than 0.005 minutes`);
  expect(lines.at(-1)).toBe('0 passed, 2 failed');
});

test('gate: a stop kills what runs, also in separate groups, and starts nothing more', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-gate-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'pid');
  const code = `
    const { writeFileSync, renameSync } = require('fs');
    const { pid } = require('child_process').spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
    console.log('3 passed, 0 failed');
    writeFileSync('${file}.part', String(pid));
    renameSync('${file}.part', '${file}');
    setInterval(() => {}, 1_000)`;
  const lines: string[] = [];
  const gate = startGate([{ ...suite('a', ''), load: 'works', command: [process.execPath, '-e', code] }, passes('b', { load: 'works' })], {
    minutesMax: 5,
    say: (line) => lines.push(line),
  });
  while (!existsSync(file)) await pause(10);
  gate.stop('it was stopped');
  expect(await gate.outcome).toBe(false);
  expect(lines.filter((line) => line.startsWith('-- '))).toEqual(['-- a starts']);
  expect(lines).toContain('FAILED  a: it was stopped');
  expect(lines.at(-1)).toBe('3 passed, 2 failed');
  if (process.platform === 'linux') while (isAlive(Number(readFileSync(file, 'utf8')))) await pause(10);
});

function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}
