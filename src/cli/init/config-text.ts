/** A first configuration with comments, from the answers to three questions. */
import { stringify } from 'yaml';
import type { ScoreApiBackend } from '../../exporters/scores/score-api-backend.ts';

export interface InitAnswers {
  /** Whose runs the judge is asked about; undefined: those of every agent. */
  readonly agent: string | undefined;
  readonly judge: { readonly baseUrl: string; readonly model: string } | undefined;
  readonly backend: ScoreApiBackend | undefined;
}

export const openAiUrl = 'https://api.openai.com/v1';

export function initialConfig({ agent, judge, backend }: InitAnswers): string {
  const sections = [
    `# Configuration of tracejury. Each key that is left out has its default.
# tracejury config check FILE names every fault; tracejury serve -c FILE starts the service.`,
    evaluatorsText(agent, judge !== undefined),
    judge === undefined
      ? disabled('A model that judge evaluators ask.', {
          judges: { main: { base_url: openAiUrl, model: 'gpt-5-mini', api_key: '${env:OPENAI_API_KEY}' } },
        })
      : judgesText(judge),
    backend === undefined
      ? disabled('Where scores go, besides the metrics page and the API.', {
          export: [{ to: 'span_events', endpoint: 'http://127.0.0.1:6006' }],
        })
      : exportText(backend),
    disabled('Texts that are removed before runs are stored, judged or exported.', {
      redact: [{ match: 'email' }, { match: 'credit_card' }],
    }),
    disabled('How long runs and their content are kept.', { store: { keep: { runs: '30d', content: '7d' } } }),
  ];
  return `${sections.join('\n\n')}\n`;
}

/** Variables that the configuration reads and the environment must have. */
export function neededVariables({ judge, backend }: InitAnswers): readonly string[] {
  const ofBackend =
    backend === undefined ? [] : requiredKeys(backend).flatMap(({ variable, local }) => (local === undefined ? [variable] : []));
  return [...(judge === undefined || judge.baseUrl !== openAiUrl ? [] : ['OPENAI_API_KEY']), ...ofBackend];
}

function evaluatorsText(agent: string | undefined, hasJudge: boolean): string {
  const rules = `# What each run is scored by. \`tracejury evaluators\` lists all of them.
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
  const key = baseUrl === openAiUrl ? '' : '\n# api_key: "${env:NAME}" names a key, where the endpoint asks for one.';
  return `# The model that judge evaluators ask; the budget is never exceeded.${key}\n${stringify({ judges }).trimEnd()}`;
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

/** A section that waits to be switched on. */
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
