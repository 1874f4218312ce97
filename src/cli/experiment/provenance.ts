/** Records what an experiment ran: the commit of the folder, the configuration, and the programs. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import type { Environment } from '../../config/document.ts';
import type { Provenance } from '../../model/experiment.ts';
import { isJsonObject, jsonText, type JsonValue, member } from '../../model/json.ts';

interface ProvenanceOptions {
  /** The resolved configuration with masked secrets. */
  readonly printed: JsonValue;
  readonly env: Environment;
}

const gitTimeoutMs = 5_000;
const gitBytesMax = 4 * 1024 * 1024;
/** Sections that decide verdicts. */
const hashedSections = ['evaluators', 'judges', 'tools', 'dialects', 'prices', 'redact'] as const;
const hashDigits = 16;

/** CI systems check out a commit without a branch, and name both in variables. */
const ciVariables = [
  { ci: 'GITHUB_ACTIONS', name: 'github', commit: 'GITHUB_SHA', branches: ['GITHUB_HEAD_REF', 'GITHUB_REF_NAME'] },
  { ci: 'GITLAB_CI', name: 'gitlab', commit: 'CI_COMMIT_SHA', branches: ['CI_MERGE_REQUEST_SOURCE_BRANCH_NAME', 'CI_COMMIT_REF_NAME'] },
] as const;

export async function provenanceOf({ printed, env }: ProvenanceOptions): Promise<Provenance> {
  const ci = ciVariables.find((one) => env[one.ci] !== undefined);
  const [commit, branch, changes] = await Promise.all([
    git(['rev-parse', 'HEAD'], env),
    git(['rev-parse', '--abbrev-ref', 'HEAD'], env),
    git(['status', '--porcelain', '--untracked-files=no'], env),
  ]);
  const ciCommit = ci === undefined ? undefined : env[ci.commit];
  const ciBranch = ci?.branches.map((name) => env[name]).find((name) => name !== undefined && name !== '');
  const named = branch === 'HEAD' ? undefined : branch;
  return {
    ...given('commit', commit ?? ciCommit),
    ...given('branch', ciBranch ?? named),
    ...(changes === undefined ? {} : { isDirty: changes !== '' }),
    configHash: configHash(printed),
    environment: {
      node: process.versions.node,
      platform: `${process.platform}-${process.arch}`,
      ...given('ci', ci?.name),
    },
  };
}

function given<Name extends string>(name: Name, value: string | undefined): { readonly [key in Name]?: string } {
  return value === undefined || value === '' ? {} : ({ [name]: value } as { readonly [key in Name]?: string });
}

function configHash(printed: JsonValue): string {
  const sections = isJsonObject(printed) ? hashedSections.map((name) => member(printed, name) ?? null) : [];
  return createHash('sha256')
    .update(jsonText(sections, { sortKeys: true }))
    .digest('hex')
    .slice(0, hashDigits);
}

/** `undefined` outside of a repository, and without git. */
function git(args: readonly string[], env: Environment): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile('git', [...args], { timeout: gitTimeoutMs, maxBuffer: gitBytesMax, env: { ...env } }, (error, out) =>
      resolve(error === null ? out.trim() : undefined),
    );
  });
}
