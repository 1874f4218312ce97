/** The guide about experiments as a reader follows it, and the templates for CI systems as their runners execute them. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { commandsOf } from './console-block.ts';

const top = join(import.meta.dirname, '../..');
const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, maxRetries: 3 });
});

const blocks = [...readFileSync(join(top, 'docs/guides/experiments.md'), 'utf8').matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm)].map(
  ([, language = '', file = '', text = '']) => ({ language, file, text }),
);

/** A project with the packages that `npm ci` would bring, in a repository of git. */
function project(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-guide-'));
  made.push(folder);
  mkdirSync(join(folder, 'bin'));
  stub(folder, 'tracejury', `exec '${process.execPath}' '${join(top, 'src/cli/main.ts')}' "$@"`);
  stub(folder, 'node', `exec '${process.execPath}' "$@"`);
  stub(folder, 'npx', 'exec "$@"');
  stub(folder, 'npm', `[ -e node_modules ] || ln -s '${join(top, 'node_modules')}' node_modules`);
  symlinkSync(join(top, 'node_modules'), join(folder, 'node_modules'));
  for (const { file, text } of blocks) if (file !== '') writeFileSync(join(folder, file), text);
  return folder;
}

function stub(folder: string, name: string, script: string): void {
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, 'bin', name), 0o755);
}

interface Ended {
  readonly status: number | null;
  readonly output: string;
}

function shell(folder: string, script: string, env: { readonly [name: string]: string } = {}): Ended {
  const { PATH = '', HOME = '' } = process.env;
  const { status, stdout, stderr } = spawnSync('bash', ['-eo', 'pipefail', '-c', script], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: `${join(folder, 'bin')}${delimiter}${PATH}`, HOME, ...env },
  });
  return { status, output: `${stdout}${stderr}` };
}

describe('docs/guides/experiments.md', () => {
  const folder = project();
  for (const { command, output } of blocks.flatMap(({ language, text }) => (language === 'console' ? commandsOf(text) : []))) {
    test(command, () => {
      expect(`$ ${command}\n${shell(folder, command).output}`).toMatch(output);
    });
  }
});

/** The branch that a pull request goes to is in the first commit; the agent of the request is in the work tree. */
function repository(): { readonly folder: string; readonly base: string } {
  const folder = project();
  const git = 'git -c user.name=a -c user.email=a@example.org';
  writeFileSync(join(folder, '.gitignore'), 'node_modules\nbin\n');
  const many = Array.from(
    { length: 12 },
    (_, at) => `- { id: refund-${at}, input: Please refund ${at}., expect: { output: I have refunded it. } }\n`,
  );
  writeFileSync(join(folder, 'dataset.yaml'), many.join(''));
  const { status, output } = shell(folder, `git init -q . && git add . && ${git} commit -qm first && git rev-parse HEAD`);
  expect(status).toBe(0);
  return { folder, base: output.trim() };
}

function breakAgent(folder: string): void {
  const file = join(folder, 'agent.mjs');
  writeFileSync(file, readFileSync(file, 'utf8').replace('I have refunded it', 'I cannot do that'));
}

interface Step {
  readonly name?: string;
  readonly run?: string;
}

const cases = [
  { name: 'an agent that got worse', breaks: true, status: 1 },
  { name: 'an agent as before', breaks: false, status: 0 },
] as const;

describe.each(cases)('the templates for CI, with $name', ({ breaks, status }) => {
  test('GitHub: the steps run in order, the comparison is left as a comment, and the gate decides', () => {
    const { folder, base } = repository();
    stub(folder, 'gh', 'echo "$@" > gh.txt; cat "$5" >> gh.txt');
    if (breaks) breakAgent(folder);
    const workflow = parse(readFileSync(join(top, 'examples/ci/github.yml'), 'utf8')) as {
      readonly env: { readonly [name: string]: string };
      readonly jobs: { readonly experiment: { readonly steps: readonly Step[] } };
    };
    const files = { GITHUB_STEP_SUMMARY: join(folder, 'summary.md'), GITHUB_OUTPUT: join(folder, 'output.txt') };
    const statuses = workflow.jobs.experiment.steps.flatMap(({ name = '', run }) => {
      if (run === undefined) return [];
      const CODE = name === 'gate' ? (/code=(\d)/.exec(readFileSync(files.GITHUB_OUTPUT, 'utf8'))?.[1] ?? '') : '';
      const ended = shell(folder, run, { ...workflow.env, ...files, BASE: base, NUMBER: '7', CODE });
      return [`${name} ${ended.status}`];
    });
    expect(statuses).toEqual(['install 0', 'base 0', 'experiment 0', 'compare 0', 'comment 0', `gate ${status}`]);
    const comment = readFileSync(join(folder, 'gh.txt'), 'utf8');
    expect(comment).toContain('pr comment 7 --body-file comparison.md --edit-last --create-if-none');
    expect(comment).toContain(breaks ? '❌ Experiment: worse: exact\\_match' : '✅ Experiment: no difference shown');
    expect(readFileSync(files.GITHUB_STEP_SUMMARY, 'utf8')).toContain('| evaluator | examples |');
  });

  test('GitLab: the script runs, the comparison is left as a note, and its exit code decides', () => {
    const { folder, base } = repository();
    stub(folder, 'curl', 'for word in "$@"; do echo "$word"; done > curl.txt');
    if (breaks) breakAgent(folder);
    const { experiment } = parse(readFileSync(join(top, 'examples/ci/gitlab.yml'), 'utf8')) as {
      readonly experiment: { readonly variables: { readonly [name: string]: string }; readonly script: readonly string[] };
    };
    const ended = shell(folder, experiment.script.join('\n'), {
      ...experiment.variables,
      CI_MERGE_REQUEST_DIFF_BASE_SHA: base,
      COMMENT_TOKEN: 't',
      CI_API_V4_URL: 'http://gitlab.example/api/v4',
      CI_PROJECT_ID: '3',
      CI_MERGE_REQUEST_IID: '9',
    });
    expect(ended.status).toBe(status);
    const words = readFileSync(join(folder, 'curl.txt'), 'utf8').split('\n');
    expect(words).toContain('http://gitlab.example/api/v4/projects/3/merge_requests/9/notes');
    expect(words).toContain('body@comparison.md');
    expect(readFileSync(join(folder, 'comparison.md'), 'utf8')).toContain(breaks ? 'worse: exact' : 'no difference shown');
  });
});
