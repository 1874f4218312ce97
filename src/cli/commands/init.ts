/** `tracejury init`: writes a first configuration. */
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { didYouMean } from '../../model/did-you-mean.ts';
import { scoreApis } from '../../exporters/index.ts';
import type { ScoreApiBackend } from '../../exporters/scores/score-api-backend.ts';
import { UsageError, type Command, type CommandInput, type ExitCode } from '../command.ts';
import { initialConfig, neededVariables, openAiUrl, type InitAnswers } from '../init/config-text.ts';

const fileDefault = 'tracejury.yaml';
const modelDefault = 'gpt-5-mini';

export const init: Command = {
  name: 'init',
  usage: '[--agent A] [--judge URL] [--backend NAME] [options]',
  summary: 'Writes a commented configuration; asks on a terminal, takes flags elsewhere.',
  examples: [
    { does: 'Asks three questions on a terminal:', line: 'tracejury init' },
    {
      does: 'Writes scores into Phoenix, with a model on this machine as the judge:',
      line: 'tracejury init --judge http://127.0.0.1:11434/v1 --model m --backend phoenix',
    },
  ],
  options: {
    agent: { type: 'string', value: 'A', summary: 'agent whose runs the judge is asked about; default every agent' },
    judge: {
      type: 'string',
      value: 'URL',
      summary: `model endpoint that speaks OpenAI chat completions, such as ${openAiUrl}; default no judge`,
    },
    model: { type: 'string', value: 'M', summary: `model of that endpoint; default ${modelDefault} for ${openAiUrl}` },
    backend: {
      type: 'string',
      value: 'NAME',
      summary: `where scores go: ${scoreApis.map(({ id }) => id).join(', ')}; default the metrics page and the API alone`,
    },
    output: { type: 'string', value: 'FILE', summary: `default ${fileDefault}` },
    force: { type: 'boolean', summary: 'replaces an existing file' },
  },
  positionalsMax: 0,
  async run(input: CommandInput): Promise<ExitCode> {
    const [agent, judge, model, backend] = (['agent', 'judge', 'model', 'backend'] as const).map((name) => text(input, name));
    const file = text(input, 'output') ?? fileDefault;
    const isAsking = process.stdin.isTTY && process.stdout.isTTY && agent === undefined && judge === undefined && backend === undefined;
    const answers = isAsking ? await asked() : answersOf({ agent, judge, model, backend });
    try {
      writeFileSync(file, initialConfig(answers), { flag: input.options['force'] === true ? 'w' : 'wx' });
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : 'unknown';
      throw new UsageError(
        code === 'EEXIST'
          ? `${file} exists; name another one with --output, or replace it with --force.`
          : `${file} cannot be written (${String(code)}).`,
      );
    }
    const needed = neededVariables(answers);
    input.say(`${file} is written.`);
    if (needed.length > 0) input.say(`Set ${needed.join(', ')} in the environment of the service.`);
    input.say(`Check it:  ${input.program} config check ${file}\nStart:     ${input.program} serve -c ${file}`);
    return 0;
  },
};

interface Given {
  readonly agent: string | undefined;
  readonly judge: string | undefined;
  readonly model: string | undefined;
  readonly backend: string | undefined;
}

/** Empty answers count as none. Throws a UsageError that names the flag. */
export function answersOf({ agent, judge, model, backend }: Given): InitAnswers {
  if (judge !== undefined && judge !== '' && !/^https?:\/\/[^/\s]/.test(judge))
    throw new UsageError(`--judge takes a URL such as ${openAiUrl}, not ${JSON.stringify(judge)}.`);
  const baseUrl = judge === undefined || judge === '' ? undefined : judge.replace(/\/+$/, '');
  const named = model === undefined || model === '' ? undefined : model;
  if (baseUrl === undefined && named !== undefined) throw new UsageError('--model goes with --judge.');
  if (baseUrl !== undefined && baseUrl !== openAiUrl && named === undefined)
    throw new UsageError('--judge of another endpoint needs --model: the name of a model that it serves.');
  return {
    agent: agent === '' ? undefined : agent,
    judge: baseUrl === undefined ? undefined : { baseUrl, model: named ?? modelDefault },
    backend: backend === undefined || backend === '' ? undefined : backendOf(backend),
  };
}

function backendOf(name: string): ScoreApiBackend {
  const found = scoreApis.find(({ id }) => id === name);
  if (found !== undefined) return found;
  const guess = didYouMean(
    name,
    scoreApis.map(({ id }) => id),
  );
  throw new UsageError(
    `--backend ${JSON.stringify(name)} is not known. ${guess === undefined ? `Name one of ${scoreApis.map(({ id }) => id).join(', ')}.` : `Did you mean ${guess}?`}`,
  );
}

async function asked(): Promise<InitAnswers> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const backend = await terminal.question(`Backend for scores (${scoreApis.map(({ id }) => id).join(', ')}; Enter for none): `);
    const judge = await terminal.question(`Judge: URL of a model endpoint (such as ${openAiUrl}; Enter for none): `);
    const model = judge.trim() === '' || judge.trim() === openAiUrl ? undefined : await terminal.question('Model of that endpoint: ');
    const agent = judge.trim() === '' ? '' : await terminal.question('Agent that the judge is asked about (Enter for every agent): ');
    return answersOf({ agent: agent.trim(), judge: judge.trim(), model: model?.trim(), backend: backend.trim() });
  } finally {
    terminal.close();
  }
}

function text({ options }: CommandInput, name: string): string | undefined {
  const given = options[name];
  if (given !== undefined && typeof given !== 'string') throw new UsageError(`--${name} takes one value.`);
  return given;
}
