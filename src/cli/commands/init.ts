/** `tracejury init`: writes a first configuration. */
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { stringify } from 'yaml';
import { type CommandProgram, type CommandInput, type ExitCode, UsageError, textOption, codeOf } from '../command.ts';
import { scoreApis } from '../../exporters/index.ts';
import type { ScoreApiBackend } from '../../exporters/scores/score-api-backend.ts';
import { didYouMean } from '../../model/did-you-mean.ts';

const openAiUrl = 'https://api.openai.com/v1';
const fileDefault = 'tracejury.yaml';
const modelDefault = 'gpt-5-mini';

export const init: CommandProgram = {
  examples: [
    { does: 'Asks three questions on a terminal:', line: 'tracejury init' },
    {
      does: 'Sends scores to Phoenix, with a local model as the judge:',
      line: 'tracejury init --judge http://127.0.0.1:11434/v1 --model m --backend phoenix',
    },
  ],
  options: {
    agent: { type: 'string', value: 'A', summary: 'asks the judge about runs of this agent (default: every agent)' },
    judge: {
      type: 'string',
      value: 'URL',
      summary: `uses this endpoint of OpenAI chat completions as a judge, such as ${openAiUrl} (default: no judge)`,
    },
    model: { type: 'string', value: 'M', summary: `uses this model of the endpoint (default for ${openAiUrl}: ${modelDefault})` },
    backend: {
      type: 'string',
      value: 'NAME',
      summary: `sends scores to ${scoreApis.map(({ id }) => id).join(', ')} (default: to the metrics page and the API only)`,
    },
    output: { type: 'string', value: 'FILE', summary: `writes this file (default: ${fileDefault})` },
    force: { type: 'boolean', summary: 'replaces an existing file' },
  },
  positionalsMax: 0,
  async run(input: CommandInput): Promise<ExitCode> {
    const [agent, judge, model, backend] = (['agent', 'judge', 'model', 'backend'] as const).map((name) => textOption(input, name));
    const file = textOption(input, 'output') ?? fileDefault;
    const isAsking = process.stdin.isTTY && process.stdout.isTTY && agent === undefined && judge === undefined && backend === undefined;
    const answers = isAsking ? await questions() : answersOf({ agent, judge, model, backend });
    try {
      writeFileSync(file, initialConfig(answers), { flag: input.options['force'] === true ? 'w' : 'wx' });
    } catch (error) {
      const code = codeOf(error);
      throw new UsageError(
        code === 'EEXIST'
          ? `${file} exists; name another one with --output, or replace it with --force.`
          : `${file} cannot be written (${code}).`,
      );
    }
    const needed = neededVariables(answers);
    input.say(`Wrote ${file}.`);
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

/** Empty answers count as absent. Throws a UsageError with the name of the option. */
function answersOf({ agent, judge, model, backend }: Given): InitAnswers {
  if (judge !== undefined && judge !== '' && !/^https?:\/\/[^/\s]/.test(judge))
    throw new UsageError(`--judge takes a URL such as ${openAiUrl}, not ${JSON.stringify(judge)}.`);
  const baseUrl = judge === undefined || judge === '' ? undefined : judge.replace(/\/+$/, '');
  const named = model === undefined || model === '' ? undefined : model;
  if (baseUrl === undefined && named !== undefined) throw new UsageError('--model goes with --judge.');
  if (baseUrl !== undefined && baseUrl !== openAiUrl && named === undefined)
    throw new UsageError('--judge with another endpoint needs --model: the name of a model that it serves.');
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
    `--backend ${JSON.stringify(name)} is unknown. ${guess === undefined ? `Name one of ${scoreApis.map(({ id }) => id).join(', ')}.` : `Did you mean ${guess}?`}`,
  );
}

async function questions(): Promise<InitAnswers> {
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

interface InitAnswers {
  /** The judge reads runs of every agent when `undefined`. */
  readonly agent: string | undefined;
  readonly judge: { readonly baseUrl: string; readonly model: string } | undefined;
  readonly backend: ScoreApiBackend | undefined;
}

function initialConfig({ agent, judge, backend }: InitAnswers): string {
  const sections = [
    `# Configuration of tracejury. Absent keys have their defaults.
# tracejury config check FILE lists all faults; tracejury serve -c FILE starts the service.`,
    evaluatorsText(agent, judge !== undefined),
    judge === undefined
      ? disabled('The model of judge evaluators.', {
          judges: { main: { base_url: openAiUrl, model: 'gpt-5-mini', api_key: '${env:OPENAI_API_KEY}' } },
        })
      : judgesText(judge),
    backend === undefined
      ? disabled('Sends scores to a backend too, beside the metrics page and the API.', {
          export: [{ to: 'span_events', endpoint: 'http://127.0.0.1:6006' }],
        })
      : exportText(backend),
    disabled('Removes texts before runs are stored, judged or exported.', {
      redact: [{ match: 'email' }, { match: 'credit_card' }],
    }),
    disabled('Deletes runs and their content after these ages.', { store: { keep: { runs: '30d', content: '7d' } } }),
  ];
  return `${sections.join('\n\n')}\n`;
}

/** Environment variables that the configuration needs. */
function neededVariables({ judge, backend }: InitAnswers): readonly string[] {
  const ofBackend =
    backend === undefined ? [] : requiredKeys(backend).flatMap(({ variable, local }) => (local === undefined ? [variable] : []));
  return [...(judge === undefined || judge.baseUrl !== openAiUrl ? [] : ['OPENAI_API_KEY']), ...ofBackend];
}

function evaluatorsText(agent: string | undefined, hasJudge: boolean): string {
  const rules = `# The evaluators of each run. \`tracejury evaluators\` lists all of them.
evaluators:
  - defaults                     # every rule that needs no expectation, on all runs`;
  if (!hasJudge) return rules;
  const entry = {
    use: 'task_completion',
    judge: 'main',
    ...(agent === undefined ? {} : { when: { agent } }),
    sample: { rate: 0.05, raise: [{ when: 'tool_error < 1', to: 1 }] },
  };
  return `${rules}\n  # A judge on 5 % of the runs, and on each one with a failed tool call.\n${indented(stringify([entry]))}`;
}

function judgesText({ baseUrl, model }: NonNullable<InitAnswers['judge']>): string {
  const judges = {
    main: {
      base_url: baseUrl,
      model,
      ...(baseUrl === openAiUrl ? { api_key: '${env:OPENAI_API_KEY}' } : {}),
      budget: { requests_per_day: 1000 },
    },
  };
  const key = baseUrl === openAiUrl ? '' : '\n# api_key: "${env:NAME}" names a key, if the endpoint needs one.';
  return `# The model of judge evaluators. The service never exceeds the budget.${key}\n${stringify({ judges }).trimEnd()}`;
}

function exportText(backend: ScoreApiBackend): string {
  const keys = Object.fromEntries(
    requiredKeys(backend).map(({ key, variable, local }) => [key, `\${env:${variable}${local === undefined ? '' : `:-${local}`}}`]),
  );
  const { preset } = backend.endpoint;
  const entry = { to: backend.id, ...(preset === undefined ? {} : { endpoint: preset }), ...keys };
  return `# Scores in ${backend.title}, on the agent's own spans. The spans must reach it too: docs/tutorial/getting-started.md.\n${stringify({ export: [entry] }).trimEnd()}`;
}

function requiredKeys(
  backend: ScoreApiBackend,
): readonly { readonly key: string; readonly variable: string; readonly local: string | undefined }[] {
  return Object.entries({ endpoint: backend.endpoint, ...backend.keys }).flatMap(([key, { variables, isRequired, preset, local }]) => {
    const [variable] = variables;
    return isRequired === true && preset === undefined && variable !== undefined ? [{ key, variable, local }] : [];
  });
}

/** A commented section to switch on. */
function disabled(what: string, section: object): string {
  const lines = stringify(section)
    .trimEnd()
    .split('\n')
    .map((line) => `# ${line}`);
  return [`# ${what}`, ...lines].join('\n');
}

function indented(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}
