/** `tracejury judge`: is a judge worth its answers, and what would it cost? */
import { UsageError, type Command, type CommandInput } from '../command.ts';
import { checkJudges } from '../judge/check.ts';
import { forecastCost } from '../judge/forecast.ts';

const filesMax = 1_000;
const timeoutSecondsMax = 86_400;
const tokensMax = 10_000_000;

export const judge: Command = {
  name: 'judge',
  usage: 'check FILE… -c FILE [--against FILE] | forecast -c FILE',
  summary: 'check: a labelled set of runs before a judge, and whether another configuration is better; forecast: what it would cost a day on the stored traffic',
  options: {
    config: { type: 'string', short: 'c', value: 'FILE', summary: 'configuration whose judges are asked, or whose cost is reckoned' },
    against: { type: 'string', value: 'FILE', summary: 'check: another configuration, to compare with; exit 1 when that of -c is worse' },
    labels: { type: 'string', multiple: true, value: 'FILE', summary: 'check: labels that do not stand with their runs, as the API takes annotations; may be repeated' },
    evaluator: { type: 'string', value: 'NAME', summary: 'check: this evaluator alone' },
    timeout: { type: 'string', value: 'SECONDS', summary: 'check: longest wait for one verdict' },
    'input-tokens': { type: 'string', value: 'NUMBER', summary: 'forecast: tokens that a verdict, or each vote on one, takes in, instead of an estimate from the stored runs' },
    'output-tokens': { type: 'string', value: 'NUMBER', summary: 'forecast: tokens that it gives out; 200 when left out' },
    format: { type: 'string', value: 'text|json', summary: 'text (default) or json' },
  },
  positionalsMax: filesMax,
  async run(input) {
    const [action, ...files] = input.positionals;
    const { config } = input.options;
    if (action !== 'check' && action !== 'forecast') throw new UsageError(action === undefined ? 'Say check or forecast.' : `${JSON.stringify(action)} is neither check nor forecast.`);
    if (typeof config !== 'string') throw new UsageError('-c names the configuration.');
    const format = text(input, 'format') ?? 'text';
    if (format !== 'text' && format !== 'json') throw new UsageError('--format is text or json.');
    if (action === 'forecast') {
      if (files.length > 0) throw new UsageError('forecast reads the store that the configuration names, and no files.');
      return await forecastCost({ config, format, inputTokens: number(input, 'input-tokens', tokensMax), outputTokens: number(input, 'output-tokens', tokensMax) }, input);
    }
    if (files.length === 0) throw new UsageError('Name files of recorded runs, or - for standard input.');
    const { labels = [] } = input.options;
    const timeout = number(input, 'timeout', timeoutSecondsMax);
    return await checkJudges({ files, config, against: text(input, 'against'), labels: Array.isArray(labels) ? labels.map(String) : [], evaluator: text(input, 'evaluator'), format, timeoutMs: timeout === undefined ? undefined : timeout * 1_000 }, input);
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
