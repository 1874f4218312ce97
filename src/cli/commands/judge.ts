/** `tracejury judge`: is a judge worth its answers, and what would it cost? */
import { UsageError, type Command, type CommandInput } from '../command.ts';
import { checkJudges } from '../judge/check.ts';
import { forecastCost } from '../judge/forecast.ts';

const filesMax = 1_000;
const timeoutSecondsMax = 86_400;
const tokensMax = 10_000_000;

export const judge: Command = {
  name: 'judge',
  usage: 'check|forecast -c FILE [options]',
  summary: 'Compares a judge with labels of people, or forecasts what judges would cost a day.',
  subcommands: [
    {
      name: 'check',
      usage: 'FILE… -c FILE [options]',
      summary:
        'Puts labelled runs before the judges of a configuration and says how far they agree with people. With --against it says which of two configurations is better.',
      options: ['config', 'against', 'labels', 'evaluator', 'timeout', 'format'],
      examples: [
        { does: 'Compares the judges of a configuration with labels:', line: 'tracejury judge check labelled.jsonl -c tracejury.yaml' },
        {
          does: 'Compares a new prompt with the one in use:',
          line: 'tracejury judge check labelled.jsonl -c new.yaml --against tracejury.yaml',
        },
      ],
    },
    {
      name: 'forecast',
      usage: '-c FILE [options]',
      summary: 'Forecasts the daily cost of the judges of a configuration on the stored traffic.',
      options: ['config', 'input-tokens', 'output-tokens', 'format'],
      examples: [
        { does: 'Forecasts the cost of a sampling rate before it is deployed:', line: 'tracejury judge forecast -c tracejury.yaml' },
      ],
    },
  ],
  examples: [
    { does: 'Compares the judges of a configuration with labels:', line: 'tracejury judge check labelled.jsonl -c tracejury.yaml' },
  ],
  options: {
    config: { type: 'string', short: 'c', value: 'FILE', summary: 'configuration whose judges are asked, or whose cost is reckoned' },
    against: { type: 'string', value: 'FILE', summary: 'another configuration, to compare with; exit 1 when that of -c is worse' },
    labels: {
      type: 'string',
      multiple: true,
      value: 'FILE',
      summary: 'labels that do not stand with their runs, as the API takes annotations; may be repeated',
    },
    evaluator: { type: 'string', value: 'NAME', summary: 'this evaluator alone' },
    timeout: { type: 'string', value: 'SECONDS', summary: 'longest wait for one verdict' },
    'input-tokens': {
      type: 'string',
      value: 'NUMBER',
      summary: 'tokens that a verdict, or each vote on one, takes in, instead of an estimate from the stored runs',
    },
    'output-tokens': { type: 'string', value: 'NUMBER', summary: 'tokens that it gives out; 200 when left out' },
    format: { type: 'string', value: 'text|json', summary: 'text (default) or json' },
  },
  positionalsMax: filesMax,
  async run(input) {
    const [action, ...files] = input.positionals;
    const { config } = input.options;
    if (action !== 'check' && action !== 'forecast')
      throw new UsageError(action === undefined ? 'Say check or forecast.' : `${JSON.stringify(action)} is neither check nor forecast.`);
    if (typeof config !== 'string') throw new UsageError('-c names the configuration.');
    const format = text(input, 'format') ?? 'text';
    if (format !== 'text' && format !== 'json') throw new UsageError('--format is text or json.');
    if (action === 'forecast') {
      if (files.length > 0) throw new UsageError('forecast reads the store that the configuration names, and no files.');
      return await forecastCost(
        { config, format, inputTokens: number(input, 'input-tokens', tokensMax), outputTokens: number(input, 'output-tokens', tokensMax) },
        input,
      );
    }
    if (files.length === 0) throw new UsageError('Name files of recorded runs, or - for standard input.');
    const { labels = [] } = input.options;
    const timeout = number(input, 'timeout', timeoutSecondsMax);
    return await checkJudges(
      {
        files,
        config,
        against: text(input, 'against'),
        labels: Array.isArray(labels) ? labels.map(String) : [],
        evaluator: text(input, 'evaluator'),
        format,
        timeoutMs: timeout === undefined ? undefined : timeout * 1_000,
      },
      input,
    );
  },
};

function text({ options }: CommandInput, name: string): string | undefined {
  const given = options[name];
  if (given !== undefined && typeof given !== 'string') throw new UsageError(`--${name} takes one value.`);
  return given;
}

/** Above 0, at most `most`. */
function number(input: CommandInput, name: string, most: number): number | undefined {
  const given = text(input, name);
  if (given === undefined) return undefined;
  const value = /^\d{1,9}(?:\.\d{1,9})?$/.test(given) ? Number(given) : Number.NaN;
  if (!(value > 0 && value <= most)) throw new UsageError(`--${name} takes a number above 0, at most ${most}.`);
  return value;
}
