/** The verdicts of `tracejury eval` on the bodies that the services get: the evaluators that apply to them, and the verdicts that must come out. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configuredEvaluator } from '../../evaluators/configuration/configured.ts';
import { evaluators } from '../../evaluators/index.ts';
import { commands } from '../../src/cli/commands/index.ts';
import { runCommandLine } from '../../src/cli/run.ts';

export interface OfflineRun {
  /** `trace/span`. */
  readonly place: string;
  /** The common part of verdicts in stores and reports, by the name of the evaluator. */
  readonly verdicts: ReadonlyMap<string, string>;
}

interface Told {
  readonly trace_id: string;
  readonly span_id: string;
  readonly verdicts: readonly ToldVerdict[];
}

export interface ToldVerdict {
  readonly name: string;
  readonly status: string;
  readonly score?: number | null;
  readonly passed?: boolean | null;
  readonly explanation: string;
}

export async function offline(bodies: readonly Buffer[], names: readonly string[]): Promise<readonly OfflineRun[]> {
  return (await told(bodies, names)).map(({ trace_id: trace, span_id: span, verdicts }) => ({
    place: `${trace}/${span}`,
    verdicts: new Map(verdicts.map((verdict) => [verdict.name, verdictText(verdict)])),
  }));
}

export function verdictText({ status, score, passed, explanation }: ToldVerdict): string {
  return JSON.stringify([status, score ?? null, passed ?? null, explanation]);
}

/** Rules that score every one of these runs without an option or an expectation. */
export async function applicable(bodies: readonly Buffer[]): Promise<readonly string[]> {
  const rules = evaluators
    .filter(({ id, kind }) => kind === 'rule' && configuredEvaluator({ use: id }, evaluators).kind === 'ready')
    .map(({ id }) => id);
  const runs = await told(bodies, rules);
  return rules.filter((id) => runs.every(({ verdicts }) => verdicts.find(({ name }) => name === id)?.status === 'scored'));
}

async function told(bodies: readonly Buffer[], names: readonly string[]): Promise<readonly Told[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-bench-'));
  try {
    const [file, config] = [join(folder, 'runs.binpb'), join(folder, 'tracejury.yaml')];
    // One request behind the other is one request with all of their spans.
    writeFileSync(file, Buffer.concat(bodies));
    writeFileSync(config, `evaluators: [ ${names.join(', ')} ]\n`);
    const said: string[] = [];
    const complaints: string[] = [];
    const code = await runCommandLine({
      words: ['eval', file, '-c', config, '--format', 'json'],
      commands,
      version: '',
      env: {},
      say: (text) => said.push(text),
      complain: (text) => complaints.push(text),
    });
    if (code === 2) throw new Error(complaints.join(''));
    return (JSON.parse(said.join('')) as { readonly results: readonly Told[] }).results;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
