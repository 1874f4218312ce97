/** One process of an agent: how it ends, what it said last, and what it is not allowed. */
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { agentProcess, type ProcessEnd } from '../../../src/cli/experiment/agent-process.ts';

interface Given {
  readonly command?: readonly string[];
  readonly input?: string;
  readonly timeoutMs?: number;
  readonly env?: { readonly [name: string]: string };
  readonly signal?: AbortSignal;
}

async function ended(script: string, given: Given = {}): Promise<ProcessEnd> {
  const { PATH = '' } = process.env;
  const { end, killGroup } = agentProcess({
    command: given.command ?? ['sh', '-c', script],
    env: { PATH, ...given.env },
    input: given.input ?? '',
    timeoutMs: given.timeoutMs ?? 60_000,
    sleep: (ms, signal) => wait(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined),
    signal: given.signal ?? new AbortController().signal,
  });
  const how = await end;
  killGroup();
  return how;
}

const cases: readonly { readonly name: string; readonly script: string; readonly given?: Given; readonly end: object }[] = [
  { name: 'success', script: 'true', end: { kind: 'exited', code: 0, tail: '' } },
  { name: 'the last lines of standard error', script: 'echo out; echo err >&2; exit 3', end: { kind: 'exited', code: 3, tail: 'err' } },
  { name: 'else those of standard output', script: 'echo out; exit 3', end: { kind: 'exited', code: 3, tail: 'out' } },
  { name: 'the input on standard input', script: 'cat', given: { input: 'hello' }, end: { tail: 'hello' } },
  { name: 'an input that no process reads', script: 'exec <&-', given: { input: 'x'.repeat(1_000_000) }, end: { kind: 'exited', code: 0 } },
  { name: 'a signal', script: 'kill -9 $$', end: { kind: 'killed_by', signal: 'SIGKILL' } },
  { name: 'time', script: 'exec sleep 60', given: { timeoutMs: 200 }, end: { kind: 'timed_out' } },
  { name: 'output without end', script: 'exec yes', end: { kind: 'too_much_output' } },
  { name: 'an interruption', script: 'exec sleep 60', given: { signal: AbortSignal.abort() }, end: { kind: 'interrupted' } },
  { name: 'no such command', script: '', given: { command: ['/no/such/agent'] }, end: { kind: 'not_started', code: 'ENOENT' } },
  {
    name: 'an environment that is too large',
    script: 'true',
    given: { env: { A: 'x'.repeat(3_000_000) } },
    end: { kind: 'not_started', code: 'E2BIG' },
  },
  { name: 'a child that holds the pipe', script: 'sleep 60 & echo done', end: { kind: 'exited', code: 0, tail: 'done' } },
];

for (const { name, script, given, end } of cases) {
  test(`agent process: ${name}`, async () => {
    expect(await ended(script, given)).toMatchObject(end);
  });
}
