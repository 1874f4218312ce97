/** The peers, which the package does not depend on: installed beside their lock on first use, into a folder that git ignores. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export interface Peers {
  readonly kind: 'installed';
  trajectoryMatch(
    mode: 'strict' | 'unordered',
  ): (given: { readonly outputs: unknown; readonly referenceOutputs: unknown }) => Promise<{ readonly score: unknown }>;
  readonly jsonDiff: (given: { readonly output: unknown; readonly expected: unknown }) => Promise<{ readonly score: unknown }>;
}

const folder = join(import.meta.dirname, 'peers');
const names = ['agentevals', 'autoevals'] as const;
const installWithinMs = 300_000;

export async function openPeers(): Promise<Peers | { readonly kind: 'missing'; readonly why: string }> {
  try {
    if (!names.every((name) => existsSync(join(folder, 'node_modules', name)))) install();
    const [agentevals, autoevals] = await Promise.all(
      names.map((name) => import(pathToFileURL(createRequire(join(folder, 'package.json')).resolve(name)).href)),
    );
    const trajectoryMatch = (
      agentevals as { readonly createTrajectoryMatchEvaluator: (options: object) => ReturnType<Peers['trajectoryMatch']> }
    ).createTrajectoryMatchEvaluator;
    const { JSONDiff: jsonDiff } = autoevals as { readonly JSONDiff: Peers['jsonDiff'] };
    return {
      kind: 'installed',
      trajectoryMatch: (mode) => trajectoryMatch({ trajectoryMatchMode: mode, toolArgsMatchMode: 'exact' }),
      jsonDiff,
    };
  } catch (error) {
    return { kind: 'missing', why: error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error) };
  }
}

function install(): void {
  process.stderr.write('installing the peers …\n');
  const { status, stderr, error } = spawnSync(
    'npm',
    ['ci', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    { encoding: 'utf8', timeout: installWithinMs },
  );
  if (error !== undefined) throw error;
  if (status !== 0)
    throw new Error(
      `npm ci ended with ${status}: ${stderr.split('\n').find((line) => /\b(error|ERR!)/.test(line)) ?? 'it did not say why'}`,
    );
}
